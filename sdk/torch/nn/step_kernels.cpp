// SPDX-License-Identifier: Apache-2.0
// The loops, compiled for the base instruction set and, on x86-64, once more for AVX2.
#include "omen/torch/nn/step_kernels.hpp"

#include <algorithm>

#include "omen/learn/instruction_sets.hpp"
#include "omen/torch/nn/exponential.hpp"

namespace omen::torch_kit::nn::kernels {
namespace {

// A 32-bit mixing function with low bias, which vectorises.
OMEN_KERNEL_BODY std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

struct Mask {
  std::uint32_t seed, threshold;
  float scale;

  OMEN_KERNEL_BODY explicit Mask(Dropout d)
      : seed(mix(d.seed ^ 0x9e3779b9u)),
        threshold(static_cast<std::uint32_t>(static_cast<double>(d.p) * 4294967295.0)),
        scale(d.p < 1 ? 1 / (1 - d.p) : 0) {}
  OMEN_KERNEL_BODY float operator()(std::uint32_t place) const {
    return mix(place ^ seed) >= threshold ? scale : 0.0f;
  }
};

OMEN_KERNEL_BODY std::uint32_t place_of(std::int64_t row, std::int64_t width) {
  return static_cast<std::uint32_t>(row * width);
}

OMEN_KERNEL_BODY void gather_body(const float* from, const std::int32_t* rows, std::int64_t begin,
                                  std::int64_t end, std::int64_t width, Dropout dropout,
                                  float* __restrict to) {
  const Mask mask(dropout);
  for (std::int64_t i = begin; i < end; ++i, to += width) {
    const std::int64_t row = rows ? rows[i] : i;
    const float* __restrict x = from + row * width;
    if (dropout.p <= 0) {
      std::copy_n(x, width, to);
      continue;
    }
    const std::uint32_t place = place_of(row, width);
    for (std::int64_t k = 0; k < width; ++k)
      to[k] = x[k] * mask(place + static_cast<std::uint32_t>(k));
  }
}

OMEN_KERNEL_BODY void scatter_body(const float* __restrict from, const std::int32_t* rows,
                                   std::int64_t begin, std::int64_t end, std::int64_t width,
                                   Dropout dropout, float* to) {
  const Mask mask(dropout);
  for (std::int64_t i = begin; i < end; ++i, from += width) {
    const std::int64_t row = rows ? rows[i] : i;
    float* __restrict y = to + row * width;
    const std::uint32_t place = place_of(row, width);
    if (dropout.p <= 0)
      for (std::int64_t k = 0; k < width; ++k) y[k] += from[k];
    else
      for (std::int64_t k = 0; k < width; ++k)
        y[k] += from[k] * mask(place + static_cast<std::uint32_t>(k));
  }
}

OMEN_KERNEL_BODY void gated_mean_body(const MessagePlan& plan, const float* messages,
                                      const float* gates, std::int64_t width,
                                      float* __restrict to) {
  const std::int32_t* pair = plan.in_pair.data();
  const std::int32_t* gate = plan.in_gate.data();
  for (std::int64_t row = 0; row < plan.rows_out; ++row, to += width) {
    std::fill_n(to, width, 0.0f);
    const auto r = static_cast<std::size_t>(row);
    for (std::int32_t e = plan.in_begin[r]; e < plan.in_begin[r + 1]; ++e) {
      const float* __restrict m = messages + pair[e] * width;
      if (gates) {
        const float* __restrict g = gates + gate[e] * width;
        for (std::int64_t k = 0; k < width; ++k) to[k] += m[k] * g[k];
      } else {
        for (std::int64_t k = 0; k < width; ++k) to[k] += m[k];
      }
    }
    const float scale = plan.inverse_degree[r];
    if (scale != 1)
      for (std::int64_t k = 0; k < width; ++k) to[k] *= scale;
  }
}

OMEN_KERNEL_BODY void gated_mean_backward_body(const MessagePlan& plan, const float* grad,
                                               const float* messages, const float* gates,
                                               std::int64_t begin, std::int64_t end,
                                               std::int64_t width, float* to, float* grad_gates) {
  const std::int32_t* receiver = plan.out_row.data();
  const std::int32_t* gate = plan.out_gate.data();
  for (std::int64_t pair = begin; pair < end; ++pair, to += width) {
    std::fill_n(to, width, 0.0f);
    float* __restrict y = to;
    const float* __restrict m = messages + pair * width;
    const auto p = static_cast<std::size_t>(pair);
    for (std::int32_t e = plan.out_begin[p]; e < plan.out_begin[p + 1]; ++e) {
      const float scale = plan.inverse_degree[static_cast<std::size_t>(receiver[e])];
      const float* __restrict x = grad + receiver[e] * width;
      if (gates) {
        const float* __restrict g = gates + gate[e] * width;
        float* __restrict dg = grad_gates + gate[e] * width;
        for (std::int64_t k = 0; k < width; ++k) {
          const float v = x[k] * scale;
          y[k] += v * g[k];
          dg[k] += v * m[k];
        }
      } else {
        for (std::int64_t k = 0; k < width; ++k) y[k] += x[k] * scale;
      }
    }
  }
}

struct GruUnit {
  float reset, update, fresh, state;
};

OMEN_KERNEL_BODY GruUnit gru_unit(const float* __restrict x, const float* __restrict h,
                                  const float* __restrict s, std::int64_t d, std::int64_t k) {
  const float reset = sigmoid(x[k] + h[k]);
  const float update = sigmoid(x[d + k] + h[d + k]);
  const float fresh = hyperbolic_tangent(x[2 * d + k] + reset * h[2 * d + k]);
  return {reset, update, fresh, fresh + update * (s[k] - fresh)};
}

OMEN_KERNEL_BODY void gru_body(const GruRows& shape, const float* input, const float* hidden,
                               const float* state, float* to, float* kept) {
  const std::int64_t d = shape.width;
  const Mask mask(shape.dropout);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const float* __restrict x = input + row * 3 * d;
    const float* __restrict h = hidden + row * 3 * d;
    const float* __restrict s = state + row * d;
    float* __restrict y = to + row * d;
    float* __restrict keep = kept ? kept + row * 4 * d : nullptr;
    const std::uint32_t place = place_of(shape.first_row + row, d);
    if (!keep) {
      for (std::int64_t k = 0; k < d; ++k) y[k] = gru_unit(x, h, s, d, k).state;
    } else {
// Rows do not overlap, which the compiler cannot see for this many of them.
#pragma GCC ivdep
      for (std::int64_t k = 0; k < d; ++k) {
        const GruUnit unit = gru_unit(x, h, s, d, k);
        y[k] = unit.state;
        keep[k] = unit.reset;
        keep[d + k] = unit.update;
        keep[2 * d + k] = unit.fresh;
        keep[3 * d + k] = h[2 * d + k];
      }
    }
    if (shape.dropout.p > 0)
      for (std::int64_t k = 0; k < d; ++k) y[k] *= mask(place + static_cast<std::uint32_t>(k));
  }
}

OMEN_KERNEL_BODY void gru_backward_body(const GruRows& shape, const float* grad, const float* kept,
                                        const float* state, float* grad_input, float* grad_hidden,
                                        float* grad_state) {
  const std::int64_t d = shape.width;
  const Mask mask(shape.dropout);
  const bool drops = shape.dropout.p > 0;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const float* __restrict g = grad + row * d;
    const float* __restrict keep = kept + row * 4 * d;
    const float* __restrict s = state + row * d;
    float* __restrict dx = grad_input + row * 3 * d;
    float* __restrict dh = grad_hidden + row * 3 * d;
    float* __restrict ds = grad_state + row * d;
    const std::uint32_t place = place_of(shape.first_row + row, d);
    if (drops)
      for (std::int64_t k = 0; k < d; ++k)
        ds[k] = g[k] * mask(place + static_cast<std::uint32_t>(k));
    else
      std::copy_n(g, d, ds);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < d; ++k) {
      const float reset = keep[k], update = keep[d + k], fresh = keep[2 * d + k];
      const float d_new = ds[k] * (1 - update) * (1 - fresh * fresh);
      dx[k] = d_new * keep[3 * d + k] * reset * (1 - reset);
      dx[d + k] = ds[k] * (s[k] - fresh) * update * (1 - update);
      dx[2 * d + k] = d_new;
      ds[k] *= update;
    }
    std::copy_n(dx, 2 * d, dh);
    for (std::int64_t k = 0; k < d; ++k) dh[2 * d + k] = dx[2 * d + k] * keep[k];
  }
}

