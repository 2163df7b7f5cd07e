// SPDX-License-Identifier: Apache-2.0
// Graphs for people and other tools: node-link JSON, graphviz text, and drawings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tables/dataset_tables.hpp"

namespace omen::host {

// The form that networkx reads; one object for one graph, a list for several.
std::string graph_json(const Tables& tables);

// What a node does, which decides its colour.
enum class OpFamily { kCompute, kElementwise, kReduce, kMemory, kControl, kData, kOther };
OpFamily op_family(std::string_view op);

// Graphviz text with colours by family, line styles by edge kind and a legend. Beyond `max_nodes`
// nodes the rest is left out and counted in a last node.
std::string graph_dot(const Tables& tables, const std::string& title, std::int64_t max_nodes);

// Runs graphviz's `dot`; OMEN_UNAVAILABLE where it is not installed, OMEN_TIMEOUT where the layout
// takes too long.
void write_svg(const std::filesystem::path& path, const std::string& dot_text);

// Counts for a summary.
struct GraphFacts {
  std::int64_t graphs = 0, nodes = 0, edges = 0, ops = 0;
  std::string frequent_ops;  // "load 12, add 7, store 5"
  std::string edge_kinds;    // "data 24, control 12"
};
GraphFacts graph_facts(const Tables& tables);

}  // namespace omen::host
