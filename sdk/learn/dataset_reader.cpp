// SPDX-License-Identifier: Apache-2.0
// From Arrow tables to plain columns, joined by workload_id.
#include "omen/learn/dataset_reader.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "omen/learn/errors.hpp"
#include "omen/learn/graph_ids.hpp"
#include "omen/learn/graph_statistics.hpp"

namespace omen::learn {
namespace {

constexpr std::int64_t kNoRow = -1;

/// Which row of each table a row of the frame comes from.
struct Join {
  std::vector<std::int64_t> workload, candidate;
};

bool is_key(std::string_view name) {
  static const std::set<std::string, std::less<>> keys = {"workload_id", "candidate_id", "graph_id",
                                                          "group", "name"};
  return keys.count(name) > 0 || name.substr(0, 9) == "graph_id.";
}

bool is_scalar(Type type) {
  return is_number(type) || is_text(type);
}

std::vector<std::int64_t> integers(const Table& table, std::string_view name) {
  const std::vector<double> numbers = table.numbers(name);
  std::vector<std::int64_t> values;
  for (const double number : numbers) {
    if (!std::isfinite(number)) {
      throw_bad_data("column '" + std::string(name) + "' has an empty value",
                     "give every row its id");
    }
    values.push_back(static_cast<std::int64_t>(number));
  }
  return values;
}

std::vector<std::int64_t> ids(const Table& table, std::string_view name) {
  const std::size_t at = table.index(name);
  if (table.type(at) != Type::kInt64) return integers(table, name);
  const auto column = table.column<std::int64_t>(at);
  return {column.begin(), column.end()};
}

// Codes of a text column, with the labels in order of first appearance.
Column text_column(const Table& table, std::size_t at) {
  Column column;
  column.name = table.name(at);
  column.categorical = true;
  const StringColumn values = table.strings(at);
  std::unordered_map<std::string, std::int32_t> place;
  for (std::int64_t row = 0; row < values.size(); ++row) {
    if (values.is_null(row)) {
      column.codes.push_back(-1);
      continue;
    }
    const std::string label(values[row]);
    const auto [found, fresh] = place.emplace(label, static_cast<std::int32_t>(place.size()));
    if (fresh) column.labels.push_back(label);
    column.codes.push_back(found->second);
  }
  return column;
}

Column read_column(const Table& table, std::size_t at) {
  if (is_text(table.type(at))) return text_column(table, at);
  Column column;
  column.name = table.name(at);
  column.numbers = table.numbers(at);
  return column;
}

Column take(const Column& column, const std::vector<std::int64_t>& rows) {
  Column taken;
  taken.name = column.name;
  taken.categorical = column.categorical;
  taken.labels = column.labels;
  for (const std::int64_t row : rows) {
    const auto at = static_cast<std::size_t>(row);
    if (column.categorical)
      taken.codes.push_back(column.codes[at]);
    else
      taken.numbers.push_back(column.numbers[at]);
  }
  return taken;
}

Join join_candidates(const std::vector<std::int64_t>& workloads, const Table& candidates) {
  Join join;
  if (candidates.empty()) {
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      join.workload.push_back(static_cast<std::int64_t>(i));
    }
    return join;
  }
  std::unordered_map<std::int64_t, std::int64_t> place;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    place.emplace(workloads[i], static_cast<std::int64_t>(i));
  }
  const std::vector<std::int64_t> owners = ids(candidates, "workload_id");
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto found = place.find(owners[i]);
    if (found == place.end()) {
      throw_bad_data("a candidate belongs to workload " + std::to_string(owners[i]) +
                         ", which is not in the workloads",
                     "give every candidate the workload_id of a workload");
    }
    join.workload.push_back(found->second);
    join.candidate.push_back(static_cast<std::int64_t>(i));
  }
  return join;
}

void add_columns(Frame& frame, const Table& table, const std::vector<std::int64_t>& rows,
                 const std::set<std::string, std::less<>>& without) {
  for (std::size_t at = 0; at < table.columns(); ++at) {
    const std::string_view name = table.name(at);
    if (is_key(name) || without.count(name) > 0 || !is_scalar(table.type(at))) continue;
    frame.columns.push_back(take(read_column(table, at), rows));
  }
}

