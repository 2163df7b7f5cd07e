// SPDX-License-Identifier: Apache-2.0
// Random numbers that follow from a few counters: whoever computes a sample draws the same ones.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace omen::ensemble {

// The finaliser of splitmix64: every bit of the input changes half of the output.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class CounterRandom {
 public:
  CounterRandom(std::initializer_list<std::uint64_t> counters) {
    for (const std::uint64_t counter : counters) state_ = mix_bits(state_ ^ mix_bits(counter));
  }
  std::uint64_t next() { return mix_bits(state_ + (++drawn_) * 0x9e3779b97f4a7c15u); }
  // In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // In [0, bound); the bias of the product is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<__uint128_t>(next()) * bound) >> 64);
  }

 private:
  std::uint64_t state_ = 0x6f6d656e, drawn_ = 0;
};

}  // namespace omen::ensemble
