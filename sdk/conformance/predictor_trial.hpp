// SPDX-License-Identifier: Apache-2.0
// Fits, predicts and compares: what most cases about predictors do.
#ifndef OMEN_CONFORMANCE_PREDICTOR_TRIAL_HPP
#define OMEN_CONFORMANCE_PREDICTOR_TRIAL_HPP

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "synthetic.hpp"
#include "trial.hpp"

namespace omen::conformance {

// The context of a call, with a scratch directory that goes away.
class TestRun {
 public:
  explicit TestRun(std::uint64_t seed, unsigned threads = 1);
  ~TestRun();
  TestRun(const TestRun&) = delete;
  TestRun& operator=(const TestRun&) = delete;

  const omen_run* c() const noexcept { return &run_; }
  const std::string& scratch_dir() const noexcept { return scratch_; }
  void cancel() noexcept { cancelled_ = true; }

 private:
  std::string scratch_;
  std::atomic<bool> cancelled_{false};
  omen_run run_{};
};

struct AnswerRow {
  std::string status;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  bool refused() const { return status != "ok" && status != "extrapolating"; }
};

inline constexpr std::int32_t kNoCandidate = -1;

// One answer of predict, by workload and candidate.
struct Answers {
  using Key = std::pair<std::int64_t, std::int32_t>;
  std::map<Key, AnswerRow> rows;
  std::int64_t row_count = 0;  // larger than rows.size() where a workload was answered twice
  bool has_status = false;
};

using Predictor = Checked<omen_predictor_vt>;

// A task of the standard shape, with the size that the quirks ask for.
Task standard_task(Trial& trial, TaskShape shape = {});

// Both throw Error.
void fit(Predictor& predictor, const Task& task, const TestRun& run);
// batch_rows 0: tables come in one piece.
Answers predict(Predictor& predictor, const Task& task, const TestRun& run,
                std::int64_t batch_rows = 0);

// Whether an error means that the component does not want this input, rather than that it broke.
bool declines(const Error& error);

// Ready for predict, through fit or else the component's default model. Skips the case where the
// component takes neither, because cases of their own are about that.
Predictor ready_predictor(Trial& trial, const Task& task);
// Skips where predict fails, or answers what it was not asked: a case of its own is about each.
Answers predict_or_skip(Predictor& predictor, const Task& task, const TestRun& run);
// The same with whatever ids it gives.
Answers any_answers(Predictor& predictor, const Task& task, const TestRun& run);
// What a task asks for.
std::set<Answers::Key> asked_keys(const Task& task);

std::string save_model(Predictor& predictor);  // bytes of a container; throws Error
void load_model(Predictor& predictor, const std::string& bytes);

// Fails where two answers differ by more than the tolerance, relative to the larger value.
// `name_in_second` says which workload of `second` answers one of `first`; NULL: the same.
void require_same(const Answers& first, const Answers& second, double tolerance,
                  const std::string& between,
                  const std::map<std::int64_t, std::int64_t>* name_in_second = nullptr);

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_PREDICTOR_TRIAL_HPP
