// SPDX-License-Identifier: Apache-2.0
// Digests of program graphs that do not depend on the order of nodes and edges.
#pragma once

#include <cstdint>
#include <string>

#include "graph/program_graph.hpp"

namespace omen::loadbalance {

// FNV-1a, 64 bit.
std::uint64_t fnv1a(std::string_view bytes);

// Of the sorted lines "<type>\t<text>" of all nodes; 16 hex digits.
std::string node_text_digest(const ProgramGraph& graph);

// Of node states after three rounds in which each takes up its neighbours' states with flow,
// position and direction; 16 hex digits. Equal graphs, up to renumbering, have equal digests.
std::string structure_digest(const ProgramGraph& graph);

}  // namespace omen::loadbalance
