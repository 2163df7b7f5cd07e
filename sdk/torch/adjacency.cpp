// SPDX-License-Identifier: Apache-2.0
// Builds compressed rows in both directions with two counting sorts.
#include "omen/torch/adjacency.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/repeat_interleave.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "omen/error.hpp"

namespace omen::torch_kit {
namespace {

at::Tensor longs(std::int64_t n) {
  return at::empty({n}, at::TensorOptions().dtype(at::kLong));
}

at::Tensor as_index(const at::Tensor& list, const char* what, std::int64_t bound) {
  const bool integral = list.scalar_type() == at::kInt || list.scalar_type() == at::kLong;
  if (list.dim() != 1 || !integral || !list.device().is_cpu())
    throw Error(OMEN_INVALID_ARGUMENT,
                std::string(what) + " list is not int32 or int64 [edges] on the cpu");
  at::Tensor index = list.to(at::kLong).contiguous();
  const std::int64_t* at = index.const_data_ptr<std::int64_t>();
  for (std::int64_t e = 0; e < index.numel(); ++e) {
    if (at[e] < 0 || at[e] >= bound)
      throw Error(OMEN_INVALID_DATA,
                  "edge " + std::to_string(e) + " has " + what + " " + std::to_string(at[e]) +
                      ", allowed 0.." + std::to_string(bound - 1),
                  "number the nodes of each graph from 0");
  }
  return index;
}

/// Offsets of the rows, and for each slot the edge in it; stable in the order of edges.
void counting_sort(const std::int64_t* row_of_edge, std::int64_t edges, std::int64_t rows,
                   std::int64_t* offsets, std::int64_t* edge_of_slot) {
  std::fill_n(offsets, rows + 1, 0);
  for (std::int64_t e = 0; e < edges; ++e) ++offsets[row_of_edge[e] + 1];
  std::partial_sum(offsets, offsets + rows + 1, offsets);
  std::vector<std::int64_t> next(offsets, offsets + rows);
  for (std::int64_t e = 0; e < edges; ++e) edge_of_slot[next[row_of_edge[e]]++] = e;
}

CompressedRows sort_rows(const at::Tensor& rows, const at::Tensor& others, std::int64_t count) {
  const std::int64_t edges = rows.numel();
  CompressedRows out{longs(count + 1), longs(edges), longs(edges), longs(edges), {}};
  std::int64_t* edge = out.edge.mutable_data_ptr<std::int64_t>();
  counting_sort(rows.const_data_ptr<std::int64_t>(), edges, count,
                out.offsets.mutable_data_ptr<std::int64_t>(), edge);
  const std::int64_t* other = others.const_data_ptr<std::int64_t>();
  std::int64_t* neighbour = out.neighbours.mutable_data_ptr<std::int64_t>();
  for (std::int64_t s = 0; s < edges; ++s) neighbour[s] = other[edge[s]];
  return out;
}

void link_peers(CompressedRows& a, CompressedRows& b) {
  const std::int64_t edges = a.edge.numel();
  std::vector<std::int64_t> slot_in_b(static_cast<std::size_t>(edges));
  const std::int64_t* edge_b = b.edge.const_data_ptr<std::int64_t>();
  for (std::int64_t s = 0; s < edges; ++s) slot_in_b[edge_b[s]] = s;
  const std::int64_t* edge_a = a.edge.const_data_ptr<std::int64_t>();
  std::int64_t* peer_a = a.peer.mutable_data_ptr<std::int64_t>();
  std::int64_t* peer_b = b.peer.mutable_data_ptr<std::int64_t>();
  for (std::int64_t s = 0; s < edges; ++s) {
    peer_a[s] = slot_in_b[edge_a[s]];
    peer_b[peer_a[s]] = s;
  }
}

void check_rows(const CompressedRows& rows, const CompressedRows& other) {
  const auto is_index = [](const at::Tensor& t, std::int64_t n) {
    return t.defined() && t.dim() == 1 && t.scalar_type() == at::kLong && t.is_contiguous() &&
           t.numel() == n;
  };
  const std::int64_t edges = other.neighbours.defined() ? other.neighbours.numel() : -1;
  if (!rows.offsets.defined() ||
      !is_index(rows.offsets, std::max<std::int64_t>(rows.offsets.numel(), 1)) ||
      !is_index(rows.neighbours, edges) || !is_index(rows.peer, edges) ||
      !is_index(rows.edge, edges))
    throw Error(OMEN_INVALID_ARGUMENT,
                "compressed rows are not contiguous int64 of one edge count");
}

at::Tensor owners_of(const CompressedRows& rows) {
  if (rows.owners.defined()) return rows.owners;
  return at::repeat_interleave(at::diff(rows.offsets), std::optional(rows.neighbours.numel()));
}

CompressedRows move_rows(const CompressedRows& rows, at::Device device) {
  CompressedRows out{rows.offsets.to(device),
                     rows.neighbours.to(device),
                     rows.peer.to(device),
                     rows.edge.to(device),
                     {}};
  if (!device.is_cpu()) out.owners = owners_of(rows).to(device);
  return out;
}

}  // namespace

Adjacency::Adjacency(Rows by_target, Rows by_source)
    : by_target_(std::move(by_target)), by_source_(std::move(by_source)) {}

Adjacency::Adjacency() : Adjacency(from_edges(longs(0), longs(0), 0, 0)) {}

Adjacency Adjacency::from_edges(const at::Tensor& source, const at::Tensor& target,
                                std::int64_t num_sources, std::int64_t num_targets) {
  if (source.numel() != target.numel())
    throw Error(OMEN_INVALID_ARGUMENT, std::to_string(source.numel()) + " edge sources for " +
                                           std::to_string(target.numel()) + " edge targets");
  const at::Tensor from = as_index(source, "source", num_sources);
  const at::Tensor to = as_index(target, "target", num_targets);
  auto by_target = std::make_shared<CompressedRows>(sort_rows(to, from, num_targets));
  auto by_source = std::make_shared<CompressedRows>(sort_rows(from, to, num_sources));
  link_peers(*by_target, *by_source);
  return Adjacency(std::move(by_target), std::move(by_source));
}

Adjacency Adjacency::from_rows(CompressedRows by_target, CompressedRows by_source) {
  check_rows(by_target, by_source);
  check_rows(by_source, by_target);
  return Adjacency(std::make_shared<CompressedRows>(std::move(by_target)),
                   std::make_shared<CompressedRows>(std::move(by_source)));
}

at::Tensor Adjacency::targets() const {
  return owners_of(by_target());
}

at::Tensor Adjacency::in_degree(at::ScalarType type) const {
  return at::diff(by_target().offsets).to(type);
}

at::Tensor Adjacency::out_degree(at::ScalarType type) const {
  return at::diff(by_source().offsets).to(type);
}

Adjacency Adjacency::to(at::Device device) const {
  if (by_target().offsets.device() == device) return *this;
  return from_rows(move_rows(by_target(), device), move_rows(by_source(), device));
}

at::Tensor gcn_weights(const Adjacency& adjacency, at::ScalarType type) {
  if (adjacency.num_sources() != adjacency.num_targets())
    throw Error(OMEN_INVALID_ARGUMENT, "graph convolution weights need one node set, not " +
                                           std::to_string(adjacency.num_sources()) +
                                           " sources and " +
                                           std::to_string(adjacency.num_targets()) + " targets");
  // A source without incoming edges has no finite weight; 1 keeps its message as it is.
  const at::Tensor scale = adjacency.in_degree(type).clamp_min(1).rsqrt();
  return scale.index_select(0, adjacency.sources()) * scale.index_select(0, adjacency.targets());
}

}  // namespace omen::torch_kit
