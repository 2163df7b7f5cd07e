// SPDX-License-Identifier: Apache-2.0
// Cases about what predictors do with unusual but legal tables.
#include "predictor_trial.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

// Predicts an unusual task: any refusal is fine, breaking is not.
std::optional<Answers> predict_unusual(Trial& trial, const TaskShape& shape) {
  const Task usual = standard_task(trial);
  Predictor predictor = ready_predictor(trial, usual);
  const Task unusual(trial.facts(), trial.quirks(), trial.seed() + 1, shape);
  try {
    return predict(predictor, unusual, TestRun(trial.seed()));
  } catch (const Error& error) {
    require(declines(error), std::string("predict failed with '") + status_name(error.code()) +
                                 "': " + error.what());
    return std::nullopt;
  }
}

void require_covered(const std::optional<Answers>& answers, std::int64_t workloads) {
  if (!answers) return;
  std::set<std::int64_t> seen;
  for (const auto& [key, row] : answers->rows) seen.insert(key.first);
  require(static_cast<std::int64_t>(seen.size()) == workloads,
          std::to_string(workloads) + " workloads got " + std::to_string(seen.size()) + " answers");
}

void empty(Trial& trial) {
  TaskShape shape;
  shape.workloads = 0;
  const std::optional<Answers> answers = predict_unusual(trial, shape);
  require(!answers || answers->row_count == 0, "no workloads got answers");
}

void empty_training(Trial& trial) {
  TaskShape shape;
  shape.workloads = 0;
  Predictor predictor = trial.create<omen_predictor_vt>();
  try {
    fit(predictor, Task(trial.facts(), trial.quirks(), trial.seed(), shape), TestRun(trial.seed()));
  } catch (const Error& error) {
    require(declines(error), std::string("fit on no workloads failed with '") +
                                 status_name(error.code()) + "': " + error.what());
  }
}

void one_workload(Trial& trial) {
  TaskShape shape;
  shape.workloads = 1;
  shape.first_id = 1000000007;
  require_covered(predict_unusual(trial, shape), 1);
}

void no_edges(Trial& trial) {
  TaskShape shape;
  shape.workloads = 5;
  shape.edges = false;
  require_covered(predict_unusual(trial, shape), 5);
}

void nulls(Trial& trial) {
  TaskShape shape;
  shape.workloads = 9;
  shape.null_features = true;
  require_covered(predict_unusual(trial, shape), 9);
}

void unknown_operation(Trial& trial) {
  TaskShape shape;
  shape.workloads = 5;
  shape.unknown_operation = true;
  require_covered(predict_unusual(trial, shape), 5);
}

void chunks(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  const TestRun run(trial.seed());
  const Answers whole = predict_or_skip(predictor, task, run);
  for (const std::int64_t rows : {1, 7}) {
    const std::string between = "batches of " + std::to_string(rows) + " rows against one piece";
    try {
      require_same(whole, predict(predictor, task, run, rows), trial.quirks().tolerance, between);
    } catch (const Error& error) {
      fail(between + ": " + error.what());
    }
  }
}

void targets_withheld(Trial& trial) {
  Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  const TestRun run(trial.seed());
  const Answers with = predict_or_skip(predictor, task, run);
  task.drop("targets");
  try {
    require_same(with, predict(predictor, task, run), trial.quirks().tolerance,
                 "targets withheld against absent");
  } catch (const Error& error) {
    fail(std::string("predict wants the targets: ") + error.what());
  }
}

void streams_released(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  predict_or_skip(predictor, task, TestRun(trial.seed()));
  for (const Finding& finding : trial.findings()->all())
    if (finding.rule == Rule::kStreamNotReleased) fail(finding.text);
}

bool reads_graphs(const ComponentFacts& component) {
  return component.reads_table("nodes");
}

bool reads_columns(const ComponentFacts& component) {
  for (const std::string& entry : component.reads)
    if (entry.rfind("workloads.", 0) == 0) return true;
  return false;
}

}  // namespace

std::vector<Case> data_cases() {
  return {
      {"data.empty", "no workloads give no answers, or a refusal.", 2, 30, kPredictors, nullptr,
       empty},
      {"data.empty-training", "fit on no workloads is refused or works.", 2, 30, kPredictors,
       nullptr, empty_training},
      {"data.one-workload", "one workload with a large id gets one answer.", 2, 30, kPredictors,
       nullptr, one_workload},
      {"data.no-edges", "graphs without edges get answers, or a refusal.", 2, 30, kPredictors,
       reads_graphs, no_edges},
      {"data.nulls", "missing features give answers, or a refusal, and never break.", 2, 30,
       kPredictors, reads_columns, nulls},
      {"data.unknown-operation", "an operation that fit never saw is answered or refused.", 2, 30,
       kPredictors, reads_graphs, unknown_operation},
      {"data.chunks", "batches of 1, of 7 and one piece give the same answers.", 2, 60, kPredictors,
       nullptr, chunks},
      {"data.targets-withheld", "predict does not need the targets.", 2, 60, kPredictors, nullptr,
       targets_withheld},
      {"data.streams-released", "every stream that a slot opens is released.", 2, 60, kPredictors,
       nullptr, streams_released},
  };
}

}  // namespace omen::conformance
