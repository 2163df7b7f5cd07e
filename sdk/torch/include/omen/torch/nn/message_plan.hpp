// SPDX-License-Identifier: Apache-2.0
// Which states send messages to which in one step of propagation, sorted once and without LibTorch.
#pragma once

#include <cstdint>
#include <vector>

namespace omen::torch_kit::nn {

// Edges of one graph, or of several side by side. Positions count among operands or successors.
struct TypedEdges {
  std::vector<std::int32_t> source, target, relation, position;

  void push(std::int32_t from, std::int32_t to, std::int32_t kind, std::int32_t at) {
    source.push_back(from);
    target.push_back(to);
    relation.push_back(kind);
    position.push_back(at);
  }
  std::size_t size() const noexcept { return source.size(); }
};

// The edges, followed by the same with their ends exchanged, whose relations stand behind the first
// `kinds`.
TypedEdges with_backward_edges(const TypedEdges& edges, std::int64_t kinds);

// Positions from here on share one gate, as the published networks have it.
inline constexpr std::int32_t kMaxPosition = 4095;

// One step from rows_in states to rows_out states. Only pairs (state, relation) with an edge are
// listed: on program graphs 2.8 of 6 for a node.
struct MessagePlan {
  std::int64_t rows_in = 0, rows_out = 0, relations = 0;
  std::vector<std::int32_t> previous;        // [rows_out] what a row continues; empty: its own row
  std::vector<std::int32_t> positions;       // distinct positions, ascending: one gate each
  std::vector<std::int64_t> relation_begin;  // [relations + 1] slices of senders
  std::vector<std::int32_t> senders;         // [pairs] a state that sends along the relation
  std::vector<std::int32_t> in_begin;        // [rows_out + 1] slices of in_pair and in_gate
  std::vector<std::int32_t> in_pair, in_gate;
  std::vector<std::int32_t> out_begin;  // [pairs + 1] slices of out_row and out_gate
  std::vector<std::int32_t> out_row, out_gate;
  std::vector<float> inverse_degree;  // [rows_out] 1 / incoming edges, 1 where there are none

  std::int64_t pairs() const noexcept { return static_cast<std::int64_t>(senders.size()); }
  std::int64_t edges() const noexcept { return static_cast<std::int64_t>(in_pair.size()); }
};

// Every node is a state before and after the step. OMEN_INVALID_DATA for an edge outside of the
// nodes or relations, or with a negative position.
MessagePlan plan_messages(const TypedEdges& edges, std::int64_t nodes, std::int64_t relations);

// Nodes that no number of steps so far can tell apart share one state (colour refinement): level 0
// has one row for each token, level t one for each kind of neighbourhood of depth t.
struct RefinedPlan {
  std::vector<std::int32_t> tokens;               // [rows of level 0]
  std::vector<MessagePlan> steps;                 // from level t to t + 1
  std::vector<std::vector<std::int32_t>> row_of;  // [levels][nodes] row of each node
};
RefinedPlan refine(const std::vector<std::int32_t>& tokens, const TypedEdges& edges,
                   std::int64_t relations, std::int64_t steps);

// The same number for graphs that no network of this many steps over tokens, relations and
// positions tells apart, whatever the order of their nodes and edges.
std::uint64_t network_digest(const std::vector<std::int32_t>& tokens, const TypedEdges& edges,
                             std::int64_t steps);

}  // namespace omen::torch_kit::nn
