// SPDX-License-Identifier: Apache-2.0
// The loops, compiled for the base instruction set and, on x86-64, once more for AVX2.
#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "omen/learn/instruction_sets.hpp"

namespace omen::torch_kit::kernels {
namespace {

template <class T>
OMEN_KERNEL_BODY void add_scaled(T* __restrict y, const T* __restrict x, T w, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) y[k] += w * x[k];
}

template <class T>
OMEN_KERNEL_BODY void add_product(T* __restrict y, const T* __restrict x, const T* __restrict z,
                                  T w, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) y[k] += w * x[k] * z[k];
}

// Neighbours are random rows: asking for them some slots ahead hides most of the cache misses.
constexpr std::int64_t kAhead = 8;

template <class T>
OMEN_KERNEL_BODY void prefetch_row(const RowSum<T>& in, std::int64_t slot, std::int64_t last) {
  if (slot >= last) return;
  const T* row = in.x + in.neighbours[slot] * in.width;
  for (std::int64_t k = 0; k < in.width; k += 64 / static_cast<std::int64_t>(sizeof(T)))
    __builtin_prefetch(row + k);
}

template <class T>
OMEN_KERNEL_BODY void row_sum_body(const RowSum<T>& in, T* y, std::int64_t begin,
                                   std::int64_t end) {
  const std::int64_t part = in.width / in.heads;
  for (std::int64_t r = begin; r < end; ++r) {
    T* row = y + r * in.width;
    std::fill_n(row, in.width, T(0));
    for (std::int64_t s = in.offsets[r]; s < in.offsets[r + 1]; ++s) {
      prefetch_row(in, s + kAhead, in.offsets[end]);
      const T* x = in.x + in.neighbours[s] * in.width;
      for (std::int64_t h = 0; h < in.heads; ++h) {
        const T w = in.weights ? in.weights[s * in.heads + h] : T(1);
        const std::int64_t at = h * part;
        if (in.gates)
          add_product(row + at, x + at, in.gates + in.gate[s] * in.width + at, w, part);
        else
          add_scaled(row + at, x + at, w, part);
      }
    }
  }
}

template <class T>
OMEN_KERNEL_BODY void gate_gradient_body(const RowSum<T>& in, const T* grad, T* grad_gates,
                                         std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r)
    for (std::int64_t s = in.offsets[r]; s < in.offsets[r + 1]; ++s) {
      prefetch_row(in, s + kAhead, in.offsets[end]);
      add_product(grad_gates + in.gate[s] * in.width, in.x + in.neighbours[s] * in.width,
                  grad + r * in.width, in.weights ? in.weights[s] : T(1), in.width);
    }
}

// Eight partial sums let the compiler use vector registers without reordering a single sum.
template <class T>
OMEN_KERNEL_BODY T dot(const T* __restrict a, const T* __restrict b, std::int64_t n) {
  T lane[8] = {};
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int i = 0; i < 8; ++i) lane[i] += a[k + i] * b[k + i];
  for (; k < n; ++k) lane[k % 8] += a[k] * b[k];
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

template <class T>
OMEN_KERNEL_BODY void row_dot_body(const RowSum<T>& in, const T* a, T* y, std::int64_t begin,
                                   std::int64_t end) {
  const std::int64_t part = in.width / in.heads;
  for (std::int64_t r = begin; r < end; ++r)
    for (std::int64_t s = in.offsets[r]; s < in.offsets[r + 1]; ++s) {
      prefetch_row(in, s + kAhead, in.offsets[end]);
      for (std::int64_t h = 0; h < in.heads; ++h)
        y[s * in.heads + h] =
            dot(a + r * in.width + h * part, in.x + in.neighbours[s] * in.width + h * part, part);
    }
}

template <class T>
OMEN_KERNEL_BODY void segment_sum_body(const T* x, const std::int64_t* offsets, std::int64_t width,
                                       T* y, std::int64_t begin, std::int64_t end) {
  for (std::int64_t s = begin; s < end; ++s) {
    std::fill_n(y + s * width, width, T(0));
    for (std::int64_t r = offsets[s]; r < offsets[s + 1]; ++r)
      add_scaled(y + s * width, x + r * width, T(1), width);
  }
}

}  // namespace

