// SPDX-License-Identifier: Apache-2.0
// A run context that is ready to be handed to a component: quiet, on the CPU, and cancellable.
#ifndef OMEN_TESTING_READY_RUN_HPP
#define OMEN_TESTING_READY_RUN_HPP

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "omen/run.hpp"

namespace omen::test {

class ReadyRun {
 public:
  explicit ReadyRun(std::uint64_t seed = 1, unsigned threads = 1) {
    run_.struct_size = sizeof run_;
    run_.seed = seed;
    run_.threads = threads;
    run_.interval_level = 0.9;
    run_.devices = "cpu";
    run_.scratch_dir = "";
    run_.run_data = this;
    run_.is_cancelled = [](const omen_run* run) { return self(run).asked(); };
    run_.metric = [](const omen_run* run, const char* name, std::int64_t, double value) {
      self(run).keep(name, value);
    };
  }
  ReadyRun(const ReadyRun&) = delete;
  ReadyRun& operator=(const ReadyRun&) = delete;

  const omen_run* c() const noexcept { return &run_; }
  Run view() const noexcept { return Run(&run_); }
  operator Run() const noexcept { return view(); }

  ReadyRun& level(double wanted) {
    run_.interval_level = wanted;
    return *this;
  }
  // Directories of the run, which the caller makes.
  ReadyRun& scratch_dir(const std::string& path) {
    return keep_text(run_.scratch_dir, "scratch", path);
  }
  ReadyRun& output_dir(const std::string& path) {
    return keep_text(run_.output_dir, "output", path);
  }
  ReadyRun& state_dir(const std::string& path) { return keep_text(run_.state_dir, "state", path); }

  // From now on the user gave up; or once the component has asked that many times.
  void cancel() { cancel_after_ = 0; }
  void cancel_after(int questions) { cancel_after_ = asked_.load() + questions; }
  // How often the component asked whether it was cancelled.
  int questions() const { return asked_; }

  // The values of a metric in the order in which they came.
  std::vector<double> metric(const std::string& name) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = metrics_.find(name);
    return at == metrics_.end() ? std::vector<double>() : at->second;
  }

 private:
  static ReadyRun& self(const omen_run* run) { return *static_cast<ReadyRun*>(run->run_data); }
  bool asked() {
    const int before = asked_++;
    const int limit = cancel_after_;
    return limit >= 0 && before >= limit;
  }
  void keep(const char* name, double value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    metrics_[name].push_back(value);
  }
  ReadyRun& keep_text(const char*& field, const char* what, const std::string& path) {
    field = (texts_[what] = path).c_str();
    return *this;
  }

  omen_run run_{};
  std::atomic<int> asked_{0}, cancel_after_{-1};
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<double>> metrics_;
  std::map<std::string, std::string> texts_;
};

}  // namespace omen::test

#endif  // OMEN_TESTING_READY_RUN_HPP
