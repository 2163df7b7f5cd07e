// SPDX-License-Identifier: Apache-2.0
// Which models train together and on how many accelerators each, after FLEET (MLSys 2020).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/rate_curve.hpp"

namespace omen::ensemble {

// A model of a plan.
struct PlannedModel {
  RateCurve curve;
  double work = 0;  // images until it is trained
};

// A model with its accelerators.
struct Member {
  std::size_t model = 0;
  std::int64_t accelerators = 1;
};

struct FlotillaRule {
  double distance = 20;          // images/s that a member may be away from the reference
  double distance_share = 0.15;  // the same as a part of the reference; the larger one counts
};

// The reference is the fastest candidate on one accelerator. Models join with as many accelerators
// as bring them nearest to its rate, the nearest first, fewer accelerators and lower numbers before
// others; what is left goes one by one to the slowest member that still gains. In the order of
// joining. `candidates` are not empty, and there is at least one accelerator.
std::vector<Member> make_flotilla(const std::vector<PlannedModel>& models,
                                  const std::vector<std::size_t>& candidates,
                                  std::int64_t accelerators, const FlotillaRule& rule);

// Accelerators of one member.
struct Placement {
  std::size_t model = 0;
  std::int64_t first = 0, count = 0;  // consecutive numbers
};

// Numbers for the members of a flotilla so that few span more nodes than they must: whole nodes
// first, then pairs that fill nodes, then the best of at most 1,024 orders of the others.
std::vector<Placement> place(const std::vector<Member>& members, std::int64_t per_node);
// Sum over members of nodes / accelerators, which placing makes small.
double spread(const std::vector<Placement>& placed, std::int64_t per_node);

}  // namespace omen::ensemble
