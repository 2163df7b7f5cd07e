// SPDX-License-Identifier: Apache-2.0
// Profilers that measure this machine: what they share, and how they differ.
#ifndef OMEN_PLUGINS_TELEMETRY_RECORDERS_HPP
#define OMEN_PLUGINS_TELEMETRY_RECORDERS_HPP

#include <string>

#include "omen/plugin.hpp"
#include "omen/telemetry/recording.hpp"

namespace omen::telemetry {

struct RecorderOptions {
  double interval_ms = 100;
  double lead_s = 0;
  double tail_s = 0;
  std::string nvml_library = kNvmlLibrary;
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::string kernel_log = "/dev/kmsg";

  static auto spec() {
    return options(
        opt(&RecorderOptions::interval_ms, "interval_ms", "time between samples")
            .unit("ms")
            .range(10, 60'000),
        opt(&RecorderOptions::lead_s, "lead_s", "sample this long before the job starts")
            .unit("s")
            .range(0, 3600),
        opt(&RecorderOptions::tail_s, "tail_s", "sample this long after the job ended")
            .unit("s")
            .range(0, 3600),
        opt(&RecorderOptions::nvml_library, "nvml_library", "NVML by name or path").advanced(),
        opt(&RecorderOptions::proc_root, "proc_root", "where /proc is mounted").path().advanced(),
        opt(&RecorderOptions::sys_root, "sys_root", "where /sys is mounted").path().advanced(),
        opt(&RecorderOptions::kernel_log, "kernel_log",
            "records of the kernel, as /dev/kmsg has them")
            .path()
            .advanced());
  }
};

class Recorder : public Profiler {
 public:
  std::string probe() override;
  TableStream collect(const std::string& workload_json, const Run& run) override;

 protected:
  Recorder(const char* id, const RecorderOptions& options, Need host, Need nvml, Need amd);

 private:
  const char* id_;
  RecordOptions record_;
};

class AllRecorder final : public Recorder {
 public:
  explicit AllRecorder(const RecorderOptions& options)
      : Recorder("telemetry.all", options, Need::kOptional, Need::kOptional, Need::kOptional) {}
};
class HostRecorder final : public Recorder {
 public:
  explicit HostRecorder(const RecorderOptions& options)
      : Recorder("telemetry.host", options, Need::kRequired, Need::kNo, Need::kNo) {}
};
class NvmlRecorder final : public Recorder {
 public:
  explicit NvmlRecorder(const RecorderOptions& options)
      : Recorder("telemetry.nvml", options, Need::kNo, Need::kRequired, Need::kNo) {}
};
class AmdRecorder final : public Recorder {
 public:
  explicit AmdRecorder(const RecorderOptions& options)
      : Recorder("telemetry.amd", options, Need::kNo, Need::kNo, Need::kRequired) {}
};

}  // namespace omen::telemetry

#endif  // OMEN_PLUGINS_TELEMETRY_RECORDERS_HPP
