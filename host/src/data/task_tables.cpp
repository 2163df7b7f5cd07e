// SPDX-License-Identifier: Apache-2.0
// Keeps what a task may show and puts what it withholds into tables of their own.
#include "data/task_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "components/registry.hpp"
#include "components/withheld.hpp"
#include "text/json_writer.hpp"

namespace omen::host {
namespace {

using Names = std::vector<std::string>;

bool is_task_key(std::string_view column) {
  for (const char* key : {"workload_id", "candidate_id", "node_id", "graph_id", "src", "dst"})
    if (column == key) return true;
  return column.starts_with("graph_id.");
}

bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Names names_of(const Table& table) {
  Names names;
  for (std::size_t c = 0; c < table.columns(); ++c) names.emplace_back(table.name(c));
  return names;
}

std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

const Table& table_of(const Tables& data, const std::string& name, const std::string& why) {
  const auto at = data.find(name);
  if (at != data.end()) return at->second;
  Names have;
  for (const auto& [table, rows] : data) have.push_back(table);
  throw Error(OMEN_INVALID_DATA, why + " needs table '" + name + "', which the dataset has not",
              "Its tables are " + listed(have) + ".");
}

[[noreturn]] void no_column(const std::string& why, const std::string& column, const Names& have) {
  const auto near = near_names(column, have);
  throw Error(
      OMEN_INVALID_DATA, why + " '" + column + "' is no column of the data",
      near.empty() ? "The columns are " + listed(have) + "." : "Did you mean '" + near[0] + "'?");
}

struct Input {
  std::string table, column;  // "*": every column
};

Input parse_input(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return {text, "*"};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

// Where a target lies.
enum class Home { kWorkloads, kTargets, kNodes, kCandidates };

Home home_of(const Task& task, const Tables& data, const std::string& target) {
  const auto in = [&](const char* table) {
    const auto at = data.find(table);
    return at != data.end() && at->second.has(target);
  };
  if (task.per_node) {
    const Table& nodes = table_of(data, "node_targets", "a task per node");
    if (!nodes.has(target)) no_column("target", target, names_of(nodes));
    return Home::kNodes;
  }
  if (in("workloads")) return Home::kWorkloads;
  if (in("targets")) return Home::kTargets;
  if (task.decision && (in("candidate_costs") || in("candidates"))) return Home::kCandidates;
  no_column("target", target, names_of(table_of(data, "workloads", "a task")));
}

// Columns of candidates that tell what they cost.
Names cost_columns(const Task& task) {
  Names names;
  if (task.decision) names.push_back(task.decision->cost_target);
  for (const TaskTarget& target : task.targets) names.push_back(target.name);
  return names;
}

// `candidate_costs` apart from `candidates`, whichever of the two the dataset keeps costs in.
void split_costs(const Task& task, Tables& data) {
  if (!task.decision) {
    data.erase("candidates");
    data.erase("candidate_costs");
    return;
  }
  Table candidates =
      complete_candidates(table_of(data, "candidates", "a decision"), data.at("workloads"));
  Names costs;
  for (const std::string& name : cost_columns(task))
    if (candidates.has(name) && !contains(costs, name)) costs.push_back(name);
  const auto kept = data.find("candidate_costs");
  const std::string& cost = task.decision->cost_target;
  if (kept != data.end() && !kept->second.has(cost))
    no_column("cost of a decision", cost, names_of(kept->second));
  if (kept == data.end()) {
    if (!candidates.has(cost)) no_column("cost of a decision", cost, names_of(candidates));
    Names columns = {"workload_id", "candidate_id"};
    columns.insert(columns.end(), costs.begin(), costs.end());
    data["candidate_costs"] = select(candidates, columns);
  }
  data["candidates"] = without_columns(candidates, costs);
}

std::vector<bool> present(const Table& table, std::size_t column) {
  std::vector<bool> flags(static_cast<std::size_t>(table.rows()));
  for (std::int64_t row = 0; row < table.rows(); ++row)
    flags[static_cast<std::size_t>(row)] = !table.is_null(column, row);
  return flags;
}

std::string classes_json(const std::vector<std::string>& values, const std::vector<bool>& there) {
  std::set<std::string> classes;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (there[i]) classes.insert(values[i]);
  std::string json;
  for (const std::string& name : classes) json += (json.empty() ? "" : ",") + json_quote(name);
  return "[" + json + "]";
}

void add_target(TableBuilder& builder, const TaskTarget& target, const Table& from) {
  const std::size_t column = from.index(target.name);
  const std::vector<bool> there = present(from, column);
  Metadata metadata{{"omen.unit", target.unit}, {"omen.direction", word_of(target.direction)}};
  const bool is_class = is_text(from.type(column)) || from.type(column) == Type::kBool;
  if (is_list(from.type(column)) || is_class != (target.kind == TargetKind::kClass))
    throw Error(OMEN_INVALID_DATA, "target '" + target.name + "' is a " + word_of(target.kind) +
                                       " in the task, but holds " + type_name(from.type(column)) +
                                       " in the data");
  if (is_class) {
    const Names values = column_texts(from, column);
    metadata.emplace_back("omen.classes", classes_json(values, there));
    builder.add_categories(target.name, values, std::move(metadata));
  } else {
    builder.add(target.name, from.numbers(column), std::move(metadata));
  }
  if (std::find(there.begin(), there.end(), false) != there.end()) builder.valid(there);
}

// Targets of the rows of `workloads`; both sides are ascending in workload_id.
Table aligned(const Table& targets, const Table& workloads) {
  const auto wanted = workloads.column<std::int64_t>("workload_id");
  const std::vector<double> ids = targets.numbers("workload_id");
  std::map<std::int64_t, std::int64_t> row_of;
  for (std::size_t row = 0; row < ids.size(); ++row)
    row_of[static_cast<std::int64_t>(ids[row])] = static_cast<std::int64_t>(row);
  std::vector<std::int64_t> rows;
  for (const std::int64_t id : wanted) {
    const auto at = row_of.find(id);
    if (at == row_of.end())
      throw Error(OMEN_INVALID_DATA,
                  "table 'targets' has no row for workload " + std::to_string(id));
    rows.push_back(at->second);
  }
  return take(targets, rows);
}

// Rows without any of the targets are of no use to anyone.
void drop_unmeasured(const Task& task, Tables& data) {
  const Table& workloads = data.at("workloads");
  std::vector<std::int64_t> measured;
  for (std::int64_t row = 0; row < workloads.rows(); ++row)
    if (std::any_of(task.targets.begin(), task.targets.end(), [&](const TaskTarget& target) {
          return !workloads.is_null(workloads.index(target.name), row);
        }))
      measured.push_back(row);
  if (static_cast<std::int64_t>(measured.size()) < workloads.rows())
    data = keep_workloads(data, measured);
}

Table target_table(const Task& task, const Table& from, const Names& keys) {
  TableBuilder builder;
  for (const std::string& key : keys) builder.add_column(from, from.index(key));
  for (const TaskTarget& target : task.targets) add_target(builder, target, from);
  return builder.finish();
}

// Moves the targets out of whatever table holds them.
void split_task_targets(const Task& task, Tables& data) {
  std::set<Home> homes;
  for (const TaskTarget& target : task.targets) homes.insert(home_of(task, data, target.name));
  if (homes.size() != 1)
    throw Error(OMEN_INVALID_DATA,
                "the targets of one task lie in different tables: workloads, targets or candidates",
                "Make one task for each.");
  if (*homes.begin() == Home::kNodes) {
    data["node_targets"] = target_table(task, data.at("node_targets"), {"workload_id", "node_id"});
    data.erase("targets");
  } else if (*homes.begin() == Home::kCandidates) {
    const Table& costs = data.at("candidate_costs");
    for (const TaskTarget& target : task.targets)
      if (!costs.has(target.name)) no_column("target", target.name, names_of(costs));
    data["targets"] = target_table(task, costs, {"workload_id", "candidate_id"});
  } else {
    if (*homes.begin() == Home::kTargets) {
      const Table rows = aligned(data.at("targets"), data.at("workloads"));
      for (const TaskTarget& target : task.targets)
        data["workloads"] = with_column(data.at("workloads"), rows, rows.index(target.name));
    }
    drop_unmeasured(task, data);
    data["targets"] = target_table(task, data.at("workloads"), {"workload_id"});
  }
}

// Names of the columns of each input table.
std::map<std::string, Names> input_columns(const Task& task, const Tables& data) {
  std::map<std::string, Names> columns;
  for (const std::string& text : task.inputs) {
    const Input input = parse_input(text);
    if (is_withheld(input.table))
      throw Error(OMEN_INVALID_DATA, "input '" + text + "' is withheld: it holds the answers");
    const Table& table = table_of(data, input.table, "input '" + text + "'");
    const bool target = std::any_of(
        task.targets.begin(), task.targets.end(),
        [&](const TaskTarget& t) { return input.table == "workloads" && t.name == input.column; });
    if (target) throw Error(OMEN_INVALID_DATA, "input '" + text + "' is a target of the same task");
    if (input.column == "*")
      for (const std::string& name : names_of(table)) columns[input.table].push_back(name);
    else if (table.has(input.column))
      columns[input.table].push_back(input.column);
    else
      no_column("input", input.column, names_of(table));
  }
  return columns;
}

Table only_inputs(const Table& table, const Names& inputs) {
  Names kept;
  for (const std::string& name : names_of(table))
    if (is_task_key(name) || contains(inputs, name)) kept.push_back(name);
  return select(table, kept);
}

void add_group(const Task& task, const Table& full, Table& workloads) {
  if (!full.has(task.group)) no_column("group", task.group, names_of(full));
  const Table group = category_column("group", column_texts(full, full.index(task.group)));
  workloads = with_column(workloads, group, 0);
  if (full.has("name")) workloads = with_column(workloads, full, full.index("name"));
}

const Table& target_home(const Task& task, const Tables& data, const std::string& target) {
  switch (home_of(task, data, target)) {
    case Home::kNodes:
      return data.at("node_targets");
    case Home::kTargets:
      return data.at("targets");
    case Home::kCandidates:
      return data.count("candidate_costs") && data.at("candidate_costs").has(target)
                 ? data.at("candidate_costs")
                 : data.at("candidates");
    default:
      return data.at("workloads");
  }
}

void check_number(const TaskTarget& target, const Table& table, std::size_t column) {
  const std::vector<double> values = table.numbers(column);
  const auto ids = table.column<std::int64_t>("workload_id");
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (table.is_null(column, row)) continue;
    const double value = values[static_cast<std::size_t>(row)];
    const std::string where =
        "target '" + target.name + "' of workload " + std::to_string(ids[row]);
    if (!std::isfinite(value))
      throw Error(OMEN_INVALID_DATA, where + " is not a finite number",
                  "Leave the field empty where nothing was measured.");
    if (value == 0 && target.loss == Loss::kAbsolutePercent)
      throw Error(OMEN_INVALID_DATA, where + " is 0, which has no error in percent",
                  "Use the loss 'absolute', or leave such rows out.");
  }
}

}  // namespace

void complete_draft(Task& task, const DatasetInfo& info, const Tables& data) {
  Names measured = cost_columns(task);
  for (const TargetSpec& target : info.targets) measured.push_back(target.name);
  Names inputs;
  for (const std::string& text : task.inputs) {
    const Input input = parse_input(text);
    if (input.column != "*" || input.table != "workloads") {
      inputs.push_back(text);
      continue;
    }
    for (const std::string& name : names_of(table_of(data, input.table, "input '" + text + "'")))
      if (!is_task_key(name) && name != "group" && name != "name" && name != task.group &&
          name != task.split.column && !contains(task.split.keys, name) &&
          !contains(measured, name))
        inputs.push_back("workloads." + name);
  }
  task.inputs = std::move(inputs);
  for (TaskTarget& target : task.targets) {
    const Table& home = target_home(task, data, target.name);
    const Type type = home.type(home.index(target.name));
    if (target.kind == TargetKind::kOpen)
      target.kind = is_text(type) || type == Type::kBool ? TargetKind::kClass : TargetKind::kNumber;
    if (target.loss == Loss::kOpen)
      target.loss = target.kind == TargetKind::kClass ? Loss::kZeroOne : Loss::kAbsolute;
    if (target.unit.empty()) target.unit = info.unit(target.name);
  }
}

Tables shape_tables(const Task& task, Tables data) {
  split_costs(task, data);
  split_task_targets(task, data);
  const std::map<std::string, Names> inputs = input_columns(task, data);
  Tables shaped;
  for (const auto& [name, columns] : inputs) shaped[name] = only_inputs(data.at(name), columns);
  const Table& full = data.at("workloads");
  if (!inputs.count("workloads")) shaped["workloads"] = only_inputs(full, {});
  add_group(task, full, shaped["workloads"]);
  for (const char* withheld : {"targets", "node_targets"})
    if (data.count(withheld) && (task.per_node == (std::string(withheld) == "node_targets")))
      shaped[withheld] = data.at(withheld);
  if (task.decision) {
    if (!inputs.count("candidates")) shaped["candidates"] = data.at("candidates");
    shaped["candidate_costs"] = data.at("candidate_costs");
    if (data.at("candidates").has("name"))
      shaped["candidates"] = with_column(shaped["candidates"], data.at("candidates"),
                                         data.at("candidates").index("name"));
  }
  return shaped;
}

void check_values(const Task& task, const Tables& shaped) {
  const Table& workloads = shaped.at("workloads");
  const StringColumn groups = workloads.strings("group");
  const auto ids = workloads.column<std::int64_t>("workload_id");
  for (std::int64_t row = 0; row < workloads.rows(); ++row)
    if (groups[row].empty())
      throw Error(
          OMEN_INVALID_DATA,
          "workload " + std::to_string(ids[row]) + " has no group in column '" + task.group + "'",
          "Fill it in, or group by another column.");
  const Table& targets = shaped.at(task.per_node ? "node_targets" : "targets");
  for (const TaskTarget& target : task.targets)
    if (target.kind == TargetKind::kNumber)
      check_number(target, targets, targets.index(target.name));
  if (!task.decision) return;
  const Table& costs = shaped.at("candidate_costs");
  const std::size_t cost = costs.index(task.decision->cost_target);
  std::set<std::int64_t> feasible;
  const auto owner = costs.column<std::int64_t>("workload_id");
  for (std::int64_t row = 0; row < costs.rows(); ++row)
    if (!costs.is_null(cost, row)) feasible.insert(owner[row]);
  for (const std::int64_t id : ids)
    if (!feasible.count(id))
      throw Error(OMEN_INVALID_DATA,
                  "workload " + std::to_string(id) + " has no candidate with a true cost",
                  "Leave such workloads out of the dataset.");
}

}  // namespace omen::host
