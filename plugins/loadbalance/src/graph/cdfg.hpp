// SPDX-License-Identifier: Apache-2.0
// The control and data flow graph: instructions only, joined where a value flows from one to
// another.
#pragma once

#include "graph/program_graph.hpp"

namespace omen::loadbalance {

// Keeps the instructions with their control and call edges, and joins every definer of a variable
// to every user of it by a data edge. Variables, constants and types drop out, and no edge has a
// position. `source_nodes` of the result says which node each one was.
ProgramGraph to_cdfg(const ProgramGraph& graph);

}  // namespace omen::loadbalance
