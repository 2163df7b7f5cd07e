// SPDX-License-Identifier: Apache-2.0
// Every built-in that changes under an offset has its unsplit value on both devices, in one, two
// and three dimensions; without rewriting it has not.
#include <gtest/gtest.h>

#include "opencl/own_kernels.hpp"
#include "profiled_kernel.hpp"

namespace omen::loadbalance {
namespace {

const KernelProfiler& client() {
  static const KernelProfiler made(LOADBALANCE_OMEN);
  return made;
}

// Stores what the built-in says at every work-item, in the kernel and in a helper function.
std::string source_of(const std::string& builtin) {
  const bool takes_dimension = builtin != "get_global_linear_id";
  std::string stores;
  for (int d = 0; d < 4; ++d) {
    const std::string call = builtin + "(" + (takes_dimension ? std::to_string(d) : "") + ")";
    stores += "  out[at * 8 + " + std::to_string(d) + "] = " + call + " + 1;\n  out[at * 8 + " +
              std::to_string(4 + d) + "] = helped(" + std::to_string(d) + ");\n";
  }
  return "ulong helped(uint d) { return " + builtin + "(" + (takes_dimension ? "d" : "") +
         ") + 1; }\n__kernel void k(__global ulong* out, ulong width, ulong height) {\n"
         "  size_t at = (get_global_id(2) * height + get_global_id(1)) * width + "
         "get_global_id(0);\n" +
         stores + "}\n";
}

struct Case {
  const char* builtin;
  int dimensions;
};

class RewrittenBuiltin : public testing::TestWithParam<Case> {
 protected:
  ProfiledKernel run(bool keep) const {
    static constexpr const char* kGlobal[] = {"192", "24,12", "12,6,8"};
    static constexpr const char* kLocal[] = {"16", "4,2", "2,3,1"};
    static constexpr const char* kSizes[][2] = {{"192", "1"}, {"24", "12"}, {"12", "6"}};
    const auto d = static_cast<std::size_t>(GetParam().dimensions - 1);
    return client().run(source_of(GetParam().builtin),
                        {{"global", kGlobal[d]},
                         {"local", kLocal[d]},
                         {"arg", "out=buffer:64Ki:zero"},
                         {"arg", std::string("width=") + kSizes[d][0]},
                         {"arg", std::string("height=") + kSizes[d][1]},
                         {"cl_std", "CL2.0"},
                         {"shares", "none"},
                         {"start_share", "40"},
                         {"keep_builtins", keep ? "true" : "false"}});
  }
};

TEST_P(RewrittenBuiltin, KeepsItsUnsplitValue) {
  if (!client().has_devices()) GTEST_SKIP() << "there is no OpenCL device";
  EXPECT_EQ(run(false).metrics.at("equal_in_every_bit"), 1);
  EXPECT_EQ(run(true).metrics.at("equal_in_every_bit"), 0) << "the test would not see it";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* builtin : {"get_group_id", "get_num_groups", "get_global_size",
                              "get_global_offset", "get_global_linear_id"})
    for (const int dimensions : {1, 2, 3}) all.push_back({builtin, dimensions});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Dimensions, RewrittenBuiltin, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& info) {
                           return std::string(info.param.builtin) + "_" +
                                  std::to_string(info.param.dimensions) + "d";
                         });

}  // namespace
}  // namespace omen::loadbalance
