// SPDX-License-Identifier: Apache-2.0
// Eight numbers at once by comparing all of them, then merging from both ends.
#include "inversions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "omen/learn/instruction_sets.hpp"

namespace omen::learn {
namespace {

using Eight [[gnu::vector_size(32)]] = std::int32_t;
constexpr std::size_t kEight = 8;

// A number belongs behind all smaller ones and behind equal ones that came before it.
OMEN_KERNEL_BODY void sort_eights(const std::int32_t* values, std::int32_t* sorted,
                                  std::size_t count, std::int64_t& inversions) {
  const Eight lane = {0, 1, 2, 3, 4, 5, 6, 7};
  Eight wrong = {};
  for (std::size_t first = 0; first + kEight <= count; first += kEight) {
    Eight own, place = {};
    std::memcpy(&own, values + first, sizeof own);
#pragma GCC unroll 8
    for (std::int32_t other = 0; other < 8; ++other) {
      const Eight value = Eight{} + values[first + static_cast<std::size_t>(other)];
      const Eight later = lane > other;
      place -= (value < own) | ((value == own) & later);
      wrong -= (value > own) & later;
    }
    for (std::size_t i = 0; i < kEight; ++i)
      sorted[first + static_cast<std::size_t>(place[i])] = values[first + i];
  }
  for (std::size_t i = 0; i < kEight; ++i) inversions += wrong[i];
}

void sort_all_eights(const std::int32_t* values, std::int32_t* sorted, std::size_t count,
                     std::int64_t& inversions) {
  OMEN_DISPATCH(sort_eights(values, sorted, count, inversions));
}

// Two sorted halves of the same length: one hand takes the smaller half from the front, another the
// larger from the back. Neither can run out of numbers, neither waits for the other, and which side
// a number comes from is no branch, because nobody could guess it.
std::int64_t merge_halves(const std::int32_t* from, std::size_t width, std::int32_t* to) {
  const std::int32_t *left = from, *right = from + width;
  const std::int32_t *last_left = right - 1, *last_right = right + width - 1;
  const std::int32_t* const middle = right;
  std::int32_t *front = to, *back = to + 2 * width - 1;
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const std::int32_t a = *left, b = *right;
    const std::ptrdiff_t takes_right = b < a ? 1 : 0;
    *front++ = takes_right != 0 ? b : a;
    low += (middle - left) & -takes_right;
    right += takes_right;
    left += 1 - takes_right;
    const std::int32_t c = *last_left, d = *last_right;
    const std::ptrdiff_t takes_left = c > d ? 1 : 0;
    *back-- = takes_left != 0 ? c : d;
    high += (middle - 1 - last_left) & (takes_left - 1);
    last_left -= takes_left;
    last_right -= 1 - takes_left;
  }
  return low + high;
}

std::int64_t merge_any(const std::int32_t* from, std::size_t middle, std::size_t count,
                       std::int32_t* to) {
  std::size_t left = 0, right = middle;
  std::int64_t inversions = 0;
  for (std::size_t out = 0; out < count; ++out) {
    const bool takes_right = right < count && (left == middle || from[right] < from[left]);
    if (takes_right) inversions += static_cast<std::int64_t>(middle - left);
    to[out] = takes_right ? from[right++] : from[left++];
  }
  return inversions;
}

}  // namespace

std::int64_t count_inversions(std::vector<std::int32_t>& values, std::vector<std::int32_t>& other) {
  const std::size_t n = values.size(), whole = n / kEight * kEight;
  other.resize(n);
  std::int64_t inversions = 0;
  // Few enough at a time for lanes of 32 bits.
  constexpr std::size_t kAtATime = std::size_t{1} << 24;
  for (std::size_t first = 0; first < whole; first += kAtATime)
    sort_all_eights(values.data() + first, other.data() + first, std::min(kAtATime, whole - first),
                    inversions);
  for (std::size_t i = whole; i < n; ++i) {
    std::size_t at = i;
    for (; at > whole && other[at - 1] > values[i]; --at) other[at] = other[at - 1];
    other[at] = values[i];
    inversions += static_cast<std::int64_t>(i - at);
  }
  values.swap(other);
  for (std::size_t width = kEight; width < n; width *= 2) {
    for (std::size_t first = 0; first < n; first += 2 * width) {
      const std::size_t count = std::min(2 * width, n - first);
      inversions += count == 2 * width
                        ? merge_halves(values.data() + first, width, other.data() + first)
                        : merge_any(values.data() + first, std::min(width, count), count,
                                    other.data() + first);
    }
    values.swap(other);
  }
  return inversions;
}

}  // namespace omen::learn
