// SPDX-License-Identifier: Apache-2.0
// Cases about omen.observe/1: what was learnt from measured rows is whole, kept, and no accident.
#include "predictor_trial.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

const omen_observe_ext& observe_extension(Trial& trial) {
  const omen_plugin& plugin = trial.plugin();
  const void* found = plugin.get_extension ? plugin.get_extension(OMEN_EXT_OBSERVE) : nullptr;
  if (!found) skip("the plugin has no omen.observe/1");
  return *static_cast<const omen_observe_ext*>(found);
}

// The status of observe; skips where the component does not learn so, which a plugin with the
// extension says by OMEN_UNSUPPORTED.
omen_status observe(Trial& trial, Predictor& predictor, const Task& task, std::string* why) {
  MemoryDataset measured;
  task.fill(measured, true);
  const TestRun run(trial.seed());
  ErrorOut error;
  const omen_status status =
      checked_observe(observe_extension(trial), predictor.get(), run.c(), measured.c(), error);
  if (status == OMEN_OK) return status;
  try {
    error.check(status);
  } catch (const Error& said) {
    *why = said.what();
  }
  if (status == OMEN_UNSUPPORTED) skip(*why);
  return status;
}

void keeps_what_it_observed(Trial& trial) {
  observe_extension(trial);
  const Task task = standard_task(trial);
  TaskShape later;
  later.first_id = 1000;
  const Task measured = standard_task(trial, later);
  Predictor predictor = ready_predictor(trial, task);
  const TestRun run(trial.seed());
  std::string why;
  require(observe(trial, predictor, measured, &why) == OMEN_OK, "observe failed: " + why);
  const Answers after = predict_or_skip(predictor, task, run);
  require(after.row_count == static_cast<std::int64_t>(after.rows.size()),
          "after observe some workload got two answers");
  try {
    Predictor other = trial.create<omen_predictor_vt>();
    load_model(other, save_model(predictor));
    require_same(after, predict(other, task, run), trial.quirks().tolerance,
                 "observed, saved and loaded");
  } catch (const Error& error) {
    if (error.code() == OMEN_UNSUPPORTED) skip(error.what());
    fail(error.what());
  }
}

void not_before_a_fit(Trial& trial) {
  observe_extension(trial);
  Predictor predictor = trial.create<omen_predictor_vt>();
  std::string why;
  const omen_status status = observe(trial, predictor, standard_task(trial), &why);
  require(status == OMEN_INVALID_STATE,
          status == OMEN_OK ? "observe before fit or load gives OMEN_OK"
                            : "observe before fit or load gives " + std::to_string(status) +
                                  ", not OMEN_INVALID_STATE: " + why);
}

void failure_changes_nothing(Trial& trial) {
  observe_extension(trial);
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  const TestRun run(trial.seed());
  const Answers before = predict_or_skip(predictor, task, run);
  Task unmeasured = standard_task(trial);
  for (const char* table : {"targets", "node_targets"})
    if (unmeasured.has(table)) unmeasured.drop(table);
  std::string why;
  if (observe(trial, predictor, unmeasured, &why) == OMEN_OK) return;
  require_same(before, predict(predictor, task, run), trial.quirks().tolerance,
               "after an observe that failed");
}

}  // namespace

std::vector<Case> observe_cases() {
  return {
      {"semantics.observe", "what it observed is in its answers, its model and nowhere lost.", 2,
       60, kPredictors, nullptr, keeps_what_it_observed},
      {"semantics.observe-untrained", "observe before fit or load is OMEN_INVALID_STATE.", 2, 30,
       kPredictors, nullptr, not_before_a_fit},
      {"semantics.observe-failure", "an observe that fails leaves the answers as they were.", 2, 60,
       kPredictors, nullptr, failure_changes_nothing},
  };
}

}  // namespace omen::conformance
