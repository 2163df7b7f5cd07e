// SPDX-License-Identifier: Apache-2.0
// The profiler that gives a recorded trace back, for machines without the device.
#ifndef OMEN_PLUGINS_TELEMETRY_REPLAY_HPP
#define OMEN_PLUGINS_TELEMETRY_REPLAY_HPP

#include <string>

#include "omen/plugin.hpp"

namespace omen::telemetry {

struct ReplayOptions {
  std::string trace;
  std::string format = "auto";
  double period_s = 0;

  static auto spec() {
    return options(
        opt(&ReplayOptions::trace, "trace", "file or directory of the trace").path(),
        opt(&ReplayOptions::format, "format", "what the file is; auto looks into it")
            .choices("auto", "log", "container", "mpstat", "nvidia-smi", "dmon", "csv", "ptdaemon"),
        opt(&ReplayOptions::period_s, "period_s", "time between rows that carry none")
            .unit("s")
            .range(0, 86'400));
  }
};

// The workload {"trace": PATH} names the file where the option does not.
class Replay final : public Profiler {
 public:
  explicit Replay(ReplayOptions options) : options_(std::move(options)) {}
  std::string probe() override;
  TableStream collect(const std::string& workload_json, const Run& run) override;

 private:
  ReplayOptions options_;
};

}  // namespace omen::telemetry

#endif  // OMEN_PLUGINS_TELEMETRY_REPLAY_HPP
