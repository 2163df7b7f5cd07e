// SPDX-License-Identifier: Apache-2.0
// One sort over all graphs; a batch is slices of it with shifted numbers.
#include "omen/torch/graph_batch.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "omen/error.hpp"
#include "omen/torch/columns.hpp"

namespace omen::torch_kit {
namespace {

constexpr std::int64_t kNoEdgeRow = -1;

at::Tensor long_tensor(std::int64_t n) {
  return at::empty({n}, at::TensorOptions().dtype(at::kLong));
}

at::Tensor long_tensor(const std::vector<std::int64_t>& values) {
  at::Tensor t = long_tensor(static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<std::int64_t>());
  return t;
}

const std::int64_t* data(const at::Tensor& t) {
  return t.const_data_ptr<std::int64_t>();
}
std::int64_t* mutable_data(at::Tensor& t) {
  return t.mutable_data_ptr<std::int64_t>();
}

[[noreturn]] void bad_row(const char* table, std::int64_t row, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, std::string(table) + " row " + std::to_string(row) + ": " + what,
              "sort nodes and edges by graph_id and number nodes from 0 in each graph");
}

/// Number of each edge kind of the table, by row.
class KindReader {
 public:
  KindReader(const Table& edges, const std::vector<std::string>& kinds) {
    if (kinds.empty()) return;
    ids_ = Vocabulary(kinds).ids(edges.strings("kind"));
    const std::int64_t* id = data(ids_);
    for (std::int64_t row = 0; row < edges.rows(); ++row)
      if (id[row] == static_cast<std::int64_t>(kinds.size()))
        bad_row("edges", row,
                "kind '" + std::string(edges.strings("kind")[row]) + "' is not known");
  }
  std::int64_t operator[](std::int64_t row) const { return ids_.defined() ? data(ids_)[row] : 0; }

 private:
  at::Tensor ids_;
};

std::vector<std::int64_t> positions(const Table& edges) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(edges.rows()), 0);
  if (!edges.has("position")) return out;
  const Column<std::int32_t> column = edges.column<std::int32_t>("position");
  for (std::int64_t row = 0; row < edges.rows(); ++row)
    if (!column.is_null(row)) out[static_cast<std::size_t>(row)] = column[row];
  return out;
}

/// Appends slices of a long tensor, each value shifted.
class SliceWriter {
 public:
  explicit SliceWriter(std::int64_t total) : out_(long_tensor(total)), next_(mutable_data(out_)) {}
  void append(const at::Tensor& from, std::int64_t begin, std::int64_t end, std::int64_t shift) {
    const std::int64_t* in = data(from);
    next_ = std::transform(in + begin, in + end, next_, [=](std::int64_t v) { return v + shift; });
  }
  void push(std::int64_t value) { *next_++ = value; }
  at::Tensor take() { return std::move(out_); }

 private:
  at::Tensor out_;
  std::int64_t* next_;
};

/// What one graph owns in one direction, and where it goes in the batch.
struct Slice {
  std::int64_t first_row, rows, first_slot, slots;
  std::int64_t to_slot;          ///< first slot in the batch
  std::int64_t neighbour_shift;  ///< between node numbers of the set and of the batch
};

CompressedRows cut(const CompressedRows& rows, const std::vector<Slice>& slices) {
  std::int64_t row_count = 0;
  std::int64_t slot_count = 0;
  for (const Slice& s : slices) {
    row_count += s.rows;
    slot_count += s.slots;
  }
  SliceWriter offsets(row_count + 1), neighbours(slot_count), peer(slot_count), edge(slot_count);
  offsets.push(0);
  for (const Slice& s : slices) {
    const std::int64_t end = s.first_slot + s.slots;
    const std::int64_t slot_shift = s.to_slot - s.first_slot;
    offsets.append(rows.offsets, s.first_row + 1, s.first_row + s.rows + 1, slot_shift);
    neighbours.append(rows.neighbours, s.first_slot, end, s.neighbour_shift);
    // Both directions of a graph own the same number of slots, which begin at the same place.
    peer.append(rows.peer, s.first_slot, end, slot_shift);
    edge.append(rows.edge, s.first_slot, end, 0);
  }
  return {offsets.take(), neighbours.take(), peer.take(), edge.take(), {}};
}

at::Tensor cut_slots(const at::Tensor& per_slot, const std::vector<Slice>& slices) {
  std::int64_t total = 0;
  for (const Slice& s : slices) total += s.slots;
  SliceWriter out(total);
  for (const Slice& s : slices) out.append(per_slot, s.first_slot, s.first_slot + s.slots, 0);
  return out.take();
}

bool consecutive(const std::vector<std::int64_t>& graphs) {
  for (std::size_t i = 1; i < graphs.size(); ++i)
    if (graphs[i] != graphs[i - 1] + 1) return false;
  return true;
}

}  // namespace

// ------------------------------------------------------------------------------------- reading

