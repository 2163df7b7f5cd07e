// SPDX-License-Identifier: Apache-2.0
// What the published networks see of a job: at most k groups of operations with three features.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "grouping/neighbours.hpp"

namespace omen::driple {

// An operation before grouping.
struct RawOp {
  double tensor_size = 0;  // elements of the first output, see tensor_size_of()
  double frequency = 0;    // share of its kind among all operations
};

inline constexpr std::size_t kGroupFeatures = 3;

struct GroupedGraph {
  // Sum of tensor sizes, number of operations, sum of frequencies; one entry a group.
  std::vector<std::array<float, kGroupFeatures>> features;
  std::vector<Pair> edges;      // between different groups, each once with the lower number first
  std::int64_t operations = 0;  // in groups
  std::int64_t left_out = 0;    // isolated, or outside of the largest connected part

  std::int32_t size() const { return static_cast<std::int32_t>(features.size()); }
};

// Drops what is not in the largest connected part and groups the rest by fluid communities.
GroupedGraph group_graph(const std::vector<RawOp>& ops, const std::vector<Pair>& edges,
                         std::int32_t groups, std::uint64_t seed);

// Elements of a shape as published: an unknown dimension (negative) starts the product anew, and a
// scalar has none. `unknown_rank` gives 0, as does an empty shape.
double tensor_size_of(const std::int64_t* dims, std::size_t rank);

}  // namespace omen::driple
