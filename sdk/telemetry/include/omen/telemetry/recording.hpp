// SPDX-License-Identifier: Apache-2.0
// Records a job, a process or the whole machine into a log, with every source that answers.
#ifndef OMEN_TELEMETRY_RECORDING_HPP
#define OMEN_TELEMETRY_RECORDING_HPP

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "omen/telemetry/clock.hpp"
#include "omen/telemetry/job.hpp"
#include "omen/telemetry/nvml.hpp"
#include "omen/telemetry/sampler.hpp"
#include "omen/telemetry/source.hpp"

namespace omen::telemetry {

inline constexpr const char* kLogName = "recording.log";

enum class Need : std::uint8_t {
  kNo,        // left out
  kOptional,  // measured where it answers; a note says why it does not
  kRequired   // OMEN_UNAVAILABLE where it does not answer
};

struct RecordOptions {
  std::int64_t interval_ns = 100 * kNsPerMs;
  double lead_s = 0;  // sampled before the job starts
  double tail_s = 0;  // and after it ended, so that unloading is seen
  Need host = Need::kOptional, nvml = Need::kOptional, amd = Need::kOptional;
  std::string nvml_library = kNvmlLibrary;
  Roots roots;
  std::filesystem::path directory;  // holds the log and the mark file; must exist
};

// What to record: a command, a process, or neither for a duration.
struct Workload {
  std::vector<std::string> command;
  pid_t pid = 0;
  std::optional<double> duration_s;  // an end for any of them
  std::int64_t repeat = 1;           // commands only; workload_id counts
};
// {"command": [...]}, {"pid": n}, {"duration_s": s}, with "repeat"; an empty object is one second
// of the machine. OMEN_INVALID_ARGUMENT otherwise.
Workload parse_workload(const std::string& json);

struct RecordHooks {
  std::function<bool()> cancelled = [] { return false; };
  std::function<void(const std::string&)> live = [](const std::string&) {};
};

struct Recording {
  std::filesystem::path log;
  JobEnd job;  // of the last repetition
  bool cancelled = false;
  std::vector<Note> notes;
  std::vector<SamplerReport> samplers;  // of the last repetition
};

// Samples at the given cadence until the workload ends, the time is up or the user gives up; the
// log grows every second and is complete when this returns. Rows
// job.{start_s,wall_s,pid,exit_code,signal,user_s,system_s,max_rss_bytes} and
// sampler.{cpu_percent,lateness_p50_ms,lateness_p99_ms,lateness_max_ms, ticks,missed_ticks} close
// each workload; the fact kernel_log.N holds what the kernel said about the end of processes
// meanwhile. A job that is cancelled gets SIGTERM unless it ends by itself within half a
// second; one that ignores that is left running, with a note.
Recording record(const RecordOptions& options, const Workload& workload, const RecordHooks& hooks);

// What can be measured here, as one JSON object {"devices": [...], "absent": [...]}. Throws
// OMEN_UNAVAILABLE where a required part does not answer.
std::string describe_devices(const RecordOptions& options);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_RECORDING_HPP
