// SPDX-License-Identifier: Apache-2.0
// Weighted medians of one sample for many sets of group weights, each without touching every row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace omen::host::stats {

// The sample, sorted once and cut into blocks; for each block the rows of every group before it.
// A draw then finds its block by log2(blocks) dot products of `groups` numbers, and its row by a
// walk inside one block. Sums are of integers, so the answer is exactly that of sorting the drawn
// rows.
template <class CountType, class WeightType, class SumType>
class MedianTable {
 public:
  using Count = CountType;
  using Weight = WeightType;
  using Sum = SumType;

  // `order` sorts `values`; `group` numbers them 0..groups-1.
  MedianTable(std::span<const double> values, std::span<const std::int32_t> group,
              std::span<const std::size_t> order, std::size_t groups)
      : stride_((groups + kLanes - 1) / kLanes * kLanes) {
    const std::size_t rows = order.size();
    const std::size_t most = std::max<std::size_t>(1, kTableNumbers / stride_);
    const std::size_t blocks = std::clamp<std::size_t>(rows / kRowsPerBlock, 1, most);
    block_ = (rows + blocks - 1) / blocks;
    sorted_.reserve(rows);
    group_.reserve(rows);
    std::vector<Count> seen(stride_);
    for (std::size_t i = 0; i < rows; ++i) {
      if (i % block_ == 0) before_.insert(before_.end(), seen.begin(), seen.end());
      const std::int32_t g = group[order[i]];
      sorted_.push_back(values[order[i]]);
      group_.push_back(g);
      ++seen[static_cast<std::size_t>(g)];
    }
    sizes_ = std::move(seen);
  }

  // How many numbers `median` wants: the number of groups, padded with zeros.
  std::size_t stride() const noexcept { return stride_; }

  // The middle of the rows, each taken as often as its group's weight says: the mean of the two
  // middle ones where their number is even.
  double median(const Weight* weights) const {
    const Sum total = dot(sizes_.data(), weights);
    std::size_t low = 0, high = before_.size() / stride_;
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (2 * dot(&before_[middle * stride_], weights) < total ? low : high) = middle;
    }
    Sum sum = dot(&before_[low * stride_], weights);
    std::size_t row = low * block_;
    while (2 * (sum += weight(weights, row)) < total) ++row;
    if (2 * sum > total) return sorted_[row];
    std::size_t next = row + 1;
    while (weight(weights, next) == 0) ++next;
    return (sorted_[row] + sorted_[next]) / 2;
  }

 private:
  static constexpr std::size_t kLanes = 16;         // products that one vector step may hold
  static constexpr std::size_t kRowsPerBlock = 64;  // a walk that costs about one dot product
  static constexpr std::size_t kTableNumbers = std::size_t{1} << 21;  // stays in the cache

  Sum weight(const Weight* weights, std::size_t row) const {
    return static_cast<Sum>(weights[group_[row]]);
  }

  Sum dot(const Count* counts, const Weight* weights) const {
    Sum sum = 0;
    for (std::size_t g = 0; g < stride_; g += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        sum += static_cast<Sum>(counts[g + lane]) * static_cast<Sum>(weights[g + lane]);
    return sum;
  }

  std::size_t stride_, block_ = 1;
  std::vector<double> sorted_;
  std::vector<std::int32_t> group_;
  std::vector<Count> before_, sizes_;
};

}  // namespace omen::host::stats
