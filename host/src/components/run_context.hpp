// SPDX-License-Identifier: Apache-2.0
// The host's side of omen_run: progress, cancellation by Ctrl-C, metrics, and directories that
// clean up.
#ifndef OMEN_HOST_RUN_CONTEXT_HPP
#define OMEN_HOST_RUN_CONTEXT_HPP

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "omen/abi.h"

namespace omen::host {

struct RunSettings {
  unsigned threads = 0;
  std::uint64_t seed = 1;
  double interval_level = 0.90;
  std::string devices = "cpu";
  std::filesystem::path output_dir;  // empty: none
  std::filesystem::path state_dir;   // empty: none
};

// Callbacks may come from any thread.
struct RunHooks {
  std::function<void(double fraction, const char* stage)> progress;
  std::function<void(const char* name, std::int64_t step, double value)> metric;
  std::function<bool()> is_cancelled;  // asked beside the process-wide interrupt
};

class RunContext {
 public:
  explicit RunContext(RunSettings settings, RunHooks hooks = {});
  ~RunContext();  // removes the scratch directory
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  const omen_run* c() const noexcept { return &run_; }

 private:
  RunSettings settings_;
  RunHooks hooks_;
  std::string output_dir_, state_dir_, scratch_dir_;
  omen_run run_{};
};

// First Ctrl-C (SIGINT, SIGTERM) cancels every run; the second kills the process (and its workers)
// with status 130.
void install_interrupt_handler();
bool interrupted() noexcept;

}  // namespace omen::host

#endif  // OMEN_HOST_RUN_CONTEXT_HPP
