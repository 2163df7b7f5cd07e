// SPDX-License-Identifier: Apache-2.0
// Reads jobs from tables.
#include <omen/tables.h>
#include <algorithm>
#include <iterator>
#include <optional>
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

// Words of a column as enumerators; `otherwise` where the column is absent.
template <class Enum, class Parse>
std::vector<Enum> words_of(const Table& table, const char* column, Parse parse, Enum otherwise) {
  std::vector<Enum> values(static_cast<std::size_t>(table.rows()), otherwise);
  if (!table.has(column)) return values;
  const StringColumn texts = table.strings(column);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view text = texts[static_cast<std::int64_t>(i)];
    const auto value = parse(text);
    if (!value)
      bad("column '" + std::string(column) + "' holds '" + std::string(text) +
          "', which step/1 does not know");
    values[i] = *value;
  }
  return values;
}

// What an operation of another vocabulary costs is told by its other columns.
std::optional<OpClass> known_class_or_other(std::string_view word) {
  return op_class_of(word).value_or(OpClass::other);
}

// One column, and where its values go.
template <class Value, class View>
struct ReadColumn {
  View values;
  Value Op::*place;
};
template <class Value, class Columns>
auto columns_of(const Table& table, const Columns& known) {
  using View = decltype(table.column<Value>(""));
  std::vector<ReadColumn<Value, View>> found;
  for (const auto& column : known)
    if (table.has(column.name)) found.push_back({table.column<Value>(column.name), column.place});
  return found;
}

// All columns for a few operations after each other, so that these stay near the processor.
void read_numbers(const Table& table, std::vector<Op>& ops) {
  constexpr std::size_t kBlock = 512;
  const auto reals = columns_of<double>(table, columns::kNodeReals);
  const auto wholes = columns_of<std::int64_t>(table, columns::kNodeWholes);
  const auto read = [&](const auto& column, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      ops[i].*column.place = column.values[static_cast<std::int64_t>(i)];
  };
  for (std::size_t begin = 0; begin < ops.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, ops.size());
    for (const auto& column : reals) read(column, begin, end);
    for (const auto& column : wholes) read(column, begin, end);
  }
}

void read_shapes(const Table& table, std::vector<Op>& ops) {
  if (!table.has(columns::kShape)) return;
  const auto shapes = table.list<std::int32_t>(columns::kShape);
  const auto width = std::min<std::int64_t>(shapes.width(), kMostDimensions);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::int32_t* shape = shapes[static_cast<std::int64_t>(i)];
    std::copy(shape, shape + width, ops[i].shape.begin());
  }
}

using Graphs = std::unordered_map<std::int64_t, OpGraph>;

Graphs read_nodes(const Dataset& in) {
  const Table table = in.table(OMEN_TABLE_NODES);
  const std::string dialect = table.metadata("omen.dialect");
  if (!dialect.empty() && dialect != kDialect)
    bad("the graphs are of the dialect " + dialect + ", not " + kDialect);
  const auto graph = table.column<std::int64_t>(OMEN_COLUMN_GRAPH_ID);
  const auto kinds = words_of(table, columns::kOp, known_class_or_other, OpClass::other);
  const auto phases = words_of(table, columns::kPhase, phase_of, Phase::forward);
  const auto precisions = words_of(table, columns::kPrecision, precision_of, Precision::fp32);
  std::vector<Op> ops(static_cast<std::size_t>(table.rows()));
  for (std::size_t i = 0; i < ops.size(); ++i)
    ops[i].kind = kinds[i], ops[i].phase = phases[i], ops[i].precision = precisions[i];
  read_shapes(table, ops);
  read_numbers(table, ops);
  if (table.has(columns::kText)) {
    const StringColumn names = table.strings(columns::kText);
    for (std::size_t i = 0; i < ops.size(); ++i) ops[i].name = names[static_cast<std::int64_t>(i)];
  }
  Graphs graphs;
  const auto at = [&](std::size_t i) { return graph[static_cast<std::int64_t>(i)]; };
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    while (end < ops.size() && at(end) == at(begin)) ++end;
    std::vector<Op>& own = graphs[at(begin)].ops;
    if (own.empty() && end - begin == ops.size())
      own = std::move(ops);
    else
      own.insert(own.end(), std::make_move_iterator(ops.begin() + std::ptrdiff_t(begin)),
                 std::make_move_iterator(ops.begin() + std::ptrdiff_t(end)));
    if (ops.empty()) break;
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
  const auto modes = words_of(table, columns::kMode, mode_of, Mode::train);
  const auto precisions = words_of(table, columns::kPrecision, precision_of, Precision::fp32);
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
