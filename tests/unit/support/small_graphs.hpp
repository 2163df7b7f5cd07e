// SPDX-License-Identifier: Apache-2.0
// Workloads with a chain of operations each.
#pragma once

#include <string>
#include <vector>

#include "tables/dataset_tables.hpp"

namespace omen::test {

inline host::Tables graphs(std::int64_t count, std::int64_t nodes_each) {
  std::vector<std::int64_t> ids, graph;
  std::vector<std::int32_t> node, src, dst;
  std::vector<std::string> op;
  for (std::int64_t g = 0; g < count; ++g) {
    ids.push_back(g);
    for (std::int64_t n = 0; n < nodes_each; ++n) {
      graph.push_back(g);
      node.push_back(static_cast<std::int32_t>(n));
      op.push_back(n % 2 ? "add" : "load");
    }
  }
  TableBuilder w, nodes, edges;
  w.add("workload_id", ids).add_categories("group", std::vector<std::string>(ids.size(), "g"));
  nodes.metadata("omen.dialect", "ops/1")
      .add("graph_id", graph)
      .add("node_id", node)
      .add_categories("op", op);
  edges.add("graph_id", std::vector<std::int64_t>{0})
      .add("src", std::vector<std::int32_t>{0})
      .add("dst", std::vector<std::int32_t>{1});
  return {{"workloads", w.finish()}, {"nodes", nodes.finish()}, {"edges", edges.finish()}};
}

}  // namespace omen::test
