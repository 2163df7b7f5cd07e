// SPDX-License-Identifier: Apache-2.0
// The least time an operation can take on a device, and what its efficiency depends on.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "step/device.hpp"

namespace omen::driple {

// Operations whose efficiencies are learnt together.
enum class Family : std::uint8_t {
  product32,  // products of matrices on fp32 units
  product16,  // on tensor units
  product8,
  convolution,
  prefill,  // attention of many queries
  decode,   // attention of one query a sequence
  traffic,  // everything that memory alone limits
  collective,
};
inline constexpr std::size_t kFamilyCount = 8;
const char* family_word(Family family);

// Nothing for what launches no kernel and for collectives of one rank.
std::optional<Family> family_of(const opgraph::Op& op);
bool is_collective(opgraph::OpClass kind);

// Whether Winograd's algorithm may replace the direct form.
bool takes_winograd(const opgraph::Op& op);
// Bytes that one rank sends in a ring.
double collective_volume(const opgraph::Op& op);

// Seconds of arithmetic by the cheapest known algorithm and of traffic, each at the full rate.
struct Bound {
  double compute = 0, memory = 0;
  double seconds() const { return compute > memory ? compute : memory; }
};
Bound bound_of(const opgraph::Op& op, const Device& device);
// What utilisation is relative to: the bound, and for collectives the hops of a ring besides, which
// short messages wait for whatever the link carries.
double reference_of(const opgraph::Op& op, const Device& device);

inline constexpr std::size_t kOpFeatures = 14;
using OpFeatures = std::array<float, kOpFeatures>;
// Logarithms of dimensions, intensity, compute over memory time, waves and padding: relative to the
// device, so that devices that were never measured are asked about in known terms.
OpFeatures op_features(const opgraph::Op& op, Family family, const Device& device);
// Columns that members of an ensemble do not see, in turn: where few devices were measured, no
// single description of them is trusted. Empty: all see everything.
std::vector<std::vector<int>> hidden_features(Family family);

}  // namespace omen::driple
