// SPDX-License-Identifier: Apache-2.0
// Reads sizes, completes ranges and divides them.
#include "opencl/launch.hpp"

#include <algorithm>
#include <cmath>

#include "omen/error.hpp"
#include "omen/scaled_number.hpp"

namespace omen::loadbalance {
namespace {

constexpr std::size_t kDefaultItems = std::size_t{1} << 20;
constexpr std::size_t kDefaultGroup = 64;

[[noreturn]] void invalid_launch(const std::string& message, const std::string& hint) {
  throw Error(OMEN_INVALID_ARGUMENT, message, hint);
}

std::string text_of(const std::array<std::size_t, 3>& sizes, unsigned count) {
  std::string text;
  for (unsigned d = 0; d < count; ++d) text += (d ? "," : "") + std::to_string(sizes[d]);
  return text;
}

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

// The largest divisor of `value` that is no larger than `most`.
std::size_t largest_divisor(std::size_t value, std::size_t most) {
  for (std::size_t divisor = std::min(value, most); divisor > 1; --divisor)
    if (value % divisor == 0) return divisor;
  return 1;
}

// The group where none was given: what the kernel asks for, else one line of the first dimension.
std::array<std::size_t, 3> default_group(const RangeRequest& request,
                                         const std::array<std::size_t, 3>& global, bool exact) {
  if (request.required[0]) return request.required;
  const std::size_t wanted = request.group_items ? request.group_items : kDefaultGroup;
  if (!exact || request.group_items) return {wanted, 1, 1};
  return {largest_divisor(global[0], wanted), 1, 1};
}

}  // namespace

std::size_t parse_size(std::string_view text, const std::string& what) {
  const double value = parse_scaled(text).value_or(0);
  if (value >= 1 && value <= 1e15 && value == std::floor(value))
    return static_cast<std::size_t>(value);
  invalid_launch(what + " is '" + std::string(text) + "', not a size",
                 "write a whole number above zero, such as 1048576, 1M or 1Mi");
}

Sizes parse_sizes(std::string_view text, const std::string& what) {
  Sizes sizes;
  while (!text.empty()) {
    if (sizes.count == 3)
      invalid_launch(what + " has more than three sizes", "write X, X,Y or X,Y,Z");
    const std::size_t comma = std::min(text.find(','), text.size());
    sizes.size[sizes.count++] = parse_size(text.substr(0, comma), what);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return sizes;
}

LaunchRange make_range(const RangeRequest& request) {
  LaunchRange range;
  const bool exact = request.global.count > 0;
  range.dimensions = std::max({request.global.count, request.local.count, 1u});
  if (exact && request.local.count > request.global.count)
    invalid_launch("the group has " + std::to_string(request.local.count) +
                       " dimensions, the range " + std::to_string(request.global.count),
                   "give as many sizes to --local as to --global");
  range.global = request.global.size;
  if (!exact)
    range.global[0] = request.input_bytes
                          ? std::max<std::size_t>(request.input_bytes / kBytesPerItem, 1)
                          : kDefaultItems;
  range.local =
      request.local.count ? request.local.size : default_group(request, range.global, exact);
  for (unsigned d = range.dimensions; d < 3; ++d)
    if (range.local[d] > 1) range.dimensions = d + 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (!exact) range.global[d] = round_up(range.global[d], range.local[d]);
    if (range.global[d] % range.local[d])
      invalid_launch("groups of " + text_of(range.local, range.dimensions) +
                         " do not fill a range of " + text_of(range.global, range.dimensions),
                     "choose sizes for --global that are multiples of those of --local");
    if (request.required[0] && request.required[d] != range.local[d])
      invalid_launch("the kernel asks for groups of " + text_of(request.required, 3) + ", not " +
                         text_of(range.local, 3),
                     "leave --local and --wgsize out");
  }
  if (request.largest_group && range.group_items() > request.largest_group)
    invalid_launch("a group of " + std::to_string(range.group_items()) +
                       " items is too large: a device " + "takes " +
                       std::to_string(request.largest_group),
                   "choose a smaller --local or --wgsize");
  return range;
}

Part whole(const LaunchRange& range) {
  return {{}, range.global};
}

SplitPlan plan_split(const LaunchRange& range, unsigned dimension, double share) {
  SplitPlan plan;
  plan.dimension = dimension;
  plan.groups = range.groups(dimension);
  const double wanted = std::clamp(share, 0.0, 100.0) / 100 * static_cast<double>(plan.groups);
  plan.first_groups = static_cast<std::size_t>(std::llround(wanted));
  if (plan.groups > 1 && share > 0 && share < 100)
    plan.first_groups = std::clamp<std::size_t>(plan.first_groups, 1, plan.groups - 1);
  plan.first = plan.second = whole(range);
  plan.first.size[dimension] = plan.first_groups * range.local[dimension];
  plan.second.offset[dimension] = plan.first.size[dimension];
  plan.second.size[dimension] = range.global[dimension] - plan.first.size[dimension];
  return plan;
}

std::optional<unsigned> find_split_dimension(const LaunchRange& range, unsigned allowed_mask) {
  std::optional<unsigned> best;
  for (unsigned d = 0; d < range.dimensions; ++d)
    if ((allowed_mask >> d & 1) && range.groups(d) > 1 &&
        (!best || range.groups(d) >= range.groups(*best)))
      best = d;
  return best;
}

std::string no_split_reason(const LaunchRange& range, unsigned allowed_mask) {
  if (range.items() == range.group_items())
    return "the range has fewer than two work-groups to divide";
  return "its work-groups may be divided along dimension " + dimensions_text(allowed_mask) +
         " only, and the range has one group there";
}

unsigned split_dimension(const LaunchRange& range, unsigned allowed_mask) {
  if (const auto found = find_split_dimension(range, allowed_mask)) return *found;
  throw Error(OMEN_UNSUPPORTED, no_split_reason(range, allowed_mask),
              "choose a larger --global or a smaller --local");
}

std::string dimensions_text(unsigned mask) {
  std::string text;
  for (unsigned d = 0; d < 3; ++d)
    if (mask >> d & 1) text += (text.empty() ? "" : ",") + std::to_string(d);
  return text;
}

unsigned parse_dimensions(std::string_view text) {
  unsigned mask = 0;
  for (const char c : text)
    if (c >= '0' && c <= '2') mask |= 1u << (c - '0');
  return mask;
}

}  // namespace omen::loadbalance
