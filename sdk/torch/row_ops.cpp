// SPDX-License-Identifier: Apache-2.0
// float32 and float64 on the CPU run our kernels or the embedding bag, all else ATen's index ops.
#include "row_ops.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_embedding_bag_forward_only.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "kernels.hpp"

namespace omen::torch_kit::row_ops {
namespace {

constexpr std::int64_t kSumMode = 0;      // of ATen's embedding_bag
constexpr std::int64_t kMeanMode = 1;     // of ATen's embedding_bag
constexpr std::int64_t kGrain = 1 << 15;  // numbers that are worth a second thread
constexpr double kLowest = -std::numeric_limits<double>::infinity();

bool has_kernel(const at::Tensor& x) {
  return x.device().is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble);
}

template <class Body>
void for_float_type(const at::Tensor& x, const Body& body) {
  if (x.scalar_type() == at::kFloat)
    body(float{});
  else
    body(double{});
}

/// Splits `rows` that touch `numbers` values in all among the threads of the budget.
template <class Body>
void for_rows(std::int64_t rows, std::int64_t numbers, const Body& body) {
  const std::int64_t per_row = std::max<std::int64_t>(1, numbers / std::max<std::int64_t>(1, rows));
  at::parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / per_row), body);
}

const std::int64_t* index_data(const at::Tensor& t) {
  return t.const_data_ptr<std::int64_t>();
}

at::Tensor owner_rows(const at::Tensor& offsets, std::int64_t total) {
  return at::repeat_interleave(at::diff(offsets), std::optional(total));
}

at::Tensor owner_rows(const CompressedRows& rows) {
  return rows.owners.defined() ? rows.owners : owner_rows(rows.offsets, rows.neighbours.numel());
}

/// Spreads [E, H] (or [E]) over the columns of [E, d].
at::Tensor per_column(const at::Tensor& weights, std::int64_t width) {
  if (weights.dim() == 1) return weights.unsqueeze(1);
  return at::repeat_interleave(weights, width / weights.size(1), 1);
}

template <class T>
kernels::RowSum<T> row_sum_of(const CompressedRows& rows, const at::Tensor& x,
                              const at::Tensor& weights) {
  const T* scale = weights.defined() ? weights.const_data_ptr<T>() : nullptr;
  return {index_data(rows.offsets),
          index_data(rows.neighbours),
          x.const_data_ptr<T>(),
          scale,
          head_count(weights),
          nullptr,
          nullptr,
          x.size(1)};
}

/// Sums (or means) of rows `indices` of x for each row of `offsets`. Of all ways on the CPU this
/// takes the least time; bench/torch_message_passing_bench.cpp has the others.
at::Tensor bag(const at::Tensor& x, const at::Tensor& offsets, const at::Tensor& indices,
               const at::Tensor& weights, std::int64_t mode) {
  const auto scale = weights.defined() ? std::optional(weights) : std::nullopt;
  return std::get<0>(at::_embedding_bag_forward_only(x, indices, offsets, false, mode, false, scale,
                                                     /*include_last_offset=*/true));
}

bool nothing_to_sum(const CompressedRows& rows, const at::Tensor& x) {
  return rows.offsets.numel() == 1 || rows.neighbours.numel() == 0 || x.size(1) == 0;
}

/// Runs body(zero of the type, begin, end) over shares of the segments.
template <class Body>
void for_segments(const at::Tensor& x, const at::Tensor& offsets, std::int64_t numbers,
                  const Body& body) {
  for_float_type(x, [&](auto zero) {
    for_rows(offsets.numel() - 1, numbers,
             [&](std::int64_t b, std::int64_t e) { body(zero, b, e); });
  });
}

at::Tensor segment_maximum(const at::Tensor& x, const at::Tensor& offsets,
                           const at::Tensor& owner) {
  return at::full({offsets.numel() - 1, x.size(1)}, kLowest, x.options())
      .scatter_reduce(0, owner.unsqueeze(1).expand(x.sizes()), x, "amax");
}

}  // namespace

std::int64_t head_count(const at::Tensor& weights) {
  return weights.defined() && weights.dim() == 2 ? weights.size(1) : 1;
}

