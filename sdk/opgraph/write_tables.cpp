// SPDX-License-Identifier: Apache-2.0
// Writes jobs as tables.
#include <omen/tables.h>
#include <algorithm>
#include <limits>

#include "columns.hpp"
#include "omen/opgraph/tables.hpp"
#include "omen/opgraph/words.hpp"

namespace omen::opgraph {
namespace {

Metadata unit_of(const char* unit) {
  return *unit != '\0' ? Metadata{{"omen.unit", unit}} : Metadata{};
}

std::vector<std::string> as_strings(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

template <class Make>
auto for_each_op(std::span<const Job> jobs, Make make) {
  std::vector<decltype(make(jobs[0].graph.ops[0]))> values;
  std::size_t count = 0;
  for (const Job& job : jobs) count += job.graph.ops.size();
  values.reserve(count);
  for (const Job& job : jobs)
    for (const Op& op : job.graph.ops) values.push_back(make(op));
  return values;
}

// One pass for all columns: large graphs do not stay near the processor.
void add_numbers(TableBuilder& table, std::span<const Job> jobs, std::size_t nodes) {
  std::vector<std::vector<double>> reals(std::size(columns::kNodeReals));
  std::vector<std::vector<std::int64_t>> wholes(std::size(columns::kNodeWholes));
  for (std::vector<double>& values : reals) values.reserve(nodes);
  for (std::vector<std::int64_t>& values : wholes) values.reserve(nodes);
  for (const Job& job : jobs)
    for (const Op& op : job.graph.ops) {
      for (std::size_t c = 0; c < reals.size(); ++c)
        reals[c].push_back(op.*columns::kNodeReals[c].place);
      for (std::size_t c = 0; c < wholes.size(); ++c)
        wholes[c].push_back(op.*columns::kNodeWholes[c].place);
    }
  for (std::size_t c = 0; c < reals.size(); ++c)
    table.add(columns::kNodeReals[c].name, std::move(reals[c]),
              unit_of(columns::kNodeReals[c].unit));
  for (std::size_t c = 0; c < wholes.size(); ++c)
    table.add(columns::kNodeWholes[c].name, std::move(wholes[c]));
}

template <class Enum>
std::int32_t code(Enum value) {
  return static_cast<std::int32_t>(value);
}

}  // namespace

TableBuilder workload_columns(std::span<const Job> jobs, const std::vector<std::string>& groups) {
  std::vector<std::int64_t> ids;
  std::vector<std::string> names, own_groups, optimizers;
  std::vector<std::int32_t> modes, precisions;
  for (const Job& job : jobs) {
    own_groups.push_back(groups.empty() ? job.name : groups[ids.size()]);
    ids.push_back(static_cast<std::int64_t>(ids.size()));
    names.push_back(job.name);
    optimizers.push_back(job.facts.optimizer);
    modes.push_back(code(job.facts.mode));
    precisions.push_back(code(job.facts.precision));
  }
  TableBuilder table;
  table.add(OMEN_COLUMN_WORKLOAD_ID, ids)
      .add_categories(OMEN_COLUMN_GROUP, own_groups)
      .add_strings(OMEN_COLUMN_NAME, names)
      .add(OMEN_COLUMN_GRAPH_ID, ids)
      .add_dictionary(columns::kMode, std::move(modes), as_strings(mode_words()))
      .add_dictionary(columns::kPrecision, std::move(precisions), as_strings(precision_words()))
      .add_categories(columns::kOptimizer, optimizers);
  for (const columns::Fact& fact : columns::kFacts) {
    std::vector<double> values;
    for (const Job& job : jobs) values.push_back(job.facts.*fact.place);
    table.add(fact.name, std::move(values), unit_of(fact.unit));
  }
  return table;
}

TableBuilder node_columns(std::span<const Job> jobs) {
  std::vector<std::int64_t> graph;
  std::vector<std::int32_t> node, shape;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    for (std::size_t i = 0; i < jobs[job].graph.ops.size(); ++i) {
      graph.push_back(static_cast<std::int64_t>(job));
      node.push_back(static_cast<std::int32_t>(i));
      for (const std::int64_t size : jobs[job].graph.ops[i].shape)
        shape.push_back(static_cast<std::int32_t>(
            std::min<std::int64_t>(size, std::numeric_limits<std::int32_t>::max())));
    }
  }
  const std::size_t nodes = node.size();
  TableBuilder table;
  table.metadata("omen.dialect", kDialect);
  table.add(OMEN_COLUMN_GRAPH_ID, std::move(graph))
      .add(OMEN_COLUMN_NODE_ID, std::move(node))
      .add_dictionary(columns::kOp, for_each_op(jobs, [](const Op& op) { return code(op.kind); }),
                      as_strings(op_class_words()))
      .add_dictionary(columns::kPhase,
                      for_each_op(jobs, [](const Op& op) { return code(op.phase); }),
                      as_strings(phase_words()))
      .add_dictionary(columns::kPrecision,
                      for_each_op(jobs, [](const Op& op) { return code(op.precision); }),
                      as_strings(precision_words()));
  add_numbers(table, jobs, nodes);
  table.add_list(columns::kShape, kMostDimensions, std::move(shape));
  table.add_strings(columns::kText, for_each_op(jobs, [](const Op& op) { return op.name; }));
  return table;
}

TableBuilder edge_columns(std::span<const Job> jobs) {
  std::vector<std::int64_t> graph;
  std::vector<std::int32_t> src, dst, position, kind;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    std::int32_t operand = 0;
    for (const Edge& edge : jobs[job].graph.edges) {
      operand =
          !dst.empty() && graph.back() == static_cast<std::int64_t>(job) && dst.back() == edge.dst
              ? operand + 1
              : 0;
      graph.push_back(static_cast<std::int64_t>(job));
      src.push_back(edge.src);
      dst.push_back(edge.dst);
      kind.push_back(0);
      position.push_back(operand);
    }
  }
  TableBuilder table;
  table.add(OMEN_COLUMN_GRAPH_ID, std::move(graph))
      .add(OMEN_COLUMN_SRC, std::move(src))
      .add(OMEN_COLUMN_DST, std::move(dst))
      .add_dictionary(OMEN_COLUMN_KIND, std::move(kind), {columns::kData})
      .add(OMEN_COLUMN_POSITION, std::move(position));
  return table;
}

void put_jobs(std::span<const Job> jobs, const TablesOut& out,
              const std::vector<std::string>& groups) {
  out.put(OMEN_TABLE_WORKLOADS, workload_columns(jobs, groups).finish());
  out.put(OMEN_TABLE_NODES, node_columns(jobs).finish());
  out.put(OMEN_TABLE_EDGES, edge_columns(jobs).finish());
}

}  // namespace omen::opgraph
