// SPDX-License-Identifier: Apache-2.0
// Graphs side by side, refined together so that they share rows with each other too.
#include "omen/torch/nn/graph_plan.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "index_tensor.hpp"

namespace omen::torch_kit::nn {
namespace {

// Beyond the steps of the body, pooling may look further along edges.
constexpr std::int64_t kStepsOfPooling = 3;

struct Joined {
  std::vector<std::int32_t> tokens, graph_of_node;
  std::vector<std::int64_t> offsets = {0};
  TypedEdges edges;
};

Joined join(const std::vector<const TokenGraph*>& graphs) {
  Joined all;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const auto base = static_cast<std::int32_t>(all.tokens.size());
    const TypedEdges& edges = graphs[g]->edges;
    all.tokens.insert(all.tokens.end(), graphs[g]->tokens.begin(), graphs[g]->tokens.end());
    all.graph_of_node.resize(all.tokens.size(), static_cast<std::int32_t>(g));
    for (std::size_t e = 0; e < edges.size(); ++e)
      all.edges.push(edges.source[e] + base, edges.target[e] + base, edges.relation[e],
                     edges.position[e]);
    all.offsets.push_back(static_cast<std::int64_t>(all.tokens.size()));
  }
  return all;
}

// Which rows make up each graph, and how many nodes stand behind each of them.
GraphPlan::Level make_level(const Joined& all, const std::vector<std::int32_t>* row_of) {
  GraphPlan::Level level;
  const auto graphs = static_cast<std::int64_t>(all.offsets.size()) - 1;
  std::vector<std::int32_t> rows, owners;
  std::vector<float> counts, means;
  std::unordered_map<std::int32_t, std::size_t> slot;  // of the rows of the present graph
  std::int32_t last_row = -1;
  for (std::size_t n = 0; n < all.tokens.size(); ++n) {
    const std::int32_t graph = all.graph_of_node[n];
    const std::int32_t row = row_of ? (*row_of)[n] : static_cast<std::int32_t>(n);
    const auto g = static_cast<std::size_t>(graph);
    if (static_cast<std::int64_t>(n) == all.offsets[g]) slot.clear();
    const float share = 1.0f / static_cast<float>(all.offsets[g + 1] - all.offsets[g]);
    last_row = std::max(last_row, row);
    const auto [found, fresh] = slot.try_emplace(row, rows.size());
    if (fresh) {
      rows.push_back(row);
      owners.push_back(graph);
      counts.push_back(0);
      means.push_back(0);
    }
    counts[found->second] += 1;
    means[found->second] = counts[found->second] * share;
  }
  level.rows = last_row + 1;
  if (row_of) level.row_of_node = index_tensor(*row_of);
  level.pool = Adjacency::from_edges(index_tensor(rows), index_tensor(owners), level.rows, graphs);
  const auto in_slot_order = [&](const std::vector<float>& values) {
    at::Tensor t = at::empty({static_cast<std::int64_t>(values.size())});
    std::copy(values.begin(), values.end(), t.mutable_data_ptr<float>());
    return t.index_select(0, level.pool.edge_order());
  };
  level.counts = in_slot_order(counts);
  level.means = in_slot_order(means);
  return level;
}

void refine_levels(const Joined& all, const TypedEdges& edges, std::int64_t relations,
                   std::int64_t steps, GraphPlan& plan) {
  RefinedPlan refined = refine(all.tokens, edges, relations, steps);
  plan.tokens = index_tensor(refined.tokens);
  for (MessagePlan& step : refined.steps)
    plan.steps.push_back(std::make_shared<const MessagePlan>(std::move(step)));
  for (std::size_t t = 0; t < refined.row_of.size(); ++t) {
    const bool as_before = t > 0 && plan.steps[t - 1]->rows_in == plan.steps[t - 1]->rows_out;
    plan.levels.push_back(as_before ? plan.levels.back() : make_level(all, &refined.row_of[t]));
  }
}

}  // namespace

at::Tensor GraphPlan::to_nodes(std::size_t level, const at::Tensor& rows) const {
  const at::Tensor& index = levels[level].row_of_node;
  return index.defined() ? rows.index_select(0, index) : rows;
}

GraphPlan plan_graphs(const std::vector<const TokenGraph*>& graphs, const PlanOptions& options) {
  const Joined all = join(graphs);
  GraphPlan plan;
  plan.graphs = static_cast<std::int64_t>(graphs.size());
  plan.nodes = static_cast<std::int64_t>(all.tokens.size());
  plan.graph_offsets = index_tensor(all.offsets);
  if (options.forward)
    plan.forward = Adjacency::from_edges(index_tensor(all.edges.source),
                                         index_tensor(all.edges.target), plan.nodes, plan.nodes);
  const TypedEdges edges =
      options.backward_edges ? with_backward_edges(all.edges, options.edge_kinds) : all.edges;
  const std::int64_t relations = (options.backward_edges ? 2 : 1) * options.edge_kinds;
  if (options.refine) {
    refine_levels(all, edges, relations, options.steps, plan);
    return plan;
  }
  plan.tokens = index_tensor(all.tokens);
  plan.steps.assign(
      static_cast<std::size_t>(options.steps),
      std::make_shared<const MessagePlan>(plan_messages(edges, plan.nodes, relations)));
  plan.levels.assign(static_cast<std::size_t>(options.steps) + 1, make_level(all, nullptr));
  return plan;
}

DistinctGraphs distinct_graphs(const std::vector<const TokenGraph*>& graphs,
                               const PlanOptions& options) {
  DistinctGraphs out;
  std::unordered_map<const TokenGraph*, std::int64_t> by_address;
  std::unordered_map<std::uint64_t, std::int64_t> by_digest;
  for (const TokenGraph* graph : graphs) {
    if (!graph) {
      out.number.push_back(-1);
      continue;
    }
    const auto [known, fresh] = by_address.try_emplace(graph, 0);
    if (fresh) {
      const TypedEdges edges = options.backward_edges
                                   ? with_backward_edges(graph->edges, options.edge_kinds)
                                   : graph->edges;
      const std::uint64_t digest =
          network_digest(graph->tokens, edges, options.steps + kStepsOfPooling);
      const auto [same, first] =
          by_digest.try_emplace(digest, static_cast<std::int64_t>(out.graphs.size()));
      if (first) out.graphs.push_back(graph);
      known->second = same->second;
    }
    out.number.push_back(known->second);
  }
  return out;
}

}  // namespace omen::torch_kit::nn