GraphStatistics read_graphs(const Dataset& dataset, const std::function<void()>& check) {
  GraphStatistics graphs;
  if (!dataset.has("nodes")) return graphs;
  TableStream nodes = dataset.stream("nodes");
  for (auto batch = nodes.next(); batch; batch = nodes.next()) {
    check();
    graphs.add_nodes(*batch);
  }
  if (!dataset.has("edges")) return graphs;
  TableStream edges = dataset.stream("edges");
  for (auto batch = edges.next(); batch; batch = edges.next()) {
    check();
    graphs.add_edges(*batch);
  }
  return graphs;
}

// The columns that name a graph: graph_id, or graph_id.0, graph_id.1 for several graphs in one
// workload, or the workload's own id.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> graph_columns(
    const Table& workloads) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> columns;
  for (std::size_t at = 0; at < workloads.columns(); ++at) {
    const std::string name(workloads.name(at));
    if (name.rfind("graph_id.", 0) == 0) {
      columns.emplace_back("graph." + name.substr(9) + ".", ids(workloads, name));
    }
  }
  std::sort(columns.begin(), columns.end());
  if (columns.empty()) {
    columns.emplace_back("graph.", ids(workloads, graph_id_column(workloads)));
  }
  return columns;
}

void add_graphs(Rows& rows, const Table& workloads, const Join& join,
                const GraphStatistics& graphs) {
  rows.has_graphs = true;
  for (const auto& [prefix, all_ids] : graph_columns(workloads)) {
    std::vector<std::int64_t> graph_ids;
    for (std::size_t i = 0; i < join.workload.size(); ++i) {
      graph_ids.push_back(all_ids[static_cast<std::size_t>(join.workload[i])]);
      if (!graphs.has(graph_ids.back())) rows.without_graph[i] = true;
    }
    graphs.append_to(rows.frame, prefix, graph_ids);
  }
}

using Key = std::pair<std::int64_t, std::int64_t>;

std::map<Key, std::int64_t> target_places(const Table& targets, bool per_candidate) {
  const std::vector<std::int64_t> workloads = ids(targets, "workload_id");
  const std::vector<std::int64_t> candidates =
      per_candidate ? ids(targets, "candidate_id") : std::vector<std::int64_t>(workloads.size(), 0);
  std::map<Key, std::int64_t> places;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    places.emplace(Key(workloads[i], candidates[i]), static_cast<std::int64_t>(i));
  }
  return places;
}

// Classes keep the order of the dictionary, so that probabilities come in the task's order.
Target read_target(const Table& table, std::size_t at, const std::vector<std::int64_t>& rows) {
  Target target;
  target.name = table.name(at);
  if (!is_text(table.type(at))) {
    const std::vector<double> all = table.numbers(at);
    for (const std::int64_t row : rows) {
      target.numbers.push_back(row == kNoRow ? std::nan("") : all[static_cast<std::size_t>(row)]);
    }
    return target;
  }
  const Column column = text_column(table, at);
  target.classes = column.labels;
  if (table.type(at) == Type::kDictionary) {
    const StringColumn values = table.strings(at);
    target.classes.clear();
    for (std::int64_t i = 0; i < values.value_count(); ++i) {
      target.classes.emplace_back(values.value(i));
    }
  } else {
    std::sort(target.classes.begin(), target.classes.end());
  }
  std::unordered_map<std::string, std::int32_t> place;
  for (const std::string& name : target.classes) {
    place.emplace(name, static_cast<std::int32_t>(place.size()));
  }
  for (const std::int64_t row : rows) {
    const std::int32_t code = row == kNoRow ? -1 : column.codes[static_cast<std::size_t>(row)];
    target.codes.push_back(code < 0 ? -1 : place[column.labels[static_cast<std::size_t>(code)]]);
  }
  return target;
}

}  // namespace

std::vector<std::string> target_names(const Dataset& dataset) {
  const TableStream targets = dataset.stream("targets");
  std::vector<std::string> names;
  for (std::size_t at = 0; at < targets.schema().columns(); ++at) {
    const std::string name(targets.schema().name(at));
    if (!is_key(name)) names.push_back(name);
  }
  return names;
}

