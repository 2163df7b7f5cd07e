// SPDX-License-Identifier: Apache-2.0
// Edges of a graph (or a batch of graphs) as compressed rows in both directions, built once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

namespace omen::torch_kit {

/// One direction of an Adjacency: row r owns the slots offsets[r] .. offsets[r+1]-1.
/// All tensors are int64 and contiguous; E is the number of edges.
struct CompressedRows {
  at::Tensor offsets;     ///< [rows + 1], starts with 0, ends with E
  at::Tensor neighbours;  ///< [E] the node at the other end of each slot
  at::Tensor peer;        ///< [E] the slot of the same edge in the other direction
  at::Tensor edge;        ///< [E] the edge's number in the lists it was built from
  at::Tensor owners;      ///< [E] row of each slot; undefined on the CPU, where offsets serve
};

/// Directed multigraph from `sources` to `targets`, which may count different things: a typed
/// graph uses source row `node * kinds + kind`, a heterogeneous one two node sets.
///
/// Slot order is the order by target, ties in input order. Every per-edge tensor that a function
/// of this kit takes or returns is in slot order; edge_order() brings columns of the edge table
/// into it. Parallel edges and self loops are kept. Copies share their memory; immutable, so any
/// thread may read it.
class Adjacency {
 public:
  /// No nodes and no edges.
  Adjacency();

  /// Sorts the edges source[e] -> target[e] in O(edges + nodes). The lists are int32 or int64,
  /// on the CPU. Throws OMEN_INVALID_DATA when an end lies outside its range.
  static Adjacency from_edges(const at::Tensor& source, const at::Tensor& target,
                              std::int64_t num_sources, std::int64_t num_targets);

  /// Takes over rows that are sorted already. Only shapes are checked.
  static Adjacency from_rows(CompressedRows by_target, CompressedRows by_source);

  std::int64_t num_sources() const { return by_source().offsets.numel() - 1; }
  std::int64_t num_targets() const { return by_target().offsets.numel() - 1; }
  std::int64_t num_edges() const { return by_target().neighbours.numel(); }

  const CompressedRows& by_target() const { return *by_target_; }
  const CompressedRows& by_source() const { return *by_source_; }

  /// The source and the target of each slot, [E].
  const at::Tensor& sources() const { return by_target().neighbours; }
  at::Tensor targets() const;

  /// Number of the original edge in each slot: `column.index_select(0, adjacency.edge_order())`.
  const at::Tensor& edge_order() const { return by_target().edge; }

  /// Incoming (outgoing) edges of each target (source), [N] of the given floating type.
  at::Tensor in_degree(at::ScalarType type = at::kFloat) const;
  at::Tensor out_degree(at::ScalarType type = at::kFloat) const;

  /// The same edges with both ends exchanged; shares the memory of this object.
  Adjacency transposed() const { return Adjacency(by_source_, by_target_); }

  Adjacency to(at::Device device) const;

 private:
  using Rows = std::shared_ptr<const CompressedRows>;  // shared by transposed() and autograd nodes
  Adjacency(Rows by_target, Rows by_source);

  Rows by_target_;
  Rows by_source_;
};

/// Weights of a graph convolution, 1 / sqrt(in_degree(source) * in_degree(target)) per slot; put
/// self loops into the edge list first. Needs as many sources as targets.
/// Eq. 2 of arXiv:1609.02907.
at::Tensor gcn_weights(const Adjacency& adjacency, at::ScalarType type = at::kFloat);

}  // namespace omen::torch_kit
