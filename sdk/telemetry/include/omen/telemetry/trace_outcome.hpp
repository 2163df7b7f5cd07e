// SPDX-License-Identifier: Apache-2.0
// How a run ended: finished, failed, crashed, or out of memory, with the evidence for it.
#ifndef OMEN_TELEMETRY_TRACE_OUTCOME_HPP
#define OMEN_TELEMETRY_TRACE_OUTCOME_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace omen::telemetry {

enum class Outcome : std::uint8_t {
  kUnknown,   // nobody recorded how it ended
  kFinished,  // exit code 0
  kStopped,   // by SIGINT, SIGTERM or SIGHUP
  kFailed,    // another exit code
  kCrashed,   // a signal, or a fault that the kernel or the driver reported
  kOutOfMemory
};
const char* outcome_text(Outcome outcome);

// A memory that has a limit, near the end of the run.
struct MemoryLevel {
  std::string name;  // "control group", "machine", "GPU 0"
  double used_bytes = 0, limit_bytes = 0;
};

// What a trace and the kernel say about an end.
struct RunFacts {
  std::optional<int> exit_code, signal;
  std::optional<std::int32_t> pid;
  double oom_kills = 0;  // that the control group counted during the run
  std::vector<std::string> kernel_messages;
  std::vector<MemoryLevel> memory;
};

struct RunOutcome {
  Outcome outcome = Outcome::kUnknown;
  bool certain = true;  // false: what points to it could have other causes
  std::string reason;   // one sentence
  std::vector<std::string> evidence;
};

// The strongest evidence decides: a kill that the kernel reports, then the control group's count,
// then a memory that was full (97 %) when a job failed, then the exit status alone. A framework
// that reserves all of a GPU's memory from the start fills it in every run, so that is never called
// certain.
RunOutcome judge_run(const RunFacts& facts);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_TRACE_OUTCOME_HPP
