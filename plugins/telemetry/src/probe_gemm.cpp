// SPDX-License-Identifier: Apache-2.0
// Register-blocked kernels for three widths of vectors, chosen by what the processor has.
#include "probe_gemm.hpp"

#include <algorithm>
#include <cstring>

namespace omen::telemetry {
namespace {

// Depth of a panel: 256 rows of the widest block stay in the first two caches.
constexpr std::size_t kDepth = 256;
constexpr std::size_t kRowBlock = 144;  // a multiple of every kernel's rows

#if defined(__GNUC__) && defined(__x86_64__)
#define OMEN_TARGET(set) __attribute__((target(set)))
#define OMEN_INLINE __attribute__((always_inline)) inline
#else
#define OMEN_TARGET(set)
#define OMEN_INLINE inline
#endif

template <int width>
struct VectorOf {
  typedef float type __attribute__((vector_size(width * sizeof(float)), aligned(4)));
};

// c[rows x 2 width] += a panel (rows a step) times b panel (2 width a step).
template <int width, int rows>
OMEN_INLINE void block(std::size_t depth, const float* a, const float* b, float* c,
                       std::size_t stride) {
  using Vector = typename VectorOf<width>::type;
  Vector sum[rows][2] = {};
  for (std::size_t p = 0; p < depth; ++p) {
    const Vector low = *reinterpret_cast<const Vector*>(b);
    const Vector high = *reinterpret_cast<const Vector*>(b + width);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      sum[i][0] += a[i] * low;
      sum[i][1] += a[i] * high;
    }
    a += rows;
    b += 2 * width;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    Vector* out = reinterpret_cast<Vector*>(c + static_cast<std::size_t>(i) * stride);
    out[0] += sum[i][0];
    out[1] += sum[i][1];
  }
}

using Block = void (*)(std::size_t, const float*, const float*, float*, std::size_t);

struct Kernel {
  const char* set;
  std::size_t rows, columns;
  Block run;
};

OMEN_TARGET("avx512f")
void block_512(std::size_t depth, const float* a, const float* b, float* c, std::size_t stride) {
  block<16, 12>(depth, a, b, c, stride);
}
OMEN_TARGET("avx2,fma")
void block_256(std::size_t depth, const float* a, const float* b, float* c, std::size_t stride) {
  block<8, 6>(depth, a, b, c, stride);
}
void block_128(std::size_t depth, const float* a, const float* b, float* c, std::size_t stride) {
  block<4, 4>(depth, a, b, c, stride);
}

const Kernel& kernel() {
  static const Kernel chosen = [] {
#if defined(__GNUC__) && defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return Kernel{"AVX-512", 12, 32, block_512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return Kernel{"AVX2 with FMA", 6, 16, block_256};
#endif
    return Kernel{"128 bit", 4, 8, block_128};
  }();
  return chosen;
}

std::size_t rounded_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

// Panels of `step` neighbouring rows or columns, one depth after the other; zeros fill the last.
void pack(const float* from, std::size_t count, std::size_t depth, std::size_t along,
          std::size_t across, std::size_t step, float* to) {
  for (std::size_t i = 0; i < count; i += step)
    for (std::size_t p = 0; p < depth; ++p)
      for (std::size_t k = 0; k < step; ++k)
        *to++ = i + k < count ? from[(i + k) * across + p * along] : 0;
}

}  // namespace

const char* vector_set() {
  return kernel().set;
}

Gemm::Gemm(std::size_t n)
    : n_(n),
      packed_a_(rounded_up(kRowBlock, kernel().rows) * kDepth),
      packed_b_(rounded_up(n, kernel().columns) * kDepth) {}

void Gemm::multiply(const float* a, const float* b, float* c) {
  const Kernel& k = kernel();
  std::vector<float> edge(k.rows * k.columns);
  std::fill(c, c + n_ * n_, 0.0F);
  for (std::size_t depth = 0; depth < n_; depth += kDepth) {
    const std::size_t steps = std::min(kDepth, n_ - depth);
    pack(b + depth * n_, n_, steps, n_, 1, k.columns, packed_b_.data());
    for (std::size_t top = 0; top < n_; top += kRowBlock) {
      const std::size_t height = std::min(kRowBlock, n_ - top);
      pack(a + top * n_ + depth, height, steps, 1, n_, k.rows, packed_a_.data());
      for (std::size_t column = 0; column < n_; column += k.columns)
        for (std::size_t row = 0; row < height; row += k.rows) {
          const float* panel_a = packed_a_.data() + row * steps;
          const float* panel_b = packed_b_.data() + column * steps;
          float* out = c + (top + row) * n_ + column;
          const std::size_t rows = std::min(k.rows, height - row);
          const std::size_t columns = std::min(k.columns, n_ - column);
          if (rows == k.rows && columns == k.columns) {
            k.run(steps, panel_a, panel_b, out, n_);
            continue;
          }
          // At the edges the block goes through a buffer, so that nothing beyond is touched.
          std::fill(edge.begin(), edge.end(), 0.0F);
          k.run(steps, panel_a, panel_b, edge.data(), k.columns);
          for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j) out[i * n_ + j] += edge[i * k.columns + j];
        }
    }
  }
}

void triad(double* a, const double* b, const double* c, double scale, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + scale * c[i];
}

}  // namespace omen::telemetry
