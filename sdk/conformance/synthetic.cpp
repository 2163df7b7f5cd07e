// SPDX-License-Identifier: Apache-2.0
// Small learnable tasks made from what a component says it reads and writes.
#include "synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "omen/reads.hpp"

namespace omen::conformance {
namespace {

constexpr std::int64_t kGroups = 6;
constexpr std::int64_t kListWidth = 4;

std::string dialect_of(const ComponentFacts& component) {
  for (const std::string& entry : component.reads)
    if (const ReadEntry read = parse_read(entry); !read.dialect.empty()) return read.dialect;
  return "ops/1";
}

std::vector<std::string> named(const char* prefix, std::int64_t rows) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < rows; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

std::vector<bool> every_third_missing(std::int64_t rows) {
  std::vector<bool> present(static_cast<std::size_t>(rows), true);
  for (std::size_t i = 0; i < present.size(); i += 3) present[i] = false;
  return present;
}

// Rows by workload in the given order, with ascending ids again.
Table renumbered(const Table& table, const std::vector<std::int64_t>& order, std::int64_t first) {
  const auto id = table.column<std::int64_t>("workload_id");
  std::vector<std::int64_t> rows, fresh;
  for (std::size_t place = 0; place < order.size(); ++place)
    for (std::int64_t row = 0; row < table.rows(); ++row)
      if (id[row] == first + order[place]) {
        rows.push_back(row);
        fresh.push_back(first + static_cast<std::int64_t>(place));
      }
  const Table taken = take(table, rows);
  TableBuilder builder;
  for (const auto& [key, value] : table.metadata()) builder.metadata(key, value);
  for (std::size_t c = 0; c < taken.columns(); ++c) {
    if (taken.name(c) == "workload_id")
      builder.add("workload_id", fresh);
    else
      builder.add_column(taken, c);
  }
  return builder.finish();
}

}  // namespace

std::vector<TargetSpec> targets_of(const ComponentFacts& component) {
  std::vector<TargetSpec> targets;
  for (const std::string& entry : component.writes) {
    if (entry == "*") continue;
    TargetSpec target;
    const auto unit = entry.find(':');
    target.name = entry.substr(0, unit);
    if (unit != std::string::npos) {
      const auto direction = entry.find(':', unit + 1);
      target.unit = entry.substr(unit + 1, direction - unit - 1);
      if (direction != std::string::npos) target.direction = entry.substr(direction + 1);
    }
    targets.push_back(std::move(target));
  }
  if (targets.empty()) targets.push_back({"cost", "ms", "lower"});
  return targets;
}

Task::Task(const ComponentFacts& component, const ComponentQuirks& quirks, std::uint64_t seed,
           const TaskShape& shape)
    : component_(&component),
      quirks_(&quirks),
      shape_(shape),
      state_(seed * 0x9e3779b97f4a7c15U + 1),
      targets_(targets_of(component)),
      signal_(static_cast<std::size_t>(shape.workloads), 0.0) {
  make_workloads();
  if (reads("nodes") || reads("edges")) make_graphs();
  if (reads("counters")) make_counters();
  make_targets();
  if (reads("candidates") || component.kind == OMEN_SCORER) make_candidates();
}

bool Task::reads(std::string_view table) const {
  return component_->reads_table(table);
}

// splitmix64, so that tasks are the same with every standard library.
double Task::draw() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

void Task::add_column(TableBuilder& to, const std::string& table, const std::string& name,
                      std::int64_t rows, std::vector<double>* signal) {
  const auto known = quirks_->columns.find(table + "." + name);
  const ColumnQuirk quirk = known == quirks_->columns.end() ? ColumnQuirk{} : known->second;
  const auto count = static_cast<std::size_t>(rows);
  if (!quirk.values.empty()) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count; ++i) {
      const auto pick = static_cast<std::size_t>(draw() * static_cast<double>(quirk.values.size()));
      values.push_back(quirk.values[pick]);
      if (signal) (*signal)[i] += static_cast<double>(pick);
    }
    to.add_categories(name, values);
  } else {
    const double low = quirk.minimum.value_or(1), high = quirk.maximum.value_or(9);
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = low + (high - low) * draw();
      if (quirk.integer) values[i] = std::floor(values[i]);
      if (signal) (*signal)[i] += (values[i] - low) / std::max(high - low, 1e-9);
    }
    if (quirk.integer)
      to.add(name, std::vector<std::int64_t>(values.begin(), values.end()));
    else
      to.add(name, std::move(values));
  }
  if (shape_.null_features) to.valid(every_third_missing(rows));
}

