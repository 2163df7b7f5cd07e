// SPDX-License-Identifier: Apache-2.0
// A seeded order of rows that is the same with every standard library.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

/// SplitMix64, doi:10.1145/2714064.2660195: small, fast, and any seed will do.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// 0..count-1 in random order.
  std::vector<Index> permutation(Index count) {
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(next() % i)]);
    }
    return order;
  }

 private:
  std::uint64_t state_;
};

}  // namespace omen::learn
