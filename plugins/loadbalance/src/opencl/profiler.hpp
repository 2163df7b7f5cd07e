// SPDX-License-Identifier: Apache-2.0
// Profiler `loadbalance.opencl`: a kernel on real devices, alone and divided.
#pragma once

#include <memory>

#include "omen/plugin.hpp"
#include "opencl/split_options.hpp"

namespace omen::loadbalance {

// What `shares` may say besides numbers.
namespace shares {
inline constexpr const char* kFind = "find";
inline constexpr const char* kNone = "none";
inline constexpr const char* kPlan = "plan";
}  // namespace shares

struct OpenClProfilerOptions : SplitOptions {
  std::string shares = loadbalance::shares::kFind;
  double start_share = 50;
  bool keep_builtins = false;

  static std::vector<Option<OpenClProfilerOptions>> spec() {
    using O = OpenClProfilerOptions;
    std::vector<Option<O>> all = split_options<O>();
    all.push_back(
        opt(&O::shares, "shares",
            "what is measured: find (the best split), step:5 (every 5 %), none, shares of "
            "the first device such as 0,25,100, or plan, for which nothing runs"));
    all.push_back(opt(&O::start_share, "start_share",
                      "where the search begins; -1: by compute units and clock of the devices")
                      .range(-1, 100)
                      .unit("%"));
    all.push_back(opt(&O::keep_builtins, "keep_builtins",
                      "run the parts without rewriting work-item functions, to see what they "
                      "would do")
                      .advanced());
    return all;
  }
};

// Metrics of the counters. Rows of one run have one t_ns.
namespace metric {
inline constexpr const char* kStart = "start_percent";  // where the search began
inline constexpr const char* kBytes = "buffer_bytes";   // of all buffers
inline constexpr const char* kShare = "share_percent";  // of the first device
inline constexpr const char* kStep = "step";            // number of a SearchStep
inline constexpr const char* kSplit = "split_ms";       // until both have ended
inline constexpr const char* kDevice = "device_ms";     // of device 0 or 1
inline constexpr const char* kWhole = "whole_ms";       // device 0 or 1 alone, kernel as written
inline constexpr const char* kBestShare = "best_share_percent";
inline constexpr const char* kBest = "best_ms";
inline constexpr const char* kBestSplit = "best_split_percent";  // with work for both devices
inline constexpr const char* kBestSplitMs = "best_split_ms";
inline constexpr const char* kSingle = "better_alone_ms";  // in turns with the best split
inline constexpr const char* kDoubt = "gain_doubt";        // number of a GainDoubt
inline constexpr const char* kEqual = "equal";             // 1: the results of a split are right
inline constexpr const char* kInEveryBit = "equal_in_every_bit";
inline constexpr const char* kError = "largest_error";  // by the largest magnitude of the buffer
inline constexpr const char* kErrorAt = "largest_error_parameter";
inline constexpr const char* kMerge = "merge_ms";
}  // namespace metric

// Metadata of the counters: the two devices as a JSON array of platform, device, units and name.
inline constexpr const char* kDevicesKey = "loadbalance.devices";

// The workload is a file: {"command": ["kernel.cl"]}, as of `omen profile -- kernel.cl`, or
// {"source": "kernel.cl"}.
class OpenClProfiler final : public Profiler {
 public:
  explicit OpenClProfiler(OpenClProfilerOptions options);
  ~OpenClProfiler() override;
  std::string probe() override;
  TableStream collect(const std::string& workload_json, const Run& run) override;

 private:
  struct Measured;

  OpenClProfilerOptions options_;
  // Answers are out before anything that a driver may still use is released.
  std::unique_ptr<Measured> last_;
};

}  // namespace omen::loadbalance