/// Edges of all graphs in table order, with node numbers over the whole nodes table.
struct GraphSet::EdgeLists {
  std::vector<std::int64_t> source, target, relation, position, row;

  void push(std::int64_t from, std::int64_t to, std::int64_t rel, std::int64_t pos,
            std::int64_t r) {
    source.push_back(from);
    target.push_back(to);
    relation.push_back(rel);
    position.push_back(pos);
    row.push_back(r);
  }
};

GraphSet::GraphSet(const Table& nodes, const Table& edges, const GraphOptions& options) {
  const auto kinds = std::max<std::int64_t>(1, static_cast<std::int64_t>(options.kinds.size()));
  relations_ = kinds * (options.reverse ? 2 : 1) + (options.self_loops ? 1 : 0);
  source_stride_ = options.typed ? relations_ : 1;
  read_nodes(nodes);
  if (nodes.has(options.feature_column)) features_ = column_tensor(nodes, options.feature_column);
  EdgeLists lists = read_edges(edges, options);
  if (options.self_loops) add_self_loops(lists);
  sort_edges(std::move(lists), options);
}

void GraphSet::read_nodes(const Table& nodes) {
  const Column<std::int64_t> graph = nodes.column<std::int64_t>("graph_id");
  const Column<std::int32_t> node = nodes.column<std::int32_t>("node_id");
  for (std::int64_t row = 0; row < nodes.rows(); ++row) {
    if (row == 0 || graph[row] != graph[row - 1]) {
      if (row > 0 && graph[row] < graph[row - 1])
        bad_row("nodes", row,
                "graph " + std::to_string(graph[row]) + " after graph " +
                    std::to_string(graph[row - 1]));
      number_.emplace(graph[row], size());
      ids_.push_back(graph[row]);
      node_begin_.push_back(row);
    }
    if (node[row] != row - node_begin_.back())
      bad_row("nodes", row,
              "node_id is " + std::to_string(node[row]) + ", expected " +
                  std::to_string(row - node_begin_.back()));
  }
  node_begin_.push_back(nodes.rows());
}

GraphSet::EdgeLists GraphSet::read_edges(const Table& edges, const GraphOptions& options) const {
  EdgeLists lists;
  if (edges.rows() == 0) return lists;
  const Column<std::int64_t> graph = edges.column<std::int64_t>("graph_id");
  const Column<std::int32_t> source = edges.column<std::int32_t>("src");
  const Column<std::int32_t> target = edges.column<std::int32_t>("dst");
  const KindReader kind(edges, options.kinds);
  const std::vector<std::int64_t> position = positions(edges);
  const auto kinds = std::max<std::int64_t>(1, static_cast<std::int64_t>(options.kinds.size()));
  std::int64_t number = 0;
  for (std::int64_t row = 0; row < edges.rows(); ++row) {
    if (row > 0 && graph[row] < graph[row - 1])
      bad_row(
          "edges", row,
          "graph " + std::to_string(graph[row]) + " after graph " + std::to_string(graph[row - 1]));
    if (row == 0 || graph[row] != graph[row - 1]) {
      const auto found = find(graph[row]);
      if (!found) bad_row("edges", row, "graph " + std::to_string(graph[row]) + " has no nodes");
      number = *found;
    }
    const std::int64_t count = nodes(number);
    for (const std::int64_t end : {source[row], target[row]})
      if (end < 0 || end >= count)
        bad_row("edges", row, "node " + std::to_string(end) + " of " + std::to_string(count));
    const std::int64_t base = node_begin_[static_cast<std::size_t>(number)];
    const std::int64_t pos = position[static_cast<std::size_t>(row)];
    lists.push(base + source[row], base + target[row], kind[row], pos, row);
    if (options.reverse)
      lists.push(base + target[row], base + source[row], kinds + kind[row], pos, row);
  }
  return lists;
}

void GraphSet::add_self_loops(EdgeLists& lists) const {
  std::vector<bool> has_loop(static_cast<std::size_t>(total_nodes()), false);
  for (std::size_t e = 0; e < lists.source.size(); ++e)
    if (lists.source[e] == lists.target[e])
      has_loop[static_cast<std::size_t>(lists.source[e])] = true;
  for (std::int64_t node = 0; node < total_nodes(); ++node)
    if (!has_loop[static_cast<std::size_t>(node)])
      lists.push(node, node, relations_ - 1, 0, kNoEdgeRow);
}

