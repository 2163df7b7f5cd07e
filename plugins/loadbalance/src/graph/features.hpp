// SPDX-License-Identifier: Apache-2.0
// What counting can tell of a kernel: instructions by class and loop depth, types, callees, edges.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/program_graph.hpp"

namespace omen::loadbalance {

// Named counts of one graph; a name that is not there counts 0. The names:
//   nodes, instructions, blocks, arguments, pointer_arguments, functions   sizes
//   edges.<flow>                                                           edges by kind
//   loops.<depth>, depth                                  loops at depth 1..3, the deepest one
//   op.<opcode>                                                            instructions
//   class.<class>.<depth>                                 instructions by class and loop depth 0..3
//   memory.<type>                                         loads and stores by the type they move
//   type.<type>                                           variables and constants by scalar type
//   call.<function>                                       calls; mangled names without arguments
//   dimension.largest, dimension.log                      array dimensions in types
using FeatureCounts = std::map<std::string, double>;

FeatureCounts count_features(const ProgramGraph& graph);

// Loop depth of every block that holds an instruction: 0 outside of loops, at most `most`. A loop
// is a strongly connected part of the control flow; inner loops are those that remain without the
// block by which it is entered.
std::map<std::int32_t, int> loop_depths(const ProgramGraph& graph, int most = 3);

// "get_global_id" for "_Z13get_global_idj"; other names as they are.
std::string_view unmangled(std::string_view function);

// Operations that one work-item executes, each loop taken `trips` times: what the analytic cost
// model starts from.
struct Operations {
  double fp32 = 0, fp64 = 0, integer = 0, special = 0;  // special: sqrt, exp and their kin
  double bytes = 0;                                     // loaded and stored
};
Operations count_operations(const FeatureCounts& counts, double trips = 16);

}  // namespace omen::loadbalance
