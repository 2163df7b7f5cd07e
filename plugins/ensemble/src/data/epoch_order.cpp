// SPDX-License-Identifier: Apache-2.0
// Shuffles that every rank computes alike.
#include "data/epoch_order.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "data/counter_random.hpp"

namespace omen::ensemble {
namespace {

constexpr std::uint64_t kSplitKey = 0x73706c, kOrderKey = 0x6f7264;

void shuffle(std::vector<std::int64_t>& items, CounterRandom random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace

SampleSplit split_samples(std::int64_t samples, double valid_share, std::uint64_t seed) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(samples));
  std::iota(all.begin(), all.end(), 0);
  shuffle(all, CounterRandom({seed, kSplitKey}));
  const auto held =
      static_cast<std::ptrdiff_t>(std::floor(valid_share * static_cast<double>(samples)));
  return {{all.begin() + held, all.end()}, {all.begin(), all.begin() + held}};
}

std::vector<std::int64_t> epoch_order(const std::vector<std::int64_t>& train, std::uint64_t seed,
                                      std::int64_t epoch) {
  std::vector<std::int64_t> order = train;
  shuffle(order, CounterRandom({seed, kOrderKey, static_cast<std::uint64_t>(epoch)}));
  return order;
}

}  // namespace omen::ensemble