at::Tensor sum_rows(const CompressedRows& rows, const at::Tensor& input, const at::Tensor& scale) {
  const std::int64_t count = rows.offsets.numel() - 1;
  const at::Tensor x = input.contiguous();
  const at::Tensor weights = scale.defined() ? scale.contiguous() : scale;
  if (nothing_to_sum(rows, x)) return at::zeros({count, x.size(1)}, x.options());
  if (!has_kernel(x)) {
    at::Tensor messages = x.index_select(0, rows.neighbours);
    if (weights.defined()) messages = messages * per_column(weights, x.size(1));
    return at::zeros({count, x.size(1)}, messages.options())
        .index_add(0, owner_rows(rows), messages);
  }
  if (x.scalar_type() == at::kFloat && head_count(weights) == 1)
    return bag(x, rows.offsets, rows.neighbours,
               weights.defined() ? weights.reshape({-1}) : weights, kSumMode);
  at::Tensor y = at::empty({count, x.size(1)}, x.options());
  for_float_type(x, [&](auto zero) {
    using T = decltype(zero);
    const auto in = row_sum_of<T>(rows, x, weights);
    T* out = y.mutable_data_ptr<T>();
    for_rows(count, rows.neighbours.numel() * x.size(1),
             [&](std::int64_t b, std::int64_t e) { kernels::row_sum(in, out, b, e); });
  });
  return y;
}

at::Tensor inverse_degree(const CompressedRows& rows, at::ScalarType type) {
  return at::diff(rows.offsets).clamp_min(1).to(type).reciprocal();
}

at::Tensor mean_rows(const CompressedRows& rows, const at::Tensor& x) {
  if (has_kernel(x) && x.scalar_type() == at::kFloat && !nothing_to_sum(rows, x))
    return bag(x.contiguous(), rows.offsets, rows.neighbours, {}, kMeanMode);
  return sum_rows(rows, x, {}) * inverse_degree(rows, x.scalar_type()).unsqueeze(1);
}

at::Tensor dot_rows(const CompressedRows& rows, const at::Tensor& row_side,
                    const at::Tensor& neighbour_side, std::int64_t heads) {
  const std::int64_t edges = rows.neighbours.numel();
  const at::Tensor a = row_side.contiguous();
  const at::Tensor b = neighbour_side.contiguous();
  if (!has_kernel(a))
    return (a.index_select(0, owner_rows(rows)) * b.index_select(0, rows.neighbours))
        .reshape({edges, heads, a.size(1) / heads})
        .sum(2);
  at::Tensor y = at::empty({edges, heads}, a.options());
  for_float_type(a, [&](auto zero) {
    using T = decltype(zero);
    auto in = row_sum_of<T>(rows, b, {});
    in.heads = heads;
    const T* row_data = a.const_data_ptr<T>();
    T* out = y.mutable_data_ptr<T>();
    for_rows(rows.offsets.numel() - 1, edges * a.size(1), [&](std::int64_t lo, std::int64_t hi) {
      kernels::row_dot(in, row_data, out, lo, hi);
    });
  });
  return y;
}

at::Tensor gated_sum(const Gated& in) {
  const std::int64_t count = in.rows.offsets.numel() - 1;
  const std::int64_t width = in.x.size(1);
  if (!has_kernel(in.x)) {
    at::Tensor messages =
        in.x.index_select(0, in.rows.neighbours) * in.gates.index_select(0, in.gate);
    if (in.weights.defined()) messages = messages * in.weights.unsqueeze(1);
    return at::zeros({count, width}, messages.options())
        .index_add(0, owner_rows(in.rows), messages);
  }
  at::Tensor y = at::empty({count, width}, in.x.options());
  for_float_type(in.x, [&](auto zero) {
    using T = decltype(zero);
    auto sum = row_sum_of<T>(in.rows, in.x, in.weights);
    sum.gates = in.gates.const_data_ptr<T>();
    sum.gate = index_data(in.gate);
    T* out = y.mutable_data_ptr<T>();
    for_rows(count, in.gate.numel() * width,
             [&](std::int64_t b, std::int64_t e) { kernels::row_sum(sum, out, b, e); });
  });
  return y;
}