Rows read_rows(const Dataset& dataset, const std::vector<std::string>& without,
               const std::function<void()>& check) {
  const Table workloads = dataset.table("workloads");
  check();
  const Table candidates = dataset.has("candidates") ? dataset.table("candidates") : Table();
  const std::vector<std::int64_t> workload_ids = ids(workloads, "workload_id");
  const Join join = join_candidates(workload_ids, candidates);

  Rows rows;
  rows.frame.rows = static_cast<Index>(join.workload.size());
  rows.without_graph.assign(join.workload.size(), false);
  for (const std::int64_t row : join.workload) {
    rows.workload_id.push_back(workload_ids[static_cast<std::size_t>(row)]);
  }
  if (!candidates.empty()) {
    const std::vector<std::int64_t> all = ids(candidates, "candidate_id");
    rows.candidate_id.assign(all.begin(), all.end());
  }
  if (const auto at = workloads.find("group"); at && is_text(workloads.type(*at))) {
    const Column group = take(text_column(workloads, *at), join.workload);
    rows.group = group.codes;
    rows.group_names = group.labels;
  }
  std::set<std::string, std::less<>> skipped(without.begin(), without.end());
  for (std::size_t at = 0; at < candidates.columns(); ++at) skipped.emplace(candidates.name(at));
  add_columns(rows.frame, workloads, join.workload, skipped);
  add_columns(rows.frame, candidates, join.candidate, {without.begin(), without.end()});
  const GraphStatistics graphs = read_graphs(dataset, check);
  if (!graphs.empty()) add_graphs(rows, workloads, join, graphs);
  return rows;
}

std::vector<ReadTarget> read_targets(const Dataset& dataset, const Rows& rows) {
  const Table table = dataset.table("targets");
  const bool per_candidate = table.has("candidate_id") && !rows.candidate_id.empty();
  const std::map<Key, std::int64_t> places = target_places(table, per_candidate);
  std::vector<std::int64_t> from;
  for (std::size_t i = 0; i < rows.workload_id.size(); ++i) {
    const Key key(rows.workload_id[i], per_candidate ? rows.candidate_id[i] : 0);
    const auto found = places.find(key);
    from.push_back(found == places.end() ? kNoRow : found->second);
  }
  std::vector<ReadTarget> targets;
  for (std::size_t at = 0; at < table.columns(); ++at) {
    if (is_key(table.name(at)) || !is_scalar(table.type(at))) continue;
    targets.push_back({read_target(table, at, from), table.metadata(at)});
  }
  return targets;
}

void keep_columns(Rows& rows, const std::vector<std::string>& names) {
  std::vector<Column> kept;
  for (const std::string& name : names) {
    const auto found = std::find_if(rows.frame.columns.begin(), rows.frame.columns.end(),
                                    [&](const Column& column) { return column.name == name; });
    if (found == rows.frame.columns.end()) {
      std::string all;
      for (const Column& column : rows.frame.columns)
        all += (all.empty() ? "" : ", ") + column.name;
      throw_bad_data("there is no column '" + name + "' to learn from",
                     all.empty() ? "the table has no features" : "name some of " + all);
    }
    kept.push_back(*found);
  }
  rows.frame.columns = std::move(kept);
  rows.frame.bags.clear();
  rows.has_graphs = false;
}

void append(Rows& rows, std::vector<ReadTarget>& targets, const Rows& more,
            const std::vector<ReadTarget>& more_targets) {
  if (targets.size() != more_targets.size()) {
    throw_bad_data("training and validation sets have different targets",
                   "make both from the same dataset");
  }
  append_rows(rows.frame, more.frame);
  rows.workload_id.insert(rows.workload_id.end(), more.workload_id.begin(), more.workload_id.end());
  std::unordered_map<std::string, std::int32_t> place;
  for (const std::string& name : rows.group_names) {
    place.emplace(name, static_cast<std::int32_t>(place.size()));
  }
  for (const std::int32_t code : more.group) {
    std::int32_t joined = -1;
    if (code >= 0) {
      const std::string& name = more.group_names[static_cast<std::size_t>(code)];
      joined = place.emplace(name, static_cast<std::int32_t>(place.size())).first->second;
    }
    rows.group.push_back(joined);
  }
  for (std::size_t t = 0; t < targets.size(); ++t) {
    Target& into = targets[t].target;
    const Target& from = more_targets[t].target;
    into.numbers.insert(into.numbers.end(), from.numbers.begin(), from.numbers.end());
    for (const std::int32_t code : from.codes) {
      if (code < 0) {
        into.codes.push_back(-1);
        continue;
      }
      const std::string& name = from.classes[static_cast<std::size_t>(code)];
      const auto at = std::find(into.classes.begin(), into.classes.end(), name);
      into.codes.push_back(static_cast<std::int32_t>(at - into.classes.begin()));
      if (at == into.classes.end()) into.classes.push_back(name);
    }
  }
}

}  // namespace omen::learn
