// SPDX-License-Identifier: Apache-2.0
// What a probe says about a device, and how it takes time.
#ifndef OMEN_PLUGINS_TELEMETRY_PROBE_REPORT_HPP
#define OMEN_PLUGINS_TELEMETRY_PROBE_REPORT_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace omen::telemetry {

struct ProbedDevice {
  std::string kind;  // "cpu", "opencl" or "cuda"
  int index = 0;     // within its kind
  std::string name;
  std::vector<std::pair<std::string, std::string>> facts;
  // In SI units that stand in the names: gemm_fp32_flops, triad_bytes_per_s, launch_latency_s, ...
  std::vector<std::pair<std::string, double>> figures;
};

struct ProbeLimits {
  double seconds = 0.2;  // for each figure
  unsigned threads = 0;  // of the CPU; 0: every one that this process may use
  std::function<bool()> cancelled = [] { return false; };
};

// Seconds of the fastest of as many calls as fit into the time, at least one.
template <class Call>
double fastest(const ProbeLimits& limits, Call&& call) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const Clock::time_point begin = Clock::now();
  double best = 0;
  do {
    const Clock::time_point start = Clock::now();
    call();
    const double seconds = seconds_since(start);
    if (best == 0 || seconds < best) best = seconds;
  } while (seconds_since(begin) < limits.seconds && !limits.cancelled());
  return best;
}

// Each throws OMEN_UNAVAILABLE with a hint where there is no such device.
std::vector<ProbedDevice> probe_cpu(const ProbeLimits& limits, const std::string& sys_root,
                                    const std::string& proc_root);
std::vector<ProbedDevice> probe_opencl(const ProbeLimits& limits, const std::string& library);
// `module` is the file that holds the CUDA part: it is opened only here, so that this plugin loads
// on machines without CUDA.
std::vector<ProbedDevice> probe_cuda(const ProbeLimits& limits, const std::string& module);

}  // namespace omen::telemetry

#endif  // OMEN_PLUGINS_TELEMETRY_PROBE_REPORT_HPP
