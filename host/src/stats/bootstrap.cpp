// SPDX-License-Identifier: Apache-2.0
// Cluster bootstrap: the median or mean of a sample when whole groups of rows are drawn again.
#include "stats/bootstrap.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <thread>

#include "omen/learn/quantile.hpp"
#include "omen/learn/random.hpp"

namespace omen::host::stats {
namespace {

using learn::Random;

constexpr double kNoBootstrap = std::numeric_limits<double>::quiet_NaN();

// Renumbers groups 0..n-1 in ascending order; returns n.
std::size_t compact(std::vector<std::int32_t>& group) {
  std::vector<std::int32_t> names(group);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (std::int32_t& g : group)
    g = static_cast<std::int32_t>(std::lower_bound(names.begin(), names.end(), g) - names.begin());
  return names.size();
}

// Integers in proportion to 1 / size, so that sums are exact. Sizes without a handy common multiple
// are rounded at the 40th binary digit.
std::vector<std::int64_t> inverse_sizes(const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 40;
  std::int64_t multiple = 1;
  for (const std::int64_t size : sizes) {
    multiple = std::lcm(multiple, size);
    if (multiple > kLargest) break;
  }
  const std::int64_t whole = std::min(multiple, kLargest);
  std::vector<std::int64_t> weights;
  for (const std::int64_t size : sizes)
    weights.push_back(std::max<std::int64_t>(1, (whole + size / 2) / size));
  const std::int64_t common =
      std::accumulate(weights.begin(), weights.end(), std::int64_t{0},
                      [](std::int64_t a, std::int64_t b) { return std::gcd(a, b); });
  for (std::int64_t& weight : weights) weight /= common;
  return weights;
}

// Calls pick(g) for each group of one draw.
template <class Pick>
void for_each_drawn(std::uint64_t seed, std::uint64_t draw, std::size_t groups, Pick&& pick) {
  Random random(seed, draw);
  for (std::size_t i = 0; i < groups; ++i) pick(static_cast<std::size_t>(random.below(groups)));
}

}  // namespace

void draw_groups(std::uint64_t seed, std::uint64_t draw, std::span<std::uint32_t> times) {
  std::fill(times.begin(), times.end(), 0U);
  for_each_drawn(seed, draw, times.size(), [&](std::size_t g) { ++times[g]; });
}

GroupedSample::GroupedSample(std::span<const double> values, std::span<const std::int32_t> group,
                             bool by_group, Estimate estimate)
    : estimate_(estimate),
      group_(group.begin(), group.end()),
      values_(values.begin(), values.end()) {
  const std::size_t groups = compact(group_);
  sizes_.assign(groups, 0);
  sum_.assign(groups, 0);
  for (std::size_t row = 0; row < values_.size(); ++row) {
    const auto g = static_cast<std::size_t>(group_[row]);
    ++sizes_[g];
    sum_[g] += values_[row];
  }
  mass_.assign(sizes_.begin(), sizes_.end());
  unit_.assign(groups, 1);
  if (by_group) {
    for (std::size_t g = 0; g < groups; ++g) sum_[g] /= mass_[g];
    std::fill(mass_.begin(), mass_.end(), 1.0);
    unit_ = inverse_sizes(sizes_);
  }
  if (estimate_ == Estimate::kMedian && groups > 0) make_table();
}

void GroupedSample::make_table() {
  std::vector<std::size_t> order(values_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values_[a] < values_[b]; });
  const auto groups = static_cast<std::int64_t>(unit_.size());
  const std::int64_t largest = *std::max_element(sizes_.begin(), sizes_.end());
  const bool plain = std::all_of(unit_.begin(), unit_.end(), [](auto unit) { return unit == 1; });
  // A draw may consist of the largest group alone, and twice its sum is compared.
  constexpr std::int64_t kShort = std::numeric_limits<std::int16_t>::max();
  constexpr std::int64_t kInt = std::numeric_limits<std::int32_t>::max();
  if (plain && groups <= kShort && largest <= kShort && groups * largest <= kInt / 2)
    table_.emplace<Narrow>(values_, group_, order, unit_.size());
  else
    table_.emplace<Wide>(values_, group_, order, unit_.size());
}

