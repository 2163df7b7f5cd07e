// SPDX-License-Identifier: Apache-2.0
// Which devices are here, read from trees of files.
#include "cost/this_machine.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "omen/testing/temp_dir.hpp"

namespace omen::loadbalance::cost {
namespace {

void write(const std::filesystem::path& file, const char* text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(ThisMachine, HasTheDevicesThatItsKernelNames) {
  const test::TempDir dir;
  write(dir.path() / "proc/cpuinfo", "model name\t: Intel(R) Core(TM) i7-3820 CPU @ 3.60GHz\n");
  write(dir.path() / "proc/driver/nvidia/gpus/0000:01/information",
        "Model: \t\t NVIDIA GeForce GTX 970\nIRQ: 30\n");
  const ThisMachine here = read_this_machine(dir.path() / "proc", dir.path() / "sys");
  EXPECT_TRUE(here.has("Intel Core i7-3820", "GTX 970")) << "in any spelling";
  EXPECT_FALSE(here.has("Intel Core i7-3820", "AMD Radeon HD 7970"));
  EXPECT_FALSE(here.has("AMD EPYC 7742", "GTX 970"));
  EXPECT_FALSE(read_this_machine(dir.path() / "none", dir.path() / "none").has("", ""));
}

}  // namespace
}  // namespace omen::loadbalance::cost
