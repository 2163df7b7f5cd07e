// SPDX-License-Identifier: Apache-2.0
// Reading the tables of the dialect step/1; columns that it does not have are done without.
#include "grouping/job_rows.hpp"

#include <omen/tables.h>

#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "omen/error.hpp"
#include "omen/learn/graph_ids.hpp"

namespace omen::driple {
namespace {

constexpr const char* kPhaseColumn = "phase";
constexpr const char* kShapeColumn = "shape";
constexpr const char* kSourceColumn = "source_op";  // of graphs that name their framework's kinds
constexpr const char* kDeviceColumn = "device";
constexpr std::string_view kForward = "forward";
constexpr std::string_view kGpu = "GPU";

// Sizes from shapes; zeros behind the rank are not part of one.
std::vector<double> tensor_sizes(const Table& nodes) {
  std::vector<double> sizes(static_cast<std::size_t>(nodes.rows()), 0.0);
  if (!nodes.has(kShapeColumn)) return sizes;
  const ListColumn<std::int32_t> shape = nodes.list<std::int32_t>(kShapeColumn);
  std::vector<std::int64_t> dims;
  for (std::int64_t row = 0; row < nodes.rows(); ++row) {
    dims.assign(shape[row], shape[row] + shape.width());
    while (!dims.empty() && dims.back() == 0) dims.pop_back();
    sizes[static_cast<std::size_t>(row)] = tensor_size_of(dims.data(), dims.size());
  }
  return sizes;
}

std::optional<StringColumn> texts(const Table& table, const char* name) {
  if (!table.has(name)) return std::nullopt;
  return table.strings(name);
}

// The framework's own kind where the graph has it, as the published tables of frequencies do; else
// ours, with the phase where that is not the forward pass.
class Kinds {
 public:
  explicit Kinds(const Table& nodes)
      : op_(nodes.strings(OMEN_COLUMN_OP)),
        source_(texts(nodes, kSourceColumn)),
        phase_(texts(nodes, kPhaseColumn)) {}

  std::string operator()(std::int64_t row) const {
    if (source_ && !(*source_)[row].empty()) return std::string((*source_)[row]);
    const std::string kind(op_[row]);
    if (!phase_ || phase_->is_null(row) || (*phase_)[row] == kForward) return kind;
    return kind + " " + std::string((*phase_)[row]);
  }

 private:
  StringColumn op_;
  std::optional<StringColumn> source_, phase_;
};

// Graphs some of whose nodes are placed on a GPU keep these nodes only, as published.
class Placement {
 public:
  explicit Placement(const Table& nodes) : device_(texts(nodes, kDeviceColumn)) {
    if (!device_) return;
    const Column<std::int64_t> id = nodes.column<std::int64_t>(OMEN_COLUMN_GRAPH_ID);
    for (std::int64_t row = 0; row < nodes.rows(); ++row)
      if (on_gpu(row)) placed_.insert(id[row]);
  }

  bool keeps(std::int64_t graph, std::int64_t row) const {
    return placed_.count(graph) == 0 || on_gpu(row);
  }

 private:
  bool on_gpu(std::int64_t row) const {
    return (*device_)[row].find(kGpu) != std::string_view::npos;
  }

