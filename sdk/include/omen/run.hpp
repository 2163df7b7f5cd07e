// SPDX-License-Identifier: Apache-2.0
// The context of one call: seed, thread budget, directories, progress, cancellation and metrics.
#ifndef OMEN_RUN_HPP
#define OMEN_RUN_HPP

#include <string>

#include "omen/error.hpp"

namespace omen {

class Run {
 public:
  explicit Run(const omen_run* run) : run_(run) {}

  const omen_run* c() const noexcept { return run_; }
  std::uint64_t seed() const noexcept { return run_->seed; }
  // 0: the plugin decides.
  unsigned threads() const noexcept { return run_->threads; }
  double interval_level() const noexcept { return run_->interval_level; }
  std::string devices() const { return text(run_->devices, "cpu"); }
  std::string scratch_dir() const { return text(run_->scratch_dir, ""); }
  // Empty: write nothing.
  std::string output_dir() const { return text(run_->output_dir, ""); }
  // Empty: keep no checkpoints.
  std::string state_dir() const { return text(run_->state_dir, ""); }

  bool cancelled() const { return run_->is_cancelled && run_->is_cancelled(run_); }
  void progress(double fraction, const char* stage) const {
    if (run_->progress) run_->progress(run_, fraction, stage);
  }
  void metric(const char* name, std::int64_t step, double value) const {
    if (run_->metric) run_->metric(run_, name, step, value);
  }
  // Reports progress and throws OMEN_CANCELLED once the user gave up; call it at least every half
  // second.
  void step(double fraction, const char* stage) const {
    progress(fraction, stage);
    if (cancelled())
      throw Error(OMEN_CANCELLED, std::string(stage ? stage : "run") + " was cancelled");
  }

 private:
  static std::string text(const char* value, const char* otherwise) {
    return value ? value : otherwise;
  }
  const omen_run* run_;
};

}  // namespace omen

#endif  // OMEN_RUN_HPP
