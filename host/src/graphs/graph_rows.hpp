// SPDX-License-Identifier: Apache-2.0
// Which rows of the tables belong to each graph; what all writers of graphs share.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tables/dataset_tables.hpp"

namespace omen::host {

// A number column as integers; a text column with `otherwise` where it is absent or no text.
std::vector<std::int64_t> integers(const Table& table, const char* column);
std::vector<std::string> texts(const Table& table, const char* column, const char* otherwise);

// The rows of both tables that belong to each graph, in file order.
struct GraphRows {
  std::int64_t id = 0;
  std::vector<std::int64_t> nodes, edges;
};
// OMEN_INVALID_DATA where there is no table `nodes`.
std::vector<GraphRows> graphs_in(const Tables& tables);

// The first workload of each graph.
std::unordered_map<std::int64_t, std::int64_t> workload_of_graph(const Tables& tables);

}  // namespace omen::host
