// SPDX-License-Identifier: Apache-2.0
// The profiler that measures devices themselves: rates, bandwidths and latencies.
#ifndef OMEN_PLUGINS_TELEMETRY_PROBE_HPP
#define OMEN_PLUGINS_TELEMETRY_PROBE_HPP

#include <string>

#include "omen/plugin.hpp"
#include "probe_report.hpp"

namespace omen::telemetry {

struct ProbeOptions {
  double seconds = 0.1;
  bool cpu = true, opencl = true, cuda = true;
  std::string opencl_library = "libOpenCL.so.1";
  std::string cuda_module;
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";

  static auto spec() {
    return options(
        opt(&ProbeOptions::seconds, "seconds", "time for each figure").unit("s").range(0.001, 60),
        opt(&ProbeOptions::cpu, "cpu", "measure the processor"),
        opt(&ProbeOptions::opencl, "opencl", "measure OpenCL devices"),
        opt(&ProbeOptions::cuda, "cuda", "measure NVIDIA GPUs through CUDA"),
        opt(&ProbeOptions::opencl_library, "opencl_library", "OpenCL by name or path").advanced(),
        opt(&ProbeOptions::cuda_module, "cuda_module", "the CUDA part, beside the plugin otherwise")
            .path()
            .advanced(),
        opt(&ProbeOptions::proc_root, "proc_root", "where /proc is mounted").path().advanced(),
        opt(&ProbeOptions::sys_root, "sys_root", "where /sys is mounted").path().advanced());
  }
};

class Probe final : public Profiler {
 public:
  explicit Probe(ProbeOptions options) : options_(std::move(options)) {}
  // {"devices": [{"kind", "index", "name", "facts", "figures", "published"}], "absent": [...]}.
  // OMEN_UNAVAILABLE where no device answers. Measured once: the host asks for the length first.
  std::string probe() override;
  // The same figures as rows probe.KIND.FIGURE; the workload is not looked at.
  TableStream collect(const std::string& workload_json, const Run& run) override;

 private:
  struct Absent {
    std::string kind, message, hint;
  };
  struct Found {
    std::vector<ProbedDevice> devices;
    std::vector<Absent> absent;
  };
  Found measure(const ProbeLimits& limits) const;

  ProbeOptions options_;
  std::string answer_;
};

}  // namespace omen::telemetry

#endif  // OMEN_PLUGINS_TELEMETRY_PROBE_HPP