double GroupedSample::estimate() const {
  return estimate(std::vector<std::uint32_t>(groups(), 1));
}

double GroupedSample::estimate(std::span<const std::uint32_t> times) const {
  if (std::all_of(times.begin(), times.end(), [](auto n) { return n == 0; })) return kNoBootstrap;
  if (estimate_ == Estimate::kMean) {
    double sum = 0, mass = 0;
    for (std::size_t g = 0; g < times.size(); ++g) {
      sum += times[g] * sum_[g];
      mass += times[g] * mass_[g];
    }
    return sum / mass;
  }
  return std::visit(
      [&](const auto& table) -> double {
        if constexpr (std::is_same_v<decltype(table), const std::monostate&>) {
          return kNoBootstrap;
        } else {
          using Weight = typename std::decay_t<decltype(table)>::Weight;
          std::vector<Weight> weights(table.stride());
          for (std::size_t g = 0; g < times.size(); ++g)
            weights[g] = static_cast<Weight>(times[g] * unit_[g]);
          return table.median(weights.data());
        }
      },
      table_);
}

std::vector<double> GroupedSample::of_groups() const {
  std::vector<double> each(groups());
  if (estimate_ == Estimate::kMean) {
    for (std::size_t g = 0; g < each.size(); ++g) each[g] = sum_[g] / mass_[g];
    return each;
  }
  std::vector<std::vector<double>> rows(groups());
  for (std::size_t row = 0; row < values_.size(); ++row)
    rows[static_cast<std::size_t>(group_[row])].push_back(values_[row]);
  std::transform(rows.begin(), rows.end(), each.begin(),
                 [](std::vector<double>& group) { return learn::median(std::move(group)); });
  return each;
}

void GroupedSample::draw_block(std::uint64_t seed, std::size_t first, std::span<double> out) const {
  if (estimate_ == Estimate::kMean) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      double sum = 0, mass = 0;
      for_each_drawn(seed, first + i, groups(), [&](std::size_t g) {
        sum += sum_[g];
        mass += mass_[g];
      });
      out[i] = sum / mass;
    }
    return;
  }
  std::visit(
      [&](const auto& table) {
        if constexpr (!std::is_same_v<decltype(table), const std::monostate&>) {
          using Weight = typename std::decay_t<decltype(table)>::Weight;
          const std::vector<Weight> unit(unit_.begin(), unit_.end());
          std::vector<Weight> weights(table.stride());
          for (std::size_t i = 0; i < out.size(); ++i) {
            std::fill(weights.begin(), weights.end(), Weight{0});
            for_each_drawn(seed, first + i, groups(), [&](std::size_t g) {
              weights[g] = static_cast<Weight>(weights[g] + unit[g]);
            });
            out[i] = table.median(weights.data());
          }
        }
      },
      table_);
}

std::vector<double> GroupedSample::bootstrap(int draws, std::uint64_t seed,
                                             unsigned threads) const {
  std::vector<double> out(groups() ? static_cast<std::size_t>(std::max(draws, 0)) : 0);
  const std::size_t parts =
      std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, out.size()));
  const std::span<double> all(out);
  const auto run = [&](std::size_t part) {
    const std::size_t first = out.size() * part / parts, last = out.size() * (part + 1) / parts;
    draw_block(seed, first, all.subspan(first, last - first));
  };
  std::vector<std::jthread> others;
  for (std::size_t part = 1; part < parts; ++part) others.emplace_back(run, part);
  run(0);
  others.clear();
  return out;
}

double location(std::span<const double> values, std::span<const std::int32_t> group, bool by_group,
                Estimate estimate) {
  return GroupedSample(values, group, by_group, estimate).estimate();
}

}  // namespace omen::host::stats
