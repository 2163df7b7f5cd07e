// SPDX-License-Identifier: Apache-2.0
// The profiler loadbalance.opencl of the built plugin, for programs that do not link Clang.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "components/component.hpp"
#include "components/loader.hpp"
#include "components/options.hpp"
#include "components/registry.hpp"
#include "components/run_context.hpp"
#include "opencl/split_search.hpp"

namespace omen::loadbalance {

using Flags = std::vector<std::pair<std::string, std::string>>;

struct ProfiledKernel {
  std::map<std::string, double> metrics;  // the last value of each
  std::vector<SplitSample> samples;
};

class ProfilerClient {
 public:
  explicit ProfilerClient(const std::filesystem::path& plugins)
      : registry_(host::Registry::discover({plugins})),
        ref_(registry_.component(OMEN_PROFILER, "loadbalance.opencl")),
        directory_(std::filesystem::temp_directory_path() /
                   ("omen-kernels-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(directory_);
  }
  ~ProfilerClient() { std::filesystem::remove_all(directory_); }
  ProfilerClient(const ProfilerClient&) = delete;
  ProfilerClient& operator=(const ProfilerClient&) = delete;

  ProfiledKernel run(const std::string& source, const Flags& flags) const {
    const std::filesystem::path file = directory_ / "kernel.cl";
    std::ofstream(file) << source;
    host::OptionSources sources;
    sources.flags = flags;
    sources.use_environment = false;
    const host::OptionValues options = host::resolve_options(*ref_.info, sources);
    host::ProfilerHandle profiler(host::load_plugin(ref_.plugin->manifest)
                                      .vtable<omen_profiler_vt>(OMEN_PROFILER, ref_.info->id),
                                  options);
    const host::RunContext run{host::RunSettings{}};
    return read(profiler.collect(run.c(), "{\"source\": \"" + file.string() + "\"}").read_all());
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

  host::Registry registry_;
  host::ComponentRef ref_;
  std::filesystem::path directory_;
};

}  // namespace omen::loadbalance
