// SPDX-License-Identifier: Apache-2.0
// Loops of the published networks on plain memory; LibTorch multiplies the matrices around them.
#pragma once

#include <cstdint>

#include "nets/group_batch.hpp"

namespace omen::driple::kernels {

inline constexpr float kLeak = 0.01F;  // slope of leaky ReLUs below 0

// Rows [begin, end) of the normalised adjacency times x; `to` and `x` start at row `begin` and hold
// `width` numbers a row. No edge leaves the range.
struct RowRange {
  const NormalisedRows* adjacency;
  std::int64_t begin, end, width;
};
void aggregate(const RowRange& range, const float* x, float* to);
// The same with a bias behind it and a leaky ReLU over it.
void aggregate_leaky(const RowRange& range, const float* x, const float* bias, float* to);
// grad *= slope of the leaky ReLU that gave y; its column sums are added to d_bias.
void leaky_backward(const float* y, std::int64_t rows, std::int64_t width, float* grad,
                    float* d_bias);

// One step of a long short-term memory with LibTorch's order of gates: in, forget, new, out.
// `gates` holds [rows, 4 width] sums and is replaced by the gates themselves. Rows of `hidden` are
// `hidden_stride` numbers apart.
struct LstmRows {
  std::int64_t rows, width, hidden_stride;
};
void lstm(const LstmRows& shape, float* gates, const float* cell, float* next_cell, float* hidden);
// From the gradients of hidden and of the next cell to those of the gates' sums and of the cell,
// which takes the place of that of the next one.
void lstm_backward(const LstmRows& shape, const float* gates, const float* cell,
                   const float* next_cell, const float* d_hidden, float* d_cell, float* d_gates);

// Attention of one query to the nodes of a graph: a = softmax(x q), r = a x. `x` is [nodes, width],
// `transposed` the same as [width, nodes].
struct Attended {
  std::int64_t nodes, width;
  const float* x;
  const float* transposed;
};
void attend(const Attended& graph, const float* query, float* attention, float* read);
// From the gradient of what was read to those of the scores, and of the query (added).
void attend_backward(const Attended& graph, const float* attention, const float* d_read,
                     float* d_scores, float* d_query);

}  // namespace omen::driple::kernels
