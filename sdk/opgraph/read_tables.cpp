// SPDX-License-Identifier: Apache-2.0
// Reads jobs from tables.
#include <omen/tables.h>
#include <algorithm>
#include <unordered_map>

#include "columns.hpp"
#include "omen/opgraph/tables.hpp"
#include "omen/opgraph/words.hpp"

namespace omen::opgraph {
namespace {

[[noreturn]] void bad(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, what,
              "Make the graph with driple.zoo, driple.onnx or driple.transformer.");
}

// Words of a column as enumerators, each distinct text looked up once where it is a dictionary.
template <class Enum, class Parse>
std::vector<Enum> words_of(const Table& table, const char* column, Parse parse) {
  const StringColumn texts = table.strings(column);
  std::vector<Enum> values;
  values.reserve(static_cast<std::size_t>(texts.size()));
  const auto read = [&](std::string_view text) {
    const auto value = parse(text);
    if (!value)
      bad("column '" + std::string(column) + "' holds '" + std::string(text) +
          "', which step/1 does not know");
    return *value;
  };
  for (std::int64_t row = 0; row < texts.size(); ++row) values.push_back(read(texts[row]));
  return values;
}

using Graphs = std::unordered_map<std::int64_t, OpGraph>;

Graphs read_nodes(const Dataset& in) {
  const Table table = in.table(OMEN_TABLE_NODES);
  const std::string dialect = table.metadata("omen.dialect");
  if (!dialect.empty() && dialect != kDialect)
    bad("the graphs are of the dialect " + dialect + ", not " + kDialect);
  const auto graph = table.column<std::int64_t>(OMEN_COLUMN_GRAPH_ID);
  const auto kinds = words_of<OpClass>(table, columns::kOp, op_class_of);
  const auto phases = words_of<Phase>(table, columns::kPhase, phase_of);
  const auto precisions = words_of<Precision>(table, columns::kPrecision, precision_of);
  const auto shapes = table.list<std::int32_t>(columns::kShape);
  const auto width = std::min<std::int64_t>(shapes.width(), kMostDimensions);
  std::vector<Op> ops(static_cast<std::size_t>(table.rows()));
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i].kind = kinds[i], ops[i].phase = phases[i], ops[i].precision = precisions[i];
    const std::int32_t* shape = shapes[static_cast<std::int64_t>(i)];
    std::copy(shape, shape + width, ops[i].shape.begin());
  }
  for (const columns::Real& column : columns::kNodeReals) {
    const auto values = table.column<double>(column.name);
    for (std::size_t i = 0; i < ops.size(); ++i)
      ops[i].*column.place = values[static_cast<std::int64_t>(i)];
  }
  for (const columns::Whole& column : columns::kNodeWholes) {
    const auto values = table.column<std::int64_t>(column.name);
    for (std::size_t i = 0; i < ops.size(); ++i)
      ops[i].*column.place = values[static_cast<std::int64_t>(i)];
  }
  if (table.has(columns::kText)) {
    const StringColumn names = table.strings(columns::kText);
    for (std::size_t i = 0; i < ops.size(); ++i) ops[i].name = names[static_cast<std::int64_t>(i)];
  }
  Graphs graphs;
  OpGraph* current = nullptr;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    if (current == nullptr || graph[row] != graph[row - 1]) current = &graphs[graph[row]];
    current->ops.push_back(std::move(ops[i]));
  }
  return graphs;
}

void read_edges(const Dataset& in, Graphs& graphs) {
  if (!in.has(OMEN_TABLE_EDGES)) return;
  const Table table = in.table(OMEN_TABLE_EDGES);
  const auto graph = table.column<std::int64_t>(OMEN_COLUMN_GRAPH_ID);
  const auto src = table.column<std::int32_t>(OMEN_COLUMN_SRC);
  const auto dst = table.column<std::int32_t>(OMEN_COLUMN_DST);
  std::vector<bool> data(static_cast<std::size_t>(table.rows()), true);
  if (table.has(OMEN_COLUMN_KIND)) {
    const StringColumn kind = table.strings(OMEN_COLUMN_KIND);
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = kind[static_cast<std::int64_t>(i)] == columns::kData;
  }
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (!data[static_cast<std::size_t>(row)]) continue;
    const auto found = graphs.find(graph[row]);
    const auto nodes =
        found == graphs.end() ? 0 : static_cast<std::int32_t>(found->second.ops.size());
    if (src[row] < 0 || src[row] >= dst[row] || dst[row] >= nodes)
      bad("edge " + std::to_string(src[row]) + " to " + std::to_string(dst[row]) + " of graph " +
          std::to_string(graph[row]) + " does not lead forward within it");
    found->second.edges.push_back({src[row], dst[row]});
  }
  for (auto& [id, each] : graphs)
    std::stable_sort(each.edges.begin(), each.edges.end(),
                     [](const Edge& a, const Edge& b) { return a.dst < b.dst; });
}

}  // namespace

std::vector<Job> read_jobs(const Dataset& in) {
  Graphs graphs = read_nodes(in);
  read_edges(in, graphs);
  const Table table = in.table(OMEN_TABLE_WORKLOADS);
  std::vector<Job> jobs(static_cast<std::size_t>(table.rows()));
  const bool own_ids = table.has(OMEN_COLUMN_GRAPH_ID);
  const auto ids =
      table.column<std::int64_t>(own_ids ? OMEN_COLUMN_GRAPH_ID : OMEN_COLUMN_WORKLOAD_ID);
  const auto modes = words_of<Mode>(table, columns::kMode, mode_of);
  const auto precisions = words_of<Precision>(table, columns::kPrecision, precision_of);
  std::unordered_map<std::int64_t, int> uses;
  for (std::size_t i = 0; i < jobs.size(); ++i) ++uses[ids[static_cast<std::int64_t>(i)]];
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    jobs[i].facts.mode = modes[i];
    jobs[i].facts.precision = precisions[i];
    if (table.has(OMEN_COLUMN_NAME)) jobs[i].name = table.strings(OMEN_COLUMN_NAME)[row];
    if (table.has(columns::kOptimizer))
      jobs[i].facts.optimizer = table.strings(columns::kOptimizer)[row];
    const auto found = graphs.find(ids[row]);
    if (found == graphs.end()) bad("workload " + std::to_string(i) + " has no graph");
    // Several workloads may share a graph; the last one takes it away.
    if (--uses[ids[row]] == 0)
      jobs[i].graph = std::move(found->second);
    else
      jobs[i].graph = found->second;
  }
  for (const columns::Fact& fact : columns::kFacts) {
    if (!table.has(fact.name)) continue;
    const std::vector<double> values = table.numbers(fact.name);
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].facts.*fact.place = values[i];
  }
  return jobs;
}

}  // namespace omen::opgraph
