// SPDX-License-Identifier: Apache-2.0
// A matrix product and a vector triad of our own, to measure what a core can do.
#ifndef OMEN_PLUGINS_TELEMETRY_PROBE_GEMM_HPP
#define OMEN_PLUGINS_TELEMETRY_PROBE_GEMM_HPP

#include <cstddef>
#include <vector>

namespace omen::telemetry {

// The widest vectors that this processor and this build have.
const char* vector_set();

// c = a b for square row-major matrices of n x n, with packed panels that stay in the caches.
class Gemm {
 public:
  explicit Gemm(std::size_t n);
  void multiply(const float* a, const float* b, float* c);

 private:
  std::size_t n_;
  std::vector<float> packed_a_, packed_b_;
};

// a = b + scale c, the kernel of STREAM: three times eight bytes an element.
void triad(double* a, const double* b, const double* c, double scale, std::size_t count);

}  // namespace omen::telemetry

#endif  // OMEN_PLUGINS_TELEMETRY_PROBE_GEMM_HPP
