// SPDX-License-Identifier: Apache-2.0
// Isolation: one component in a process of its own, watched by the host.
#ifndef OMEN_HOST_WORKER_HPP
#define OMEN_HOST_WORKER_HPP

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "components/manifest.hpp"
#include "omen/error.hpp"
#include "worker/outcome.hpp"

namespace omen::host {

// Refused: the component declined what it was given (bad argument or data, unsupported, device
// missing).
Outcome outcome_of(const Error& error) noexcept;
// A signal that neither the plugin nor a limit sends took the worker down.
bool killed_from_outside(const Error& error) noexcept;
// The plugin is there but cannot be used: digest, ABI, missing library.
Error unloadable(const Error& error);
// 1 failed, 3 unloadable, 4 bad data, 5 crashed, out of memory or timed out, 130 cancelled; what
// main returns for an error.
int exit_code_of(const Error& error) noexcept;

struct WorkerLimits {
  double timeout_s = 0;            // of one call; 0: none
  std::uint64_t memory_bytes = 0;  // resident set of the worker; 0: none
  unsigned threads =
      0;  // exported as OMP_NUM_THREADS and its kin before the library is opened; 0: not set
  std::vector<int> cpus;      // the worker stays on these; empty: all
  double cancel_grace_s = 2;  // how long a cancelled worker may take before it is killed
  std::filesystem::path
      run_dir;  // parent of the exchange directory; empty: the temporary directory
  std::vector<std::filesystem::path>
      plugin_path;                // where the plugin's own calls find other components
  bool isolate_calls = false;     // what it calls gets workers of its own, within the same limits
  bool in_process_calls = false;  // what it calls may be a plugin of others in its own process
  bool owns_stdout = false;       // for a profiler, whose job writes there
  std::filesystem::path executable;  // the program that has `__worker`; empty: this one
};

// What is remembered of a library that took its process down.
struct CrashRecord {
  std::string plugin, version, component;
  std::string call;     // "predict"
  std::string outcome;  // "CRASHED", "TIMEOUT", "OOM"
  std::string signal;   // "SIGSEGV", or empty
  std::string time;     // UTC, ISO 8601
  int count = 0;
};

// The last crash of each component, by library digest and component id.
using CrashRecords = std::map<std::string, std::map<std::string, CrashRecord>>;

// What crashes.json of the user's cache holds; an unreadable file counts as empty.
CrashRecords known_crashes();
void remember_crash(const std::string& library_sha256, CrashRecord record);
void forget_crashes(const std::string& library_sha256);

// The child: `omen __worker PLUGIN_JSON PARENT_PID`, with its control socket on descriptor 3.
int worker_main(int argc, char** argv);

}  // namespace omen::host

#endif  // OMEN_HOST_WORKER_HPP