at::Tensor gates_gradient(const Gated& in, const at::Tensor& grad) {
  const std::int64_t width = in.x.size(1);
  if (!has_kernel(in.x)) {
    at::Tensor products =
        in.x.index_select(0, in.rows.neighbours) * grad.index_select(0, owner_rows(in.rows));
    if (in.weights.defined()) products = products * in.weights.unsqueeze(1);
    return at::zeros({in.gates.size(0), width}, products.options()).index_add(0, in.gate, products);
  }
  // Fixed shares of the rows with a partial result each: no two threads write the same gate, and
  // the bits depend on the thread count alone.
  const std::int64_t count = in.rows.offsets.numel() - 1;
  const std::int64_t shares = in.gate.numel() * width < kGrain ? 1 : at::get_num_threads();
  at::Tensor partial = at::zeros({shares, in.gates.size(0), width}, in.x.options());
  for_float_type(in.x, [&](auto zero) {
    using T = decltype(zero);
    auto sum = row_sum_of<T>(in.rows, in.x, in.weights);
    sum.gate = index_data(in.gate);
    const T* grad_rows = grad.const_data_ptr<T>();
    T* out = partial.mutable_data_ptr<T>();
    at::parallel_for(0, shares, 1, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t s = b; s < e; ++s)
        kernels::gate_gradient(sum, grad_rows, out + s * in.gates.size(0) * width,
                               count * s / shares, count * (s + 1) / shares);
    });
  });
  return shares == 1 ? partial.squeeze(0) : partial.sum(0);
}

at::Tensor sum_segments(const at::Tensor& input, const at::Tensor& offsets) {
  const at::Tensor x = input.contiguous();
  const std::int64_t count = offsets.numel() - 1;
  if (!has_kernel(x))
    return at::zeros({count, x.size(1)}, x.options())
        .index_add(0, owner_rows(offsets, x.size(0)), x);
  at::Tensor y = at::empty({count, x.size(1)}, x.options());
  for_segments(x, offsets, x.numel(), [&](auto zero, std::int64_t b, std::int64_t e) {
    using T = decltype(zero);
    kernels::segment_sum(x.const_data_ptr<T>(), index_data(offsets), x.size(1),
                         y.mutable_data_ptr<T>(), b, e);
  });
  return y;
}

at::Tensor expand_segments(const at::Tensor& input, const at::Tensor& offsets, std::int64_t total) {
  const at::Tensor x = input.contiguous();
  if (!has_kernel(x)) return x.index_select(0, owner_rows(offsets, total));
  at::Tensor y = at::empty({total, x.size(1)}, x.options());
  for_segments(x, offsets, y.numel(), [&](auto zero, std::int64_t b, std::int64_t e) {
    using T = decltype(zero);
    kernels::segment_expand(x.const_data_ptr<T>(), index_data(offsets), x.size(1),
                            y.mutable_data_ptr<T>(), b, e);
  });
  return y;
}

at::Tensor softmax_segments(const at::Tensor& input, const at::Tensor& offsets) {
  const at::Tensor x = input.contiguous();
  if (has_kernel(x)) {
    at::Tensor y = at::empty(x.sizes(), x.options());
    for_segments(x, offsets, x.numel(), [&](auto zero, std::int64_t b, std::int64_t e) {
      using T = decltype(zero);
      kernels::segment_softmax(x.const_data_ptr<T>(), index_data(offsets), x.size(1),
                               y.mutable_data_ptr<T>(), b, e);
    });
    return y;
  }
  const at::Tensor owner = owner_rows(offsets, x.size(0));
  const at::Tensor top = segment_maximum(x, offsets, owner).index_select(0, owner);
  const at::Tensor power = (x - top).exp().masked_fill(top == kLowest, 0);
  const at::Tensor total = sum_segments(power, offsets);
  return power / total.masked_fill(total == 0, 1).index_select(0, owner);
}

at::Tensor first_maximum(const at::Tensor& input, const at::Tensor& offsets) {
  const at::Tensor x = input.contiguous();
  const at::TensorOptions index = x.options().dtype(at::kLong);
  const std::int64_t count = offsets.numel() - 1;
  if (has_kernel(x)) {
    at::Tensor at_row = at::empty({count, x.size(1)}, index);
    for_segments(x, offsets, x.numel(), [&](auto zero, std::int64_t b, std::int64_t e) {
      using T = decltype(zero);
      kernels::segment_argmax(x.const_data_ptr<T>(), index_data(offsets), x.size(1),
                              at_row.mutable_data_ptr<std::int64_t>(), b, e);
    });
    return at_row;
  }
  const at::Tensor owner = owner_rows(offsets, x.size(0));
  const at::Tensor top = segment_maximum(x, offsets, owner).index_select(0, owner);
  const at::Tensor row = at::arange(x.size(0), index).unsqueeze(1).expand(x.sizes());
  const at::Tensor candidate =
      at::where((x == top).logical_or(at::isnan(x)), row, at::full({}, x.size(0), index));
  return at::full({count, x.size(1)}, x.size(0) - 1, index)
      .scatter_reduce(0, owner.unsqueeze(1).expand(x.sizes()), candidate, "amin");
}

}  // namespace omen::torch_kit::row_ops
