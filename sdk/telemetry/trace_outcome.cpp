// SPDX-License-Identifier: Apache-2.0
// Weighs exit status, kernel messages and memory levels.
#include "omen/telemetry/trace_outcome.hpp"

#include <signal.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace omen::telemetry {
namespace {

constexpr double kFull = 0.97;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool is_oom(const std::string& message) {
  return contains(message, "Out of memory") || contains(message, "out of memory") ||
         contains(message, "oom-kill:") || contains(message, "oom_kill");
}
bool is_fault(const std::string& message) {
  return contains(message, "segfault at") || contains(message, "general protection") ||
         contains(message, "trap invalid") || contains(message, "NVRM: Xid") ||
         contains(message, "GPU reset begin");
}

// "Killed process 4711 (python)" names its victim.
bool names_process(const std::string& message, std::int32_t pid) {
  const std::string wanted = "rocess " + std::to_string(pid) + " ";
  const std::string task = "pid=" + std::to_string(pid) + ",";
  return contains(message + " ", wanted.c_str()) || contains(message + ",", task.c_str());
}

// "python[4711]: segfault at ..." of a process that is not the job: it may be anybody's.
bool names_another(const std::string& message, std::int32_t pid) {
  const std::size_t end = message.find("]: "), begin = message.find('[');
  if (end == std::string::npos || begin > end) return false;
  return message.substr(begin + 1, end - begin - 1) != std::to_string(pid);
}

// Shells and containers pass a signal on as 128 + its number.
int signal_of(const RunFacts& facts) {
  if (facts.signal) return *facts.signal;
  if (facts.exit_code && *facts.exit_code > 128 && *facts.exit_code < 128 + 65)
    return *facts.exit_code - 128;
  return 0;
}

bool is_crash(int signal) {
  constexpr std::array<int, 7> kCrashes = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                           SIGABRT, SIGTRAP, SIGSYS};
  for (const int known : kCrashes)
    if (signal == known) return true;
  return false;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string level_text(const MemoryLevel& level) {
  char text[160];
  std::snprintf(text, sizeof text, "memory of %s reached %.1f %% of %.2f GB", level.name.c_str(),
                100 * level.used_bytes / level.limit_bytes, level.limit_bytes * 1e-9);
  return text;
}

const MemoryLevel* fullest(const RunFacts& facts) {
  const MemoryLevel* found = nullptr;
  for (const MemoryLevel& level : facts.memory) {
    if (level.limit_bytes <= 0 || level.used_bytes < kFull * level.limit_bytes) continue;
    if (!found || level.used_bytes * found->limit_bytes > found->used_bytes * level.limit_bytes)
      found = &level;
  }
  return found;
}

// Exit status alone.
RunOutcome plain_outcome(const RunFacts& facts, int signal) {
  if (!facts.exit_code && !facts.signal)
    return {Outcome::kUnknown, true, "the trace does not say how the run ended", {}};
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
    return {Outcome::kStopped, true, "stopped by " + signal_name(signal), {}};
  if (is_crash(signal) || (facts.signal && signal != 0))
    return {Outcome::kCrashed, true, "ended by " + signal_name(signal), {}};
  if (signal != 0)
    return {Outcome::kFailed,
            true,
            "exit code " + std::to_string(*facts.exit_code) + ", which stands for " +
                signal_name(signal),
            {}};
  if (*facts.exit_code == 0) return {Outcome::kFinished, true, "exit code 0", {}};
  return {Outcome::kFailed, true, "exit code " + std::to_string(*facts.exit_code), {}};
}

// Whether the job's own status fits a kill for memory.
bool could_be_oom(const RunOutcome& plain, int signal) {
  return signal == SIGKILL || plain.outcome == Outcome::kFailed ||
         plain.outcome == Outcome::kCrashed || plain.outcome == Outcome::kUnknown;
}

void look_for_oom(const RunFacts& facts, int signal, RunOutcome& outcome) {
  std::string kill;
  bool ours = false;
  for (const std::string& message : facts.kernel_messages) {
    if (!is_oom(message)) continue;
    const bool named = facts.pid && names_process(message, *facts.pid);
    if (kill.empty() || named) kill = message;
    ours |= named;
  }
  if (!kill.empty()) outcome.evidence.push_back("kernel: " + kill);
  if (facts.oom_kills > 0)
    outcome.evidence.push_back("the control group counted " +
                               std::to_string(static_cast<std::int64_t>(facts.oom_kills)) +
                               " kills for memory");
  const MemoryLevel* full = fullest(facts);
  if (full) outcome.evidence.push_back(level_text(*full));
  if (!could_be_oom(outcome, signal)) return;
  const bool killed = signal == SIGKILL;
  if (ours || ((!kill.empty() || facts.oom_kills > 0) && killed)) {
    outcome.outcome = Outcome::kOutOfMemory;
    outcome.reason = "killed because memory ran out";
    return;
  }
  if (!kill.empty() || facts.oom_kills > 0) {
    outcome.outcome = Outcome::kOutOfMemory;
    outcome.certain = false;
    outcome.reason += ", while the kernel killed a process for memory";
    return;
  }
  if (!full || outcome.outcome == Outcome::kUnknown) return;
  outcome.outcome = Outcome::kOutOfMemory;
  outcome.certain = false;
  outcome.reason += " with memory full";
}

void look_for_faults(const RunFacts& facts, RunOutcome& outcome) {
  for (const std::string& message : facts.kernel_messages) {
    if (!is_fault(message)) continue;
    outcome.evidence.push_back("kernel: " + message);
    if (outcome.outcome != Outcome::kFailed && outcome.outcome != Outcome::kUnknown) continue;
    if (facts.pid && names_another(message, *facts.pid)) continue;
    outcome.outcome = Outcome::kCrashed;
    outcome.certain = facts.pid && names_process(message, *facts.pid);
    outcome.reason += ", while the kernel reported a fault";
  }
}

}  // namespace

const char* outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFinished:
      return "finished";
    case Outcome::kStopped:
      return "stopped";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kCrashed:
      return "crashed";
    case Outcome::kOutOfMemory:
      return "out of memory";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

RunOutcome judge_run(const RunFacts& facts) {
  const int signal = signal_of(facts);
  RunOutcome outcome = plain_outcome(facts, signal);
  look_for_oom(facts, signal, outcome);
  if (outcome.outcome != Outcome::kOutOfMemory) look_for_faults(facts, outcome);
  return outcome;
}

}  // namespace omen::telemetry
