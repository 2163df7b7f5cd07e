// SPDX-License-Identifier: Apache-2.0
// The loops, compiled for the base instruction set and, on x86-64, once more for AVX2.
#include "nets/kernels.hpp"

#include <algorithm>

#include "omen/learn/instruction_sets.hpp"
#include "omen/torch/nn/exponential.hpp"

namespace omen::driple::kernels {
namespace {

using torch_kit::nn::kernels::exponential;
using torch_kit::nn::kernels::hyperbolic_tangent;
using torch_kit::nn::kernels::sigmoid;

OMEN_KERNEL_BODY void add_scaled(const float* __restrict x, float scale, std::int64_t count,
                                 float* __restrict to) {
  for (std::int64_t k = 0; k < count; ++k) to[k] += scale * x[k];
}

OMEN_KERNEL_BODY void sum_row(const RowRange& range, std::int64_t row, const float* x, float* to) {
  const NormalisedRows& a = *range.adjacency;
  const auto r = static_cast<std::size_t>(row);
  for (std::int32_t e = a.begin[r]; e < a.begin[r + 1]; ++e) {
    const auto slot = static_cast<std::size_t>(e);
    add_scaled(x + (a.neighbour[slot] - range.begin) * range.width, a.weight[slot], range.width,
               to);
  }
}

OMEN_KERNEL_BODY void aggregate_body(const RowRange& range, const float* x, float* to) {
  for (std::int64_t row = range.begin; row < range.end; ++row, to += range.width) {
    std::fill_n(to, range.width, 0.0F);
    sum_row(range, row, x, to);
  }
}

OMEN_KERNEL_BODY void aggregate_leaky_body(const RowRange& range, const float* x, const float* bias,
                                           float* to) {
  for (std::int64_t row = range.begin; row < range.end; ++row, to += range.width) {
    std::copy_n(bias, range.width, to);
    sum_row(range, row, x, to);
    for (std::int64_t k = 0; k < range.width; ++k) to[k] = to[k] > 0 ? to[k] : kLeak * to[k];
  }
}

OMEN_KERNEL_BODY void leaky_backward_body(const float* y, std::int64_t rows, std::int64_t width,
                                          float* grad, float* __restrict d_bias) {
  for (std::int64_t row = 0; row < rows; ++row, y += width, grad += width) {
    const float* __restrict out = y;
    float* __restrict g = grad;
    for (std::int64_t k = 0; k < width; ++k) {
      g[k] = out[k] > 0 ? g[k] : kLeak * g[k];
      d_bias[k] += g[k];
    }
  }
}

OMEN_KERNEL_BODY void lstm_body(const LstmRows& shape, float* gates, const float* cell,
                                float* next_cell, float* hidden) {
  const std::int64_t d = shape.width;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    float* __restrict g = gates + row * 4 * d;
    const float* __restrict c = cell + row * d;
    float* __restrict next = next_cell + row * d;
    float* __restrict h = hidden + row * shape.hidden_stride;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < d; ++k) {
      const float in = sigmoid(g[k]), forget = sigmoid(g[d + k]);
      const float fresh = hyperbolic_tangent(g[2 * d + k]), out = sigmoid(g[3 * d + k]);
      const float value = forget * c[k] + in * fresh;
      g[k] = in;
      g[d + k] = forget;
      g[2 * d + k] = fresh;
      g[3 * d + k] = out;
      next[k] = value;
      h[k] = out * hyperbolic_tangent(value);
    }
  }
}

