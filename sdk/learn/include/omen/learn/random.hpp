// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers that are the same with every standard library and thread count.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace omen::learn {

/// SplitMix64, doi:10.1145/2714064.2660195: small, fast, and any seed will do.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// One of many independent streams of a seed. The stream number is hashed, because neighbouring
  /// states would be the same sequence, shifted.
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(mix(seed) + stream)) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

  /// 0..bound-1; the bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  /// In (0, 1): never an end, so that a logarithm or a quantile of it is finite.
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

  /// Of mean 0 and deviation 1.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

  /// 0..count-1 in random order.
  std::vector<std::ptrdiff_t> permutation(std::ptrdiff_t count) {
    std::vector<std::ptrdiff_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::ptrdiff_t{0});
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(next() % i)]);
    }
    return order;
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace omen::learn
