// SPDX-License-Identifier: Apache-2.0
// Cluster bootstrap: the median or mean of a sample when whole groups of rows are drawn again.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "stats/median_table.hpp"

namespace omen::host::stats {

enum class Estimate { kMedian, kMean };

// How often draw number `draw` of `seed` takes each group: as many groups as there are, with
// replacement.
void draw_groups(std::uint64_t seed, std::uint64_t draw, std::span<std::uint32_t> times);

class GroupedSample {
 public:
  // Finite values and their groups, numbered in any way. With `by_group` a row weighs 1 / size of
  // its group.
  GroupedSample(std::span<const double> values, std::span<const std::int32_t> group, bool by_group,
                Estimate estimate);

  std::size_t groups() const noexcept { return unit_.size(); }
  // Of the sample itself. NaN for an empty one.
  double estimate() const;
  // Of the sample in which group g occurs times[g] times, groups in ascending order of their
  // number and no more of them in all than the sample has.
  double estimate(std::span<const std::uint32_t> times) const;
  // Of each group alone, in ascending order of the group's number.
  std::vector<double> of_groups() const;
  // Of `draws` draws of groups; the same whatever `threads`.
  std::vector<double> bootstrap(int draws, std::uint64_t seed, unsigned threads = 1) const;

 private:
  // Small counts allow eight products an instruction; the other form holds whatever comes.
  using Narrow = MedianTable<std::int16_t, std::int16_t, std::int32_t>;
  using Wide = MedianTable<std::int32_t, std::int64_t, std::int64_t>;

  void make_table();
  void draw_block(std::uint64_t seed, std::size_t first, std::span<double> out) const;

  Estimate estimate_;
  std::vector<std::int32_t> group_;  // of each row, 0..groups-1
  std::vector<double> values_;
  std::vector<std::int64_t> sizes_;  // rows of each group
  std::vector<std::int64_t> unit_;   // weight of a row of each group, for medians
  std::vector<double> sum_, mass_;   // of each group, for means
  std::variant<std::monostate, Narrow, Wide> table_;
};

// The median or mean of rows, as the sample above has it.
double location(std::span<const double> values, std::span<const std::int32_t> group, bool by_group,
                Estimate estimate);

}  // namespace omen::host::stats
