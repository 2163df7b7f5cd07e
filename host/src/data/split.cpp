// SPDX-License-Identifier: Apache-2.0
// Deals rows and groups into folds.
#include "data/split.hpp"

#include <algorithm>
#include <unordered_map>

namespace omen::host {
namespace {

using Names = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& what, const std::string& hint) {
  throw Error(OMEN_INVALID_ARGUMENT, "the split " + what, hint);
}

// Groups in order of first appearance, so that nothing depends on the order of a hash table.
struct Groups {
  Names names;
  std::vector<std::size_t> of_row, sizes;

  explicit Groups(const Names& labels) {
    std::unordered_map<std::string, std::size_t> index;
    for (const std::string& label : labels) {
      const auto [at, fresh] = index.try_emplace(label, names.size());
      if (fresh) {
        names.push_back(label);
        sizes.push_back(0);
      }
      ++sizes[at->second];
      of_row.push_back(at->second);
    }
  }
};

std::vector<std::size_t> deal(const std::vector<std::size_t>& order, std::size_t folds) {
  std::vector<std::size_t> fold(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) fold[order[i]] = i % folds;
  return fold;
}

// Largest group first, each to the fold with the fewest rows; groups of one size in seeded order.
std::vector<std::size_t> balance(const Groups& groups, std::vector<std::size_t> order,
                                 std::size_t folds) {
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return groups.sizes[a] > groups.sizes[b]; });
  std::vector<std::size_t> fold(order.size()), filled(folds, 0);
  for (const std::size_t group : order) {
    const auto emptiest = std::min_element(filled.begin(), filled.end());
    fold[group] = static_cast<std::size_t>(emptiest - filled.begin());
    *emptiest += groups.sizes[group];
  }
  return fold;
}

Names k_fold(const TaskSplit& split, std::size_t rows, std::uint64_t seed) {
  Names names;
  for (const std::size_t fold :
       deal(shuffled_order(rows, seed), static_cast<std::size_t>(split.folds)))
    names.push_back(std::to_string(fold));
  return names;
}

Names grouped_k_fold(const TaskSplit& split, const Groups& groups, std::uint64_t seed) {
  const std::vector<std::size_t> order = shuffled_order(groups.names.size(), seed);
  const auto folds = static_cast<std::size_t>(split.folds);
  const std::vector<std::size_t> fold = split.assignment == Assignment::kBalanced
                                            ? balance(groups, order, folds)
                                            : deal(order, folds);
  Names names;
  for (const std::size_t group : groups.of_row) names.push_back(std::to_string(fold[group]));
  return names;
}

// Numbers, because a split table is published where the column it comes from may not be.
Names leave_one_out(const Groups& groups) {
  Names names;
  for (const std::size_t group : groups.of_row) names.push_back(std::to_string(group));
  return names;
}

bool is_role(const std::string& label) {
  return from_word<Role>(label).has_value();
}

bool has_roles(const Names& labels) {
  return std::all_of(labels.begin(), labels.end(), is_role);
}

void check_counts(const TaskSplit& split, std::size_t units, const char* unit) {
  if (split.folds < 2) refuse("has fewer than two folds", "Ask for at least 2.");
  if (static_cast<std::size_t>(split.folds) > units)
    refuse(
        "wants " + std::to_string(split.folds) + " folds of " + std::to_string(units) + " " + unit,
        "Ask for fewer folds.");
}

void check_fixed(const Names& labels) {
  if (has_roles(labels)) {
    for (const Role role : {Role::kTrain, Role::kTest})
      if (std::find(labels.begin(), labels.end(), word_of(role)) == labels.end())
        refuse(std::string("has no row marked '") + word_of(role) + "'", "Mark rows for both.");
    return;
  }
  for (const std::string& label : labels)
    if (is_role(label))
      refuse("mixes '" + label + "' with other names",
             "Use train, valid, observe and test, or names of folds, not both.");
  if (Groups(labels).names.size() < 2) refuse("has one fold only", "Name at least two.");
}

std::vector<std::int64_t> rows_where(const Names& names, const auto& wanted) {
  std::vector<std::int64_t> rows;
  for (std::size_t row = 0; row < names.size(); ++row)
    if (wanted(names[row])) rows.push_back(static_cast<std::int64_t>(row));
  return rows;
}

Names fold_names(const TaskSplit& split, const Names& assigned) {
  Names names;
  if (split.kind == SplitKind::kKFold || split.kind == SplitKind::kGroupedKFold)
    for (int fold = 0; fold < split.folds; ++fold) names.push_back(std::to_string(fold));
  else
    names = Groups(assigned).names;
  return names;
}

}  // namespace

std::vector<Names> assign_folds(const TaskSplit& split, std::size_t rows, const Names& labels) {
  if (rows == 0) refuse("has no rows to split", "Check the data: no row has a target.");
  if (split.repeats < 1) refuse("has no repeats", "Ask for at least 1.");
  const bool seeded = split.kind == SplitKind::kKFold || split.kind == SplitKind::kGroupedKFold;
  if (!seeded && split.repeats > 1)
    refuse(std::string("is repeated, but ") + word_of(split.kind) + " is the same every time",
           "Ask for 1 repeat.");
  if (split.kind != SplitKind::kKFold)
    for (std::size_t row = 0; row < rows; ++row)
      if (labels[row].empty())
        refuse("column '" + split.column + "' has no value in row " + std::to_string(row),
               "Fill it in, or split by another column.");
  if (split.kind == SplitKind::kKFold) {
    check_counts(split, rows, "rows");
  } else if (split.kind == SplitKind::kFixed) {
    check_fixed(labels);
  } else {
    const std::size_t groups = Groups(labels).names.size();
    if (split.kind == SplitKind::kGroupedKFold) check_counts(split, groups, "groups");
    if (groups < 2) refuse("has one group only", "Split by a column with at least two values.");
  }
  if (split.kind == SplitKind::kFixed) return {labels};
  if (split.kind == SplitKind::kLeaveOneGroupOut) return {leave_one_out(Groups(labels))};
  std::vector<Names> assigned;
  for (int repeat = 0; repeat < split.repeats; ++repeat) {
    const std::uint64_t seed = split.seed + static_cast<std::uint64_t>(repeat);
    assigned.push_back(split.kind == SplitKind::kKFold
                           ? k_fold(split, rows, seed)
                           : grouped_k_fold(split, Groups(labels), seed));
  }
  return assigned;
}

std::vector<Fold> folds_of(const TaskSplit& split, const std::vector<Names>& assigned) {
  std::vector<Fold> folds;
  if (split.kind == SplitKind::kFixed && has_roles(assigned.at(0))) {
    Fold fold;
    fold.name = word_of(Role::kTest);
    for (const Role role : {Role::kTrain, Role::kValid, Role::kObserve, Role::kTest})
      fold.rows_of(role) =
          rows_where(assigned[0], [&](const std::string& n) { return n == word_of(role); });
    folds.push_back(std::move(fold));
    return folds;
  }
  for (std::size_t repeat = 0; repeat < assigned.size(); ++repeat)
    for (const std::string& name : fold_names(split, assigned[repeat])) {
      Fold fold;
      fold.repeat = static_cast<int>(repeat);
      fold.name = fold_name(fold.repeat, name);
      fold.test = rows_where(assigned[repeat], [&](const std::string& n) { return n == name; });
      fold.train = rows_where(assigned[repeat], [&](const std::string& n) { return n != name; });
      folds.push_back(std::move(fold));
    }
  return folds;
}

}  // namespace omen::host
