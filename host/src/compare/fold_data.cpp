// SPDX-License-Identifier: Apache-2.0
// Cuts the tables of a task into what one fold may see.
#include "compare/fold_data.hpp"

#include <algorithm>
#include <map>

#include "components/withheld.hpp"
#include "omen/reads.hpp"

namespace omen::host {
namespace {

using Ids = std::vector<std::int64_t>;

Ids fold_ids(const Table& table, const char* column) {
  Ids ids;
  for (const double value : table.numbers(column)) ids.push_back(static_cast<std::int64_t>(value));
  return ids;
}

// Codes of the values that occur, in the order of the dictionary.
Table compact(const Table& table) {
  TableBuilder builder;
  for (const auto& [key, value] : table.metadata()) builder.metadata(key, value);
  for (std::size_t c = 0; c < table.columns(); ++c) {
    if (table.type(c) != Type::kDictionary) {
      builder.add_column(table, c);
      continue;
    }
    const StringColumn texts = table.strings(c);
    std::vector<std::int32_t> place(static_cast<std::size_t>(texts.value_count()), -1), codes;
    std::vector<bool> present;
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      present.push_back(!texts.is_null(row));
      if (present.back()) place[static_cast<std::size_t>(texts.codes()[row])] = 0;
    }
    std::vector<std::string> values;
    for (std::size_t code = 0; code < place.size(); ++code) {
      if (place[code] < 0) continue;
      place[code] = static_cast<std::int32_t>(values.size());
      values.emplace_back(texts.value(static_cast<std::int64_t>(code)));
    }
    for (std::int64_t row = 0; row < table.rows(); ++row)
      codes.push_back(present[static_cast<std::size_t>(row)]
                          ? place[static_cast<std::size_t>(texts.codes()[row])]
                          : 0);
    if (values.empty()) values.emplace_back();
    builder.add_dictionary(std::string(table.name(c)), std::move(codes), values, table.metadata(c));
    if (std::find(present.begin(), present.end(), false) != present.end()) builder.valid(present);
  }
  return builder.finish();
}

Table select_targets(const Task& task, const Table& truth) {
  std::vector<std::string> columns{"workload_id"};
  for (const char* key : {"candidate_id", "node_id"})
    if (truth.has(key)) columns.emplace_back(key);
  for (const TaskTarget& target : task.targets)
    if (truth.has(target.name)) columns.push_back(target.name);
  return select(truth, columns);
}

// Targets by (workload, candidate) in the order of the candidates, numbered as the pairs are.
Table pair_targets(const Table& targets, const Table& candidates) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> place;
  const Ids owner = fold_ids(targets, "workload_id"), number = fold_ids(targets, "candidate_id");
  for (std::size_t i = 0; i < owner.size(); ++i)
    place[{owner[i], number[i]}] = static_cast<std::int64_t>(i);
  const Ids workload = fold_ids(candidates, "workload_id"),
            candidate = fold_ids(candidates, "candidate_id");
  Ids rows, pairs;
  for (std::size_t i = 0; i < workload.size(); ++i)
    if (const auto at = place.find({workload[i], candidate[i]}); at != place.end()) {
      rows.push_back(at->second);
      pairs.push_back(static_cast<std::int64_t>(i));
    }
  return with_values(without_columns(take(targets, rows), {"candidate_id"}), "workload_id",
                     std::move(pairs));
}

class Cutter {
 public:
  Cutter(const PlannedTask& task, const ComponentInfo& predictor, bool scalars_only)
      : task_(task.task),
        tables_(task.tables),
        candidates_(predicts_candidates(task.task, task.tables)),
        expand_(candidates_ && !reads_table(predictor.reads, "candidates")),
        scalars_only_(scalars_only) {}

  bool expands() const { return expand_; }
  bool has_candidates() const { return candidates_; }

  Tables cut(const Ids& rows, bool with_targets) const {
    Tables kept;
    for (const auto& [name, table] : keep_workloads(tables_, rows)) kept[name] = table;
    const Table candidates = candidates_ ? kept.at("candidates") : Table();
    Tables seen;
    for (const auto& [name, table] : kept) {
      const bool graph = name == "nodes" || name == "edges" || name == "node_features";
      if (is_withheld(name) || name == "candidates" || (scalars_only_ && graph)) continue;
      seen[name] = compact(table);
    }
    if (expand_) seen = expand_candidates(seen, candidates);
    if (candidates_ && !expand_) seen["candidates"] = compact(candidates);
    if (!with_targets) return seen;
    const Table targets = select_targets(task_, truth_table(task_, kept));
    seen[task_.per_node ? "node_targets" : "targets"] =
        expand_ ? pair_targets(targets, candidates) : targets;
    return seen;
  }

 private:
  const Task& task_;
  const Tables& tables_;
  bool candidates_, expand_, scalars_only_;
};

}  // namespace

bool predicts_candidates(const Task& task, const Tables& tables) {
  if (!task.decision || !tables.count("candidates")) return false;
  const auto targets = tables.find("targets");
  if (targets != tables.end() && targets->second.has("candidate_id")) return true;
  return std::any_of(task.targets.begin(), task.targets.end(), [&](const TaskTarget& target) {
    return target.name == task.decision->cost_target;
  });
}

const Table& truth_table(const Task& task, const Tables& tables) {
  if (task.per_node) return tables.at("node_targets");
  const auto targets = tables.find("targets");
  const bool by_candidate = targets != tables.end() && targets->second.has("candidate_id");
  if (predicts_candidates(task, tables) && !by_candidate) return tables.at("candidate_costs");
  return tables.at("targets");
}

FoldData fold_data(const PlannedTask& task, const Fold& fold, const ComponentInfo& predictor,
                   bool scalars_only) {
  const Cutter cutter(task, predictor, scalars_only);
  FoldData data;
  data.expanded = cutter.expands();
  data.train = cutter.cut(fold.train, true);
  if (!fold.valid.empty()) data.valid = cutter.cut(fold.valid, true);
  if (!fold.observe.empty()) data.observe = cutter.cut(fold.observe, true);
  data.test = cutter.cut(fold.test, false);
  if (cutter.has_candidates())
    data.candidates = keep_workloads(task.tables, fold.test).at("candidates");
  return data;
}

}  // namespace omen::host
