// SPDX-License-Identifier: Apache-2.0
// Short columns by comparing, long ones digit by digit.
#include "sorted_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace omen::learn {
namespace {

constexpr std::size_t kShort = 512;
constexpr unsigned kDigitBits = 11, kDigits = 6;
constexpr std::size_t kDigitValues = std::size_t{1} << kDigitBits;

struct SortKey {
  std::uint64_t bits;
  std::uint32_t row;
};

// Whole numbers that are ordered as the values are; adding 0 makes both zeros one.
std::uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  const std::uint64_t sign = std::uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

std::size_t digit_of(std::uint64_t bits, unsigned digit) {
  return (bits >> (digit * kDigitBits)) & (kDigitValues - 1);
}

}  // namespace

std::vector<std::uint32_t> sorted_order(std::span<const double> values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  if (values.size() < kShort) {
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t x = ordered_bits(values[a]), y = ordered_bits(values[b]);
      return x != y ? x < y : a < b;
    });
    return order;
  }
  std::vector<SortKey> keys(values.size()), moved(values.size());
  std::vector<std::array<std::uint32_t, kDigitValues>> counts(kDigits);
  for (auto& count : counts) count.fill(0);
  for (std::size_t row = 0; row < values.size(); ++row) {
    keys[row] = {ordered_bits(values[row]), static_cast<std::uint32_t>(row)};
    for (unsigned digit = 0; digit < kDigits; ++digit)
      ++counts[digit][digit_of(keys[row].bits, digit)];
  }
  for (unsigned digit = 0; digit < kDigits; ++digit) {
    auto& place = counts[digit];
    // A digit that all values share orders nothing.
    if (place[digit_of(keys[0].bits, digit)] == values.size()) continue;
    std::exclusive_scan(place.begin(), place.end(), place.begin(), 0U);
    for (const SortKey& key : keys) moved[place[digit_of(key.bits, digit)]++] = key;
    keys.swap(moved);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].row;
  return order;
}

}  // namespace omen::learn