OMEN_KERNEL_BODY void add_column_sums_body(const float* from, std::int64_t rows, std::int64_t width,
                                           float* __restrict to) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < width; ++k) to[k] += from[row * width + k];
}

}  // namespace

void gather(const float* from, const std::int32_t* rows, std::int64_t begin, std::int64_t end,
            std::int64_t width, Dropout dropout, float* to) {
  OMEN_DISPATCH(gather_body(from, rows, begin, end, width, dropout, to));
}

void scatter_add(const float* from, const std::int32_t* rows, std::int64_t begin, std::int64_t end,
                 std::int64_t width, Dropout dropout, float* to) {
  OMEN_DISPATCH(scatter_body(from, rows, begin, end, width, dropout, to));
}

void gated_mean(const MessagePlan& plan, const float* messages, const float* gates,
                std::int64_t width, float* to) {
  OMEN_DISPATCH(gated_mean_body(plan, messages, gates, width, to));
}

void gated_mean_backward(const MessagePlan& plan, const float* grad, const float* messages,
                         const float* gates, std::int64_t begin, std::int64_t end,
                         std::int64_t width, float* to, float* grad_gates) {
  OMEN_DISPATCH(
      gated_mean_backward_body(plan, grad, messages, gates, begin, end, width, to, grad_gates));
}

void gru(const GruRows& shape, const float* input, const float* hidden, const float* state,
         float* to, float* kept) {
  OMEN_DISPATCH(gru_body(shape, input, hidden, state, to, kept));
}

void gru_backward(const GruRows& shape, const float* grad, const float* kept, const float* state,
                  float* grad_input, float* grad_hidden, float* grad_state) {
  OMEN_DISPATCH(gru_backward_body(shape, grad, kept, state, grad_input, grad_hidden, grad_state));
}

void add_column_sums(const float* from, std::int64_t rows, std::int64_t width, float* to) {
  OMEN_DISPATCH(add_column_sums_body(from, rows, width, to));
}

}  // namespace omen::torch_kit::nn::kernels
