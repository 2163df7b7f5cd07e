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
#include "tables/target_words.hpp"

namespace omen::host {

struct TaskTarget {
  std::string name, unit;
  Direction direction = Direction::kLower;  // which way is better for the user
  TargetKind kind = TargetKind::kNumber;
  Loss loss = Loss::kAbsolute;  // open: absolute for a number, zero-one for a class
};

enum class SplitKind { kKFold, kGroupedKFold, kLeaveOneGroupOut, kFixed, kListed, kGroupPair };
template <>
struct WordTable<SplitKind> {
  static constexpr const char* kWords[] = {"k-fold", "grouped-k-fold", "leave-one-group-out",
                                           "fixed",  "listed",         "group-pair"};
};
// Whether the split table has a role for each row and fold, instead of the fold that tests it.
inline bool lists_roles(SplitKind kind) {
  return kind == SplitKind::kListed || kind == SplitKind::kGroupPair;
}

// How grouped-k-fold deals: groups in seeded order, or the largest to the fold with the fewest
// rows.
enum class Assignment { kNone, kShuffled, kBalanced };
template <>
struct WordTable<Assignment> {
  static constexpr const char* kWords[] = {"", "shuffled", "balanced"};
};

// What a row is for in a fold; observed rows are measured after the training.
enum class Role { kTrain, kValid, kObserve, kTest };
template <>
struct WordTable<Role> {
  static constexpr const char* kWords[] = {"train", "valid", "observe", "test"};
};

// Rows of a group-pair split of which one key is held out and the other is not.
enum class MixedRows { kTest, kObserve, kDrop };
template <>
struct WordTable<MixedRows> {
  static constexpr const char* kWords[] = {"test", "observe", "drop"};
};

// Means over every row, or over groups of means over rows.
enum class Average { kRow, kGroup };
template <>
struct WordTable<Average> {
  static constexpr const char* kWords[] = {"row", "group"};
};

// Of the paired difference; open: median for numbers, mean for classes and decisions.
enum class TaskEstimate { kOpen, kMedian, kMean };
template <>
struct WordTable<TaskEstimate> {
  static constexpr const char* kWords[] = {"", "median", "mean"};
};

// How rows become folds; the outcome lies in a table beside the task and is part of its hash.
struct TaskSplit {
  SplitKind kind = SplitKind::kKFold;
  int folds = 0;
  int repeats = 1;  // the whole split again with the next seed
  std::uint64_t seed = 1;
  Assignment assignment = Assignment::kNone;
  // Of `workloads`: groups of the split (the task's group column unless it says otherwise). Of a
  // fixed split either the roles, which is one fold, or the name of the fold in which the row is
  // tested.
  std::string column;
  std::string sha256;             // of the split table
  std::vector<std::string> keys;  // the two columns of a group-pair split
  MixedRows mixed = MixedRows::kTest;
  std::filesystem::path list;  // of a draft: the table that a listed split is made from
};

// A decision: which candidate to take for each workload, judged by its true cost. A candidate whose
// cost is null is infeasible.
struct TaskDecision {
  std::string scorer;       // component that ranks; empty: the lowest (or highest) predicted target
  std::string cost_target;  // the column of `candidate_costs` that holds the true cost
  Direction direction = Direction::kLower;
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
  Average average = Average::kRow;
  TaskEstimate estimate = TaskEstimate::kOpen;
  double rope = 0.01;  // region of practical equivalence, relative to the baseline
  unsigned threads_per_fold = 1;
  TaskSplit split;
  std::optional<TaskDecision> decision;
  // sha256 over everything that changes the question: digest of the data, inputs, targets, group,
  // average, estimate, rope, threads, split with its table, decision. Not over names and summaries.
  std::string hash;

  // The table of folds beside the task: x.json has x.split.csv.
  std::filesystem::path split_file() const;
};

// Rows of `workloads` by index.
struct Fold {
  std::string name;  // "0", "r1.0" for repeat 1, or a role of a fixed split
  int repeat = 0;
  std::vector<std::int64_t> train, valid, test;  // valid may be empty
  std::vector<std::int64_t> observe;             // may be empty

  std::vector<std::int64_t>& rows_of(Role role) {
    switch (role) {
      case Role::kTrain:
        return train;
      case Role::kValid:
        return valid;
      case Role::kObserve:
        return observe;
      default:
        return test;
    }
  }
};
// "0", or "r1.0" in repeat 1.
inline std::string fold_name(int repeat, const std::string& name) {
  return repeat == 0 ? name : "r" + std::to_string(repeat) + "." + name;
}

// A file, or the name of an installed task: "matmul-cpu", "baseline/matmul-cpu". OMEN_NOT_FOUND
// with near names.
std::filesystem::path find_task(const std::string& name_or_file);
std::vector<std::filesystem::path> installed_tasks();

// OMEN_INVALID_DATA with file and field for a task that is wrong or was edited, as was its split
// table.
Task read_task(const std::filesystem::path& file);
// `workloads` as load_task gives them.
std::vector<Fold> task_folds(const Task& task, const Table& workloads);

// The tables of a task: `workloads` with the inputs, ids, name and group only, `targets` (or
// `node_targets`) with omen.unit, omen.direction and omen.classes (a JSON list) as field metadata,
// and `candidates` + `candidate_costs` for decisions. No table but targets, node_targets and
// candidate_costs holds a target. Rows without any target are left out; row i is row i of the split
// table, but for splits that list roles. A target that is a column of candidate_costs is predicted
// per candidate: `targets` then has workload_id and candidate_id. OMEN_INVALID_DATA where the
// digest of the data is not the frozen one.
Tables load_task(const Task& task);
// What a component may know of a task: targets with unit, kind and loss; never split or costs.
std::string public_task_json(const Task& task);

// Freezes a new task: wildcards of the inputs become columns, targets get their kind and unit from
// the data where the draft leaves them empty; makes the split table, digests and hash, and writes
// both files.
Task freeze_task(Task draft, const std::filesystem::path& file);

}  // namespace omen::host
