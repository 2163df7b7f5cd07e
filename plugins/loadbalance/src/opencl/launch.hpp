// SPDX-License-Identifier: Apache-2.0
// Index ranges of a launch, and their division between two devices by whole work-groups.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace omen::loadbalance {

// That a work-item is taken to read or write where nothing tells.
inline constexpr std::size_t kBytesPerItem = 4;

// What the column `divisible` says of a kernel whose work-groups may be divided; else why not.
inline constexpr const char* kDivisible = "yes";

struct LaunchRange {
  unsigned dimensions = 1;
  std::array<std::size_t, 3> global{1, 1, 1}, local{1, 1, 1};

  std::size_t groups(unsigned dimension) const { return global[dimension] / local[dimension]; }
  std::size_t items() const { return global[0] * global[1] * global[2]; }
  std::size_t group_items() const { return local[0] * local[1] * local[2]; }
};

// "1M" or "1024,768": one to three sizes with the suffixes k, M, G and Ki, Mi, Gi.
// OMEN_INVALID_ARGUMENT names `what`.
struct Sizes {
  unsigned count = 0;
  std::array<std::size_t, 3> size{1, 1, 1};
};
std::size_t parse_size(std::string_view text, const std::string& what);
Sizes parse_sizes(std::string_view text, const std::string& what);

// Completes a range: what is not given comes from the other, from `input_bytes` (of four bytes an
// item) and from `group_items` (of the first dimension); `required` is what the kernel itself asks
// for, zeros for nothing. OMEN_INVALID_ARGUMENT where the groups do not fill the range.
struct RangeRequest {
  Sizes global, local;
  std::size_t input_bytes = 0, group_items = 0;
  std::array<std::size_t, 3> required{};
  std::size_t largest_group = 0;  // of the devices; 0: unknown
};
LaunchRange make_range(const RangeRequest& request);

// The part of a range that one device computes.
struct Part {
  std::array<std::size_t, 3> offset{}, size{};
  bool empty() const { return size[0] == 0 || size[1] == 0 || size[2] == 0; }
};
Part whole(const LaunchRange& range);

// The first `first_groups` of the groups along one dimension, and the rest.
struct SplitPlan {
  unsigned dimension = 0;
  std::size_t groups = 0, first_groups = 0;
  Part first, second;
  double share() const {  // percent of the work for the first device
    return groups ? 100.0 * static_cast<double>(first_groups) / static_cast<double>(groups) : 0;
  }
};

// The plan whose share is nearest to the one asked for; 0 < share < 100 leaves each device a group
// where there are two.
SplitPlan plan_split(const LaunchRange& range, unsigned dimension, double share);

// The dimension with the most groups among those of the mask, the last of equals: neighbours in
// memory stay on one device. Nothing where none of them has two groups.
std::optional<unsigned> find_split_dimension(const LaunchRange& range, unsigned allowed_mask);
// The same; OMEN_UNSUPPORTED with the reason where there is none.
unsigned split_dimension(const LaunchRange& range, unsigned allowed_mask);
// Why there is none.
std::string no_split_reason(const LaunchRange& range, unsigned allowed_mask);

// A mask of dimensions as the column `divisible_along` has it, "0,2"; what is no dimension does not
// count.
inline constexpr unsigned kAllDimensions = 7;
std::string dimensions_text(unsigned mask);
unsigned parse_dimensions(std::string_view text);

}  // namespace omen::loadbalance
