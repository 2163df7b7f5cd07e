// SPDX-License-Identifier: Apache-2.0
// Loops over compressed rows on plain memory; callers split rows among threads.
#pragma once

#include <cstdint>

namespace omen::torch_kit::kernels {

/// Rows of the sparse side, and the dense matrix that its neighbours index.
template <class T>
struct RowSum {
  const std::int64_t* offsets;
  const std::int64_t* neighbours;
  const T* x;          ///< [any, width]
  const T* weights;    ///< [slots, heads] or null for 1
  std::int64_t heads;  ///< divides width
  const T* gates;      ///< [any, width] or null for 1
  const std::int64_t* gate;
  std::int64_t width;
};

/// y[r] = sum over the slots s of row r of weight(s) * x[neighbours[s]] * gates[gate[s]].
template <class T>
void row_sum(const RowSum<T>& in, T* y, std::int64_t begin, std::int64_t end);

/// grad_gates[gate[s]] += weight(s) * x[neighbours[s]] * grad[r]; one thread per grad_gates.
template <class T>
void gate_gradient(const RowSum<T>& in, const T* grad, T* grad_gates, std::int64_t begin,
                   std::int64_t end);

/// y[s, h] = dot product of a[r] and x[neighbours[s]] over the columns of head h.
template <class T>
void row_dot(const RowSum<T>& in, const T* a, T* y, std::int64_t begin, std::int64_t end);

template <class T>
void segment_softmax(const T* x, const std::int64_t* offsets, std::int64_t width, T* y,
                     std::int64_t begin, std::int64_t end);
template <class T>
void segment_sum(const T* x, const std::int64_t* offsets, std::int64_t width, T* y,
                 std::int64_t begin, std::int64_t end);
template <class T>
void segment_expand(const T* x, const std::int64_t* offsets, std::int64_t width, T* y,
                    std::int64_t begin, std::int64_t end);
/// Row of the first maximum (a NaN counts as one) of each column; 0 for an empty segment.
template <class T>
void segment_argmax(const T* x, const std::int64_t* offsets, std::int64_t width, std::int64_t* y,
                    std::int64_t begin, std::int64_t end);

}  // namespace omen::torch_kit::kernels
