// SPDX-License-Identifier: Apache-2.0
// Fluid communities: groups of a connected graph that push each other about until they balance.
#pragma once

#include <cstdint>
#include <vector>

#include "grouping/neighbours.hpp"

namespace omen::driple {

// The community 0..k-1 of every node. Asynchronous fluid communities, arXiv:1703.09307: a community
// of n nodes has density 1 / n in each of them, and a node joins the one with the largest sum over
// itself and its neighbours. None ever becomes empty. The graph is connected and has at least k
// nodes; where it has fewer, every node is a community of its own.
std::vector<std::int32_t> fluid_communities(const Neighbours& graph, std::int32_t k,
                                            std::uint64_t seed, int most_sweeps = 100);

}  // namespace omen::driple