void Task::make_workloads() {
  const std::int64_t rows = shape_.workloads;
  std::vector<std::int64_t> id(static_cast<std::size_t>(rows));
  std::iota(id.begin(), id.end(), shape_.first_id);
  std::vector<std::string> group;
  for (std::int64_t i = 0; i < rows; ++i) group.push_back("group" + std::to_string(i % kGroups));
  TableBuilder table;
  table.add("workload_id", id).add_categories("group", group).add_strings("name", named("w", rows));
  if (reads("nodes") || reads("edges")) table.add("graph_id", id);
  std::set<std::string> columns;
  bool wildcard = false;
  for (const std::string& entry : component_->reads) {
    const ReadEntry read = parse_read(entry);
    if (read.table != "workloads") continue;
    if (read.column == "*")
      wildcard = true;
    else if (!read.column.empty())
      columns.insert(read.column);
  }
  for (const char* known : {"workload_id", "group", "name", "graph_id"}) columns.erase(known);
  for (const std::string& name : columns) add_column(table, "workloads", name, rows, &signal_);
  if (wildcard) {
    for (const char* name : {"alpha", "beta", "gamma"})
      add_column(table, "workloads", name, rows, &signal_);
    std::vector<std::int64_t> size;
    std::vector<std::string> kind;
    for (std::size_t i = 0; i < signal_.size(); ++i) {
      size.push_back(1 + static_cast<std::int64_t>(draw() * 64));
      kind.push_back(i % 3 == 0 ? "small" : i % 3 == 1 ? "medium" : "large");
      signal_[i] += static_cast<double>(size.back()) / 32;
    }
    table.add("batch", size).add_categories("kind", kind);
  }
  tables_["workloads"] = table.finish();
}

void Task::make_graphs() {
  std::vector<std::string> vocabulary = quirks_->operations;
  if (vocabulary.empty()) vocabulary = {"input", "conv2d", "relu", "matmul", "add"};
  std::vector<std::int64_t> graph, edge_graph;
  std::vector<std::int32_t> node, source, destination, position;
  std::vector<std::string> operation, edge_kind;
  for (std::int64_t g = 0; g < shape_.workloads; ++g) {
    const auto size = static_cast<std::int32_t>(3 + draw() * 5);
    for (std::int32_t n = 0; n < size; ++n) {
      graph.push_back(shape_.first_id + g);
      node.push_back(n);
      const auto pick = static_cast<std::size_t>(draw() * static_cast<double>(vocabulary.size()));
      operation.push_back(shape_.unknown_operation && n == 1 ? "never_seen_before"
                                                             : vocabulary[pick]);
      signal_[static_cast<std::size_t>(g)] += 0.1 * static_cast<double>(pick + 1);
      if (n == 0 || !shape_.edges) continue;
      edge_graph.push_back(shape_.first_id + g);
      source.push_back(n - 1);
      destination.push_back(n);
      edge_kind.emplace_back("data");
      position.push_back(0);
    }
  }
  const auto width = [&] {
    const auto known = quirks_->columns.find("nodes.feat");
    return known != quirks_->columns.end() && known->second.width > 0 ? known->second.width
                                                                      : kListWidth;
  }();
  std::vector<float> features(node.size() * static_cast<std::size_t>(width));
  for (float& value : features) value = static_cast<float>(draw());
  TableBuilder nodes;
  nodes.metadata("omen.dialect", dialect_of(*component_))
      .add("graph_id", graph)
      .add("node_id", node)
      .add_categories("op", operation)
      .add_list("feat", width, std::move(features));
  TableBuilder edges;
  edges.add("graph_id", edge_graph)
      .add("src", source)
      .add("dst", destination)
      .add_categories("kind", edge_kind)
      .add("position", position);
  const std::set<std::string> standard = {"graph_id", "node_id", "op",   "feat",
                                          "src",      "dst",     "kind", "position"};
  for (const std::string& entry : component_->reads) {
    const ReadEntry read = parse_read(entry);
    if (read.any_column() || standard.count(read.column)) continue;
    if (read.table == "nodes")
      add_column(nodes, "nodes", read.column, static_cast<std::int64_t>(node.size()), nullptr);
    if (read.table == "edges")
      add_column(edges, "edges", read.column, static_cast<std::int64_t>(source.size()), nullptr);
  }
  tables_["nodes"] = nodes.finish();
  tables_["edges"] = edges.finish();
}