OMEN_KERNEL_BODY void lstm_backward_body(const LstmRows& shape, const float* gates,
                                         const float* cell, const float* next_cell,
                                         const float* d_hidden, float* d_cell, float* d_gates) {
  const std::int64_t d = shape.width;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const float* __restrict g = gates + row * 4 * d;
    const float* __restrict c = cell + row * d;
    const float* __restrict next = next_cell + row * d;
    const float* __restrict dh = d_hidden + row * shape.hidden_stride;
    float* __restrict dc = d_cell + row * d;
    float* __restrict dg = d_gates + row * 4 * d;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < d; ++k) {
      const float in = g[k], forget = g[d + k], fresh = g[2 * d + k], out = g[3 * d + k];
      const float squashed = hyperbolic_tangent(next[k]);
      const float value = dc[k] + dh[k] * out * (1 - squashed * squashed);
      dg[k] = value * fresh * in * (1 - in);
      dg[d + k] = value * c[k] * forget * (1 - forget);
      dg[2 * d + k] = value * in * (1 - fresh * fresh);
      dg[3 * d + k] = dh[k] * squashed * out * (1 - out);
      dc[k] = value * forget;
    }
  }
}

// scores[i] = x_i . query, by columns so that nodes lie side by side.
OMEN_KERNEL_BODY void score(const Attended& graph, const float* query, float* scores) {
  std::fill_n(scores, graph.nodes, 0.0F);
  for (std::int64_t k = 0; k < graph.width; ++k)
    add_scaled(graph.transposed + k * graph.nodes, query[k], graph.nodes, scores);
}

OMEN_KERNEL_BODY void attend_body(const Attended& graph, const float* query, float* attention,
                                  float* read) {
  score(graph, query, attention);
  const float most = *std::max_element(attention, attention + graph.nodes);
  for (std::int64_t i = 0; i < graph.nodes; ++i) attention[i] = exponential(attention[i] - most);
  float sum = 0;
  for (std::int64_t i = 0; i < graph.nodes; ++i) sum += attention[i];
  std::fill_n(read, graph.width, 0.0F);
  for (std::int64_t i = 0; i < graph.nodes; ++i) {
    attention[i] /= sum;
    add_scaled(graph.x + i * graph.width, attention[i], graph.width, read);
  }
}

OMEN_KERNEL_BODY void attend_backward_body(const Attended& graph, const float* attention,
                                           const float* d_read, float* d_scores, float* d_query) {
  score(graph, d_read, d_scores);
  float mean = 0;
  for (std::int64_t i = 0; i < graph.nodes; ++i) mean += attention[i] * d_scores[i];
  for (std::int64_t i = 0; i < graph.nodes; ++i) {
    d_scores[i] = attention[i] * (d_scores[i] - mean);
    add_scaled(graph.x + i * graph.width, d_scores[i], graph.width, d_query);
  }
}

}  // namespace

void aggregate(const RowRange& range, const float* x, float* to) {
  OMEN_DISPATCH(aggregate_body(range, x, to));
}

void aggregate_leaky(const RowRange& range, const float* x, const float* bias, float* to) {
  OMEN_DISPATCH(aggregate_leaky_body(range, x, bias, to));
}

void leaky_backward(const float* y, std::int64_t rows, std::int64_t width, float* grad,
                    float* d_bias) {
  OMEN_DISPATCH(leaky_backward_body(y, rows, width, grad, d_bias));
}

void lstm(const LstmRows& shape, float* gates, const float* cell, float* next_cell, float* hidden) {
  OMEN_DISPATCH(lstm_body(shape, gates, cell, next_cell, hidden));
}

void lstm_backward(const LstmRows& shape, const float* gates, const float* cell,
                   const float* next_cell, const float* d_hidden, float* d_cell, float* d_gates) {
  OMEN_DISPATCH(lstm_backward_body(shape, gates, cell, next_cell, d_hidden, d_cell, d_gates));
}

void attend(const Attended& graph, const float* query, float* attention, float* read) {
  OMEN_DISPATCH(attend_body(graph, query, attention, read));
}

void attend_backward(const Attended& graph, const float* attention, const float* d_read,
                     float* d_scores, float* d_query) {
  OMEN_DISPATCH(attend_backward_body(graph, attention, d_read, d_scores, d_query));
}

}  // namespace omen::driple::kernels
