// SPDX-License-Identifier: Apache-2.0
// Tasks: a frozen question (data, inputs, targets, split, loss) whose hash makes two results
// comparable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace omen::host {

struct TaskTarget {
  std::string name, unit;
  std::string direction = "lower";  // or "higher": which way is better for the user
  std::string kind = "number";      // or "class"
  // number: "absolute", "squared", "absolute-percent" (of the truth, in %); class: "zero-one",
  // "log-loss"
  std::string loss = "absolute";
};

// How rows become folds; the outcome lies in a table beside the task and is part of its hash.
struct TaskSplit {
  std::string kind;  // "k-fold", "grouped-k-fold", "leave-one-group-out", "fixed"
  int folds = 0;
  int repeats = 1;  // the whole split again with the next seed
  std::uint64_t seed = 1;
  // grouped-k-fold: "shuffled" (groups dealt in seeded order) or "balanced" (largest group to the
  // fold with the fewest rows)
  std::string assignment;
  std::string column;  // of `workloads`: groups of the split, or for "fixed" the name of the fold
};

// A decision: which candidate to take for each workload, judged by its true cost.
struct TaskDecision {
  std::string scorer;       // component that ranks; empty: the lowest (or highest) predicted target
  std::string cost_target;  // the column of `candidate_costs` that holds the true cost
  std::string direction = "lower";
  std::string default_candidate;  // what a user without a predictor takes; empty: none
};

struct Task {
  std::filesystem::path file;
  std::string name, summary, track;
  std::string dataset;              // name, or a directory relative to the task
  std::string dataset_digest;       // frozen
  std::vector<std::string> inputs;  // "workloads.m", "workloads.*", "nodes", "edges"
  std::vector<TaskTarget> targets;
  bool per_node = false;        // targets are columns of node_targets
  std::string group = "group";  // resampling unit: a column of `workloads`
  std::string average = "row";  // or "group": means over groups of means over rows
  std::string estimate;         // "median" or "mean" paired difference; empty: median for
                                // numbers, mean for classes and decisions
  double rope = 0.01;           // region of practical equivalence, relative to the baseline
  unsigned threads_per_fold = 1;
  TaskSplit split;
  std::optional<TaskDecision> decision;
  std::string hash;  // sha256 over the canonical task and its split table
};

// Rows of `workloads` by index.
struct Fold {
  std::string name;  // "0", "r1.0" for repeat 1, or the group left out
  int repeat = 0;
  std::vector<std::int64_t> train, valid, test;  // valid may be empty
};

// OMEN_INVALID_DATA with the place for a wrong file, a split table that was edited, or data whose
// digest differs from the frozen one.
Task read_task(const std::filesystem::path& file);
std::vector<Fold> task_folds(const Task& task);

// The tables of a task: `workloads` with the inputs, ids and group only, `targets` (or
// `node_targets`) with units, directions and classes as field metadata, and `candidates` +
// `candidate_costs` for decisions. No table but targets, node_targets and candidate_costs holds a
// target.
Tables load_task(const Task& task);
// What a component may know of a task: targets with unit, kind and loss; never split or costs.
std::string public_task_json(const Task& task);

// Freezes a new task: makes the split table, digests and hash, and writes both files.
Task freeze_task(Task draft, const std::filesystem::path& file);

}  // namespace omen::host