  std::optional<StringColumn> device_;
  std::unordered_set<std::int64_t> placed_;  // graphs with a node on a GPU
};

}  // namespace

std::map<std::int64_t, OpRows> read_op_rows(const Dataset& data) {
  std::map<std::int64_t, OpRows> graphs;
  const Table nodes = data.table(OMEN_TABLE_NODES);
  const Column<std::int64_t> id = nodes.column<std::int64_t>(OMEN_COLUMN_GRAPH_ID);
  const Kinds kinds(nodes);
  const Placement placement(nodes);
  const std::vector<double> sizes = tensor_sizes(nodes);
  std::unordered_map<std::int64_t, std::vector<std::int32_t>> places;  // of nodes; -1: left out
  for (std::int64_t row = 0; row < nodes.rows(); ++row) {
    OpRows& graph = graphs[id[row]];
    const bool kept = placement.keeps(id[row], row);
    places[id[row]].push_back(kept ? static_cast<std::int32_t>(graph.op.size()) : -1);
    if (!kept) continue;
    graph.op.push_back(kinds(row));
    graph.tensor_size.push_back(sizes[static_cast<std::size_t>(row)]);
  }
  if (!data.has(OMEN_TABLE_EDGES)) return graphs;
  const Table edges = data.table(OMEN_TABLE_EDGES);
  const Column<std::int64_t> of = edges.column<std::int64_t>(OMEN_COLUMN_GRAPH_ID);
  const Column<std::int32_t> src = edges.column<std::int32_t>(OMEN_COLUMN_SRC),
                             dst = edges.column<std::int32_t>(OMEN_COLUMN_DST);
  for (std::int64_t row = 0; row < edges.rows(); ++row) {
    const auto at = places.find(of[row]);
    const auto count = at == places.end() ? 0 : static_cast<std::int32_t>(at->second.size());
    if (src[row] < 0 || dst[row] < 0 || src[row] >= count || dst[row] >= count)
      throw Error(OMEN_INVALID_DATA,
                  "edge " + std::to_string(row) + " of graph " + std::to_string(of[row]) +
                      " leads to a node that is not there",
                  "Lower the job again with the front end that made the tables.");
    const std::int32_t from = at->second[static_cast<std::size_t>(src[row])],
                       to = at->second[static_cast<std::size_t>(dst[row])];
    if (from >= 0 && to >= 0) graphs[of[row]].edges.emplace_back(from, to);
  }
  return graphs;
}

OpFrequencies count_frequencies(const std::map<std::int64_t, OpRows>& graphs) {
  std::map<std::string, std::int64_t, std::less<>> counts;
  for (const auto& [id, graph] : graphs)
    for (const std::string& op : graph.op) ++counts[op];
  return OpFrequencies(counts);
}

const JobGraph* JobRows::find(std::size_t row) const {
  if (graph[row] < 0) return nullptr;
  const JobGraph& found = graphs[static_cast<std::size_t>(graph[row])];
  return found.grouped.size() == 0 ? nullptr : &found;
}

JobRows read_job_rows(const Dataset& data, const std::map<std::int64_t, OpRows>& graphs,
                      const OpFrequencies& frequencies, const Grouping& grouping,
                      const std::function<void(double)>& progress) {
  const Table workloads = data.table(OMEN_TABLE_WORKLOADS);
  const std::vector<double> named = workloads.numbers(learn::graph_id_column(workloads));
  const Column<std::int64_t> id = workloads.column<std::int64_t>(OMEN_COLUMN_WORKLOAD_ID);
  JobRows rows;
  rows.workload_id.assign(id.begin(), id.end());
  std::unordered_map<std::int64_t, std::int64_t> place;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto at = std::isfinite(named[row]) ? graphs.find(static_cast<std::int64_t>(named[row]))
                                              : graphs.end();
    if (at == graphs.end()) {
      rows.graph.push_back(-1);
      continue;
    }
    const auto [known, fresh] =
        place.emplace(at->first, static_cast<std::int64_t>(rows.graphs.size()));
    rows.graph.push_back(known->second);
    if (!fresh) continue;
    progress(static_cast<double>(row) / static_cast<double>(rows.size()));
    JobGraph job;
    std::vector<RawOp> ops;
    for (std::size_t i = 0; i < at->second.op.size(); ++i) {
      ops.push_back({at->second.tensor_size[i], frequencies.of(at->second.op[i])});
      job.unknown_kinds += frequencies.knows(at->second.op[i]) ? 0 : 1;
    }
    job.grouped = group_graph(ops, at->second.edges, grouping.groups, grouping.seed);
    for (const auto& feature : job.grouped.features) job.tensor_size += double(feature[0]);
    rows.graphs.push_back(std::move(job));
  }
  return rows;
}

std::vector<Label> read_labels(const Dataset& data, const JobRows& rows) {
  const Table table = data.table(OMEN_TABLE_TARGETS);
  std::unordered_map<std::int64_t, std::size_t> place;
  for (std::size_t row = 0; row < rows.size(); ++row) place.emplace(rows.workload_id[row], row);
  const Column<std::int64_t> id = table.column<std::int64_t>(OMEN_COLUMN_WORKLOAD_ID);
  std::vector<Label> labels;
  for (std::size_t column = 0; column < table.columns(); ++column) {
    const std::string name(table.name(column));
    if (name == OMEN_COLUMN_WORKLOAD_ID) continue;
    if (!is_number(table.type(column)))
      throw Error(OMEN_INVALID_DATA, "target '" + name + "' is not a number",
                  "Name numbers with --target, such as gpu_peak or exec_s.");
    Label label{name, table.metadata(column),
                std::vector<double>(rows.size(), std::numeric_limits<double>::quiet_NaN())};
    const std::vector<double> values = table.numbers(column);
    for (std::int64_t row = 0; row < table.rows(); ++row)
      if (const auto at = place.find(id[row]); at != place.end())
        label.value[at->second] = values[static_cast<std::size_t>(row)];
    labels.push_back(std::move(label));
  }
  if (labels.empty())
    throw Error(OMEN_INVALID_DATA, "there is no target to learn", "Name one with --target.");
  return labels;
}

}  // namespace omen::driple