void GraphSet::sort_edges(EdgeLists lists, const GraphOptions& options) {
  if (options.typed)
    for (std::size_t e = 0; e < lists.source.size(); ++e)
      lists.source[e] = lists.source[e] * source_stride_ + lists.relation[e];
  const std::int64_t sources = total_nodes() * source_stride_;
  at::Tensor source = long_tensor(lists.source);
  at::Tensor target = long_tensor(lists.target);
  at::Tensor number;  // of the kept edges in the lists; undefined: all of them
  adjacency_ = Adjacency::from_edges(source, target, sources, total_nodes());
  if (options.unique) {
    std::vector<std::int64_t> last_target(static_cast<std::size_t>(sources), -1);
    std::vector<std::int64_t> kept;
    const std::int64_t* from = data(adjacency_.sources());
    const std::int64_t* edge = data(adjacency_.edge_order());
    for (std::int64_t slot = 0; slot < adjacency_.num_edges(); ++slot) {
      const std::int64_t to = lists.target[static_cast<std::size_t>(edge[slot])];
      if (std::exchange(last_target[static_cast<std::size_t>(from[slot])], to) != to)
        kept.push_back(edge[slot]);
    }
    number = long_tensor(kept);
    source = source.index_select(0, number);
    target = target.index_select(0, number);
    adjacency_ = Adjacency::from_edges(source, target, sources, total_nodes());
  }
  const at::Tensor order =
      number.defined() ? number.index_select(0, adjacency_.edge_order()) : adjacency_.edge_order();
  relation_ = long_tensor(lists.relation).index_select(0, order);
  position_ = long_tensor(lists.position).index_select(0, order);
  edge_rows_ = long_tensor(lists.row).index_select(0, order);
}

// ------------------------------------------------------------------------------------ batching

std::optional<std::int64_t> GraphSet::find(std::int64_t graph_id) const {
  const auto at = number_.find(graph_id);
  return at == number_.end() ? std::nullopt : std::optional(at->second);
}

std::int64_t GraphSet::nodes(std::int64_t graph) const {
  const auto g = static_cast<std::size_t>(graph);
  return node_begin_[g + 1] - node_begin_[g];
}

std::int64_t GraphSet::edges(std::int64_t graph) const {
  const std::int64_t* offsets = data(adjacency_.by_target().offsets);
  const auto g = static_cast<std::size_t>(graph);
  return offsets[node_begin_[g + 1]] - offsets[node_begin_[g]];
}

std::vector<std::int64_t> GraphSet::edge_counts() const {
  std::vector<std::int64_t> counts;
  for (std::int64_t g = 0; g < size(); ++g) counts.push_back(edges(g));
  return counts;
}

Batch GraphSet::batch(const std::vector<std::int64_t>& graphs) const {
  Batch out;
  out.graphs = static_cast<std::int64_t>(graphs.size());
  std::vector<std::int64_t> offsets = {0};
  std::vector<Slice> by_target, by_source;
  const std::int64_t* slots = data(adjacency_.by_target().offsets);
  std::int64_t to_slot = 0;
  for (const std::int64_t graph : graphs) {
    if (graph < 0 || graph >= size())
      throw Error(OMEN_INVALID_ARGUMENT,
                  "graph " + std::to_string(graph) + " of " + std::to_string(size()));
    const std::int64_t first = node_begin_[static_cast<std::size_t>(graph)];
    const std::int64_t count = nodes(graph);
    const std::int64_t shift = out.nodes - first;
    const Slice slice{first, count, slots[first], edges(graph), to_slot, shift * source_stride_};
    by_target.push_back(slice);
    by_source.push_back({first * source_stride_, count * source_stride_, slice.first_slot,
                         slice.slots, to_slot, shift});
    to_slot += slice.slots;
    out.nodes += count;
    offsets.push_back(out.nodes);
  }
  out.graph_offsets = long_tensor(offsets);
  out.adjacency = Adjacency::from_rows(cut(adjacency_.by_target(), by_target),
                                       cut(adjacency_.by_source(), by_source));
  out.relation = cut_slots(relation_, by_target);
  out.position = cut_slots(position_, by_target);
  out.edge_rows = cut_slots(edge_rows_, by_target);
  if (consecutive(graphs)) {
    out.first_node_row = by_target.empty() ? 0 : by_target.front().first_row;
  } else {
    std::vector<std::int64_t> rows;
    for (const Slice& s : by_target)
      for (std::int64_t r = 0; r < s.rows; ++r) rows.push_back(s.first_row + r);
    out.node_rows = long_tensor(rows);
  }
  if (features_.defined()) out.features = out.select_nodes(features_);
  return out;
}

Batch GraphSet::all() const {
  Batch out;
  out.graphs = size();
  out.nodes = total_nodes();
  out.graph_offsets = long_tensor(node_begin_);
  out.features = features_;
  out.adjacency = adjacency_;
  out.relation = relation_;
  out.position = position_;
  out.edge_rows = edge_rows_;
  return out;
}

at::Tensor Batch::select_nodes(const at::Tensor& per_node) const {
  return node_rows.defined() ? per_node.index_select(0, node_rows)
                             : per_node.narrow(0, first_node_row, nodes);
}

Batch Batch::to(at::Device device) const {
  Batch out = *this;
  out.adjacency = adjacency.to(device);
  for (at::Tensor* t : {&out.graph_offsets, &out.features, &out.relation, &out.position,
                        &out.edge_rows, &out.node_rows})
    if (t->defined()) *t = t->to(device);
  return out;
}

}  // namespace omen::torch_kit
