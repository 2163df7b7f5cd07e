// SPDX-License-Identifier: Apache-2.0
// Edges of all graphs, moved behind each other.
#include "nets/group_batch.hpp"

#include <cmath>

#include "omen/error.hpp"

namespace omen::driple {

GroupBatch make_batch(const std::vector<const GroupedGraph*>& graphs) {
  GroupBatch batch;
  batch.graphs = static_cast<std::int64_t>(graphs.size());
  batch.nodes = graphs.empty() ? 0 : graphs.front()->size();
  NormalisedRows& rows = batch.normalised;
  rows.begin.push_back(0);
  std::int32_t first = 0;
  for (const GroupedGraph* graph : graphs) {
    if (graph->size() != batch.nodes)
      throw Error(OMEN_INVALID_ARGUMENT, "graphs of a batch differ in their number of groups");
    for (const auto& feature : graph->features)
      batch.features.insert(batch.features.end(), feature.begin(), feature.end());
    const Neighbours around(graph->size(), graph->edges);
    const auto scale = [&](std::int32_t node) {
      return 1 / std::sqrt(static_cast<float>(around[node].size() + 1));
    };
    for (std::int32_t node = 0; node < around.size(); ++node) {
      rows.neighbour.push_back(first + node);
      rows.weight.push_back(scale(node) * scale(node));
      for (const std::int32_t other : around[node]) {
        rows.neighbour.push_back(first + other);
        rows.weight.push_back(scale(node) * scale(other));
        batch.source.push_back(first + other);
        batch.target.push_back(first + node);
      }
      rows.begin.push_back(static_cast<std::int32_t>(rows.neighbour.size()));
    }
    first += around.size();
  }
  return batch;
}

}  // namespace omen::driple