void Task::make_counters() {
  std::vector<std::int64_t> id, time;
  std::vector<std::int32_t> device;
  std::vector<std::string> metric;
  std::vector<double> value;
  for (std::int64_t w = 0; w < shape_.workloads; ++w)
    for (int step = 0; step < 4; ++step)
      for (const char* name : {"power_w", "utilization"}) {
        id.push_back(shape_.first_id + w);
        time.push_back(step * 1000000);
        device.push_back(0);
        metric.emplace_back(name);
        value.push_back(10 + 50 * draw());
        signal_[static_cast<std::size_t>(w)] += value.back() / 500;
      }
  tables_["counters"] = TableBuilder()
                            .add("workload_id", id)
                            .add("t_ns", time)
                            .add("device", device)
                            .add_categories("metric", metric)
                            .add("value", value)
                            .finish();
}

void Task::make_targets() {
  const Table& workloads = tables_.at("workloads");
  TableBuilder table;
  table.add_column(workloads, workloads.index("workload_id"));
  for (const TargetSpec& target : targets_) {
    std::vector<double> values;
    for (const double signal : signal_) values.push_back(10 + 3 * signal + 0.05 * draw());
    table.add(target.name, std::move(values),
              {{"omen.unit", target.unit}, {"omen.direction", target.direction}});
  }
  tables_["targets"] = table.finish();
}

// Predictions here are the true costs, so that the best decision is known.
void Task::make_candidates() {
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> candidate;
  std::vector<std::string> name, status;
  for (std::int64_t w = 0; w < shape_.workloads; ++w)
    for (std::int64_t c = 0; c < shape_.candidates; ++c) {
      id.push_back(shape_.first_id + w);
      candidate.push_back(static_cast<std::int32_t>(c));
      name.push_back("candidate" + std::to_string(c));
      status.emplace_back("ok");
    }
  TableBuilder candidates, predictions;
  candidates.add("workload_id", id).add("candidate_id", candidate).add_strings("name", name);
  predictions.add("workload_id", id).add("candidate_id", candidate);
  std::set<std::string> costs;
  for (const std::string& entry : component_->reads) {
    const ReadEntry read = parse_read(entry);
    if (read.any_column()) continue;
    if (read.table == "candidates")
      add_column(candidates, "candidates", read.column, static_cast<std::int64_t>(id.size()),
                 nullptr);
    if (read.table == "predictions") costs.insert(read.column);
  }
  if (costs.empty()) costs.insert("cost");
  for (const std::string& cost : costs) {
    std::vector<double> values;
    for (std::size_t i = 0; i < id.size(); ++i) values.push_back(5 + 20 * draw());
    predictions.add(cost, std::move(values), {{"omen.unit", "ms"}, {"omen.direction", "lower"}});
  }
  predictions.add_categories("status", status);
  tables_["candidates"] = candidates.finish();
  if (component_->kind == OMEN_SCORER) tables_["predictions"] = predictions.finish();
}

void Task::fill(MemoryDataset& data, bool with_targets) const {
  for (const auto& [name, table] : tables_) data.put(name, table);
  if (!with_targets) data.withhold("targets");
  std::string json = "{\"targets\": [";
  for (std::size_t i = 0; i < targets_.size(); ++i)
    json += std::string(i ? ", " : "") + "{\"name\": \"" + targets_[i].name + "\", \"unit\": \"" +
            targets_[i].unit + "\", \"direction\": \"" +
            (targets_[i].direction.empty() ? "lower" : targets_[i].direction) +
            "\", \"kind\": \"value\", \"loss\": \"absolute\"}";
  data.set_task(std::string(64, '0'), json + "]}");
}

Task Task::shuffled(std::uint64_t seed, std::vector<std::int64_t>* order) const {
  Task copy = *this;
  copy.state_ = seed * 0x9e3779b97f4a7c15U + 7;
  order->resize(static_cast<std::size_t>(shape_.workloads));
  std::iota(order->begin(), order->end(), 0);
  for (std::size_t i = order->size(); i > 1; --i)
    std::swap((*order)[i - 1],
              (*order)[static_cast<std::size_t>(copy.draw() * static_cast<double>(i))]);
  for (auto& [name, table] : copy.tables_)
    if (table.has("workload_id")) table = renumbered(table, *order, shape_.first_id);
  return copy;
}

}  // namespace omen::conformance