template <class T>
void row_sum(const RowSum<T>& in, T* y, std::int64_t begin, std::int64_t end) {
  OMEN_DISPATCH(row_sum_body(in, y, begin, end));
}

template <class T>
void gate_gradient(const RowSum<T>& in, const T* grad, T* grad_gates, std::int64_t begin,
                   std::int64_t end) {
  OMEN_DISPATCH(gate_gradient_body(in, grad, grad_gates, begin, end));
}

template <class T>
void row_dot(const RowSum<T>& in, const T* a, T* y, std::int64_t begin, std::int64_t end) {
  OMEN_DISPATCH(row_dot_body(in, a, y, begin, end));
}

template <class T>
void segment_sum(const T* x, const std::int64_t* offsets, std::int64_t width, T* y,
                 std::int64_t begin, std::int64_t end) {
  OMEN_DISPATCH(segment_sum_body(x, offsets, width, y, begin, end));
}

template <class T>
void segment_softmax(const T* x, const std::int64_t* offsets, std::int64_t width, T* y,
                     std::int64_t begin, std::int64_t end) {
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  for (std::int64_t s = begin; s < end; ++s) {
    for (std::int64_t c = 0; c < width; ++c) {
      T top = kLowest;
      for (std::int64_t r = offsets[s]; r < offsets[s + 1]; ++r)
        top = std::max(top, x[r * width + c]);
      T total = 0;
      for (std::int64_t r = offsets[s]; r < offsets[s + 1]; ++r)
        total += y[r * width + c] = top == kLowest ? T(0) : std::exp(x[r * width + c] - top);
      if (total == T(0)) continue;
      for (std::int64_t r = offsets[s]; r < offsets[s + 1]; ++r) y[r * width + c] /= total;
    }
  }
}

template <class T>
void segment_expand(const T* x, const std::int64_t* offsets, std::int64_t width, T* y,
                    std::int64_t begin, std::int64_t end) {
  for (std::int64_t s = begin; s < end; ++s)
    for (std::int64_t r = offsets[s]; r < offsets[s + 1]; ++r)
      std::copy_n(x + s * width, width, y + r * width);
}

template <class T>
void segment_argmax(const T* x, const std::int64_t* offsets, std::int64_t width, std::int64_t* y,
                    std::int64_t begin, std::int64_t end) {
  for (std::int64_t s = begin; s < end; ++s) {
    const bool empty = offsets[s] == offsets[s + 1];
    std::fill_n(y + s * width, width, empty ? 0 : offsets[s]);
    for (std::int64_t r = offsets[s] + 1; r < offsets[s + 1]; ++r) {
      for (std::int64_t c = 0; c < width; ++c) {
        const T best = x[y[s * width + c] * width + c];
        if (!(x[r * width + c] <= best) && best == best) y[s * width + c] = r;
      }
    }
  }
}

#define OMEN_INSTANTIATE(T)                                                                    \
  template void row_sum(const RowSum<T>&, T*, std::int64_t, std::int64_t);                     \
  template void gate_gradient(const RowSum<T>&, const T*, T*, std::int64_t, std::int64_t);     \
  template void row_dot(const RowSum<T>&, const T*, T*, std::int64_t, std::int64_t);           \
  template void segment_softmax(const T*, const std::int64_t*, std::int64_t, T*, std::int64_t, \
                                std::int64_t);                                                 \
  template void segment_sum(const T*, const std::int64_t*, std::int64_t, T*, std::int64_t,     \
                            std::int64_t);                                                     \
  template void segment_expand(const T*, const std::int64_t*, std::int64_t, T*, std::int64_t,  \
                               std::int64_t);                                                  \
  template void segment_argmax(const T*, const std::int64_t*, std::int64_t, std::int64_t*,     \
                               std::int64_t, std::int64_t);
OMEN_INSTANTIATE(float)
OMEN_INSTANTIATE(double)

}  // namespace omen::torch_kit::kernels
