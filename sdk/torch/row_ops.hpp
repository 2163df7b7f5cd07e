// SPDX-License-Identifier: Apache-2.0
// Sums over compressed rows and segments without gradients; message_passing.cpp adds those.
#pragma once

#include <ATen/core/Tensor.h>

#include "omen/torch/adjacency.hpp"

namespace omen::torch_kit::row_ops {

/// 1 for weights that are undefined or [E].
std::int64_t head_count(const at::Tensor& weights);

/// y[r] = sum of weights * x[neighbours] over the slots of row r; weights as in aggregate_sum.
at::Tensor sum_rows(const CompressedRows& rows, const at::Tensor& x, const at::Tensor& weights);
at::Tensor mean_rows(const CompressedRows& rows, const at::Tensor& x);

/// 1 / slots of each row, at least one slot assumed.
at::Tensor inverse_degree(const CompressedRows& rows, at::ScalarType type);

/// [slots, heads] dot products of the row of each slot and its neighbour.
at::Tensor dot_rows(const CompressedRows& rows, const at::Tensor& row_side,
                    const at::Tensor& neighbour_side, std::int64_t heads);

/// Contiguous tensors; weights [slots] may be undefined.
struct Gated {
  CompressedRows rows;
  at::Tensor x, weights, gates, gate;
};
at::Tensor gated_sum(const Gated& in);
at::Tensor gates_gradient(const Gated& in, const at::Tensor& grad);

at::Tensor sum_segments(const at::Tensor& x, const at::Tensor& offsets);
at::Tensor expand_segments(const at::Tensor& x, const at::Tensor& offsets, std::int64_t total);
at::Tensor softmax_segments(const at::Tensor& x, const at::Tensor& offsets);

/// Row of the first maximum of each column, any valid row for an empty segment; needs a row.
at::Tensor first_maximum(const at::Tensor& x, const at::Tensor& offsets);

}  // namespace omen::torch_kit::row_ops
