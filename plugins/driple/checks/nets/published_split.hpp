// SPDX-License-Identifier: Apache-2.0
// The order in which the published program takes its jobs: Python's shuffle with seed 42.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace omen::driple {

// Mersenne twister (doi:10.1145/272991.272995), seeded by a list as Python does.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed) {
    state_[0] = 19650218U;
    for (std::uint32_t i = 1; i < kSize; ++i) state_[i] = spread(i, 1812433253U) + i;
    std::uint32_t at = 1;
    const auto advance = [&] {
      if (++at < kSize) return;
      state_[0] = state_[kSize - 1];
      at = 1;
    };
    for (std::uint32_t k = 0; k < kSize; ++k, advance())
      state_[at] = (state_[at] ^ spread(at, 1664525U)) + seed;
    for (std::uint32_t k = 1; k < kSize; ++k, advance())
      state_[at] = (state_[at] ^ spread(at, 1566083941U)) - at;
    state_[0] = 0x80000000U;
  }

  template <class Item>
  void shuffle(std::vector<Item>& items) {
    for (std::size_t i = items.size(); i-- > 1;)
      std::swap(items[i], items[below(static_cast<std::uint32_t>(i + 1))]);
  }

 private:
  static constexpr std::uint32_t kSize = 624, kMiddle = 397;

  std::uint32_t spread(std::uint32_t at, std::uint32_t factor) const {
    return factor * (state_[at - 1] ^ (state_[at - 1] >> 30));
  }

  std::uint32_t next() {
    if (used_ == kSize) refill();
    std::uint32_t y = state_[used_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
  }

  void refill() {
    for (std::uint32_t i = 0; i < kSize; ++i) {
      const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kSize] & 0x7fffffffU);
      state_[i] = state_[(i + kMiddle) % kSize] ^ (y >> 1) ^ ((y & 1U) != 0 ? 0x9908b0dfU : 0U);
    }
    used_ = 0;
  }

  // As many bits as the bound has, drawn again until they are below it.
  std::uint32_t below(std::uint32_t bound) {
    std::uint32_t bits = 0;
    while (bits < 32 && bound >> bits != 0) ++bits;
    for (;;)
      if (const std::uint32_t drawn = next() >> (32 - bits); drawn < bound) return drawn;
  }

  std::array<std::uint32_t, kSize> state_;
  std::uint32_t used_ = kSize;
};

}  // namespace omen::driple
