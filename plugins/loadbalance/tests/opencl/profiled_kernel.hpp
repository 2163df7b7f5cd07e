// SPDX-License-Identifier: Apache-2.0
// The profiler loadbalance.opencl of the built plugin, for programs that do not link Clang.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "omen/testing/plugin_client.hpp"
#include "omen/testing/temp_dir.hpp"
#include "opencl/split_search.hpp"

namespace omen::loadbalance {

using Flags = test::OptionTexts;

struct ProfiledKernel {
  std::map<std::string, double> metrics;  // the last value of each
  std::vector<SplitSample> samples;
};

class KernelProfiler {
 public:
  // The directory that holds the built plugins.
  explicit KernelProfiler(const std::filesystem::path& plugins)
      : plugin_(plugins / "loadbalance-llvm" / "libloadbalance-llvm.so") {}

  ProfiledKernel run(const std::string& source, const Flags& flags) const {
    const std::filesystem::path file = directory_.write("kernel.cl", source);
    test::ProfilerClient profiler(plugin_.component("loadbalance.opencl"), flags);
    const test::TempDir scratch;
    test::ReadyRun run;
    run.scratch_dir(scratch.path().string());
    return read(profiler.collect("{\"source\": \"" + file.string() + "\"}", run));
  }

 private:
  static ProfiledKernel read(const Table& rows) {
    ProfiledKernel found;
    const StringColumn names = rows.strings("metric");
    const auto devices = rows.column<std::int32_t>("device");
    const auto values = rows.column<double>("value");
    for (std::int64_t row = 0; row < rows.rows(); ++row) {
      const std::string name(names[row]);
      found.metrics[name] = values[row];
      if (name == "share_percent") found.samples.push_back({values[row], {}, SearchStep::kSweep});
      if (name == "split_ms") found.samples.back().time.total_ms = values[row];
      if (name == "device_ms" && devices[row] == 0)
        found.samples.back().time.first_ms = values[row];
      if (name == "device_ms" && devices[row] == 1)
        found.samples.back().time.second_ms = values[row];
    }
    return found;
  }

  test::PluginClient plugin_;
  test::TempDir directory_;
};

}  // namespace omen::loadbalance
