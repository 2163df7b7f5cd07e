// SPDX-License-Identifier: Apache-2.0
// Operations of a forward pass behind each other.
#include "omen/opgraph/forward_graph.hpp"

namespace omen::opgraph {

OpId ForwardGraph::add(std::string name, Op op, Gradient gradient,
                       std::initializer_list<OpId> inputs, Parameters parameters) {
  return add(std::move(name), std::move(op), gradient,
             std::span<const OpId>(inputs.begin(), inputs.size()), parameters);
}

OpId ForwardGraph::add(std::string name, Op op, Gradient gradient, std::span<const OpId> inputs,
                       Parameters parameters) {
  const OpId id = size();
  op.name = std::move(name);
  graph_.ops.push_back(std::move(op));
  gradients_.push_back(gradient);
  parameters_.push_back(parameters);
  first_edge_.push_back(graph_.edges.size());
  for (const OpId input : inputs) graph_.edges.push_back({input, id});
  return id;
}

void ForwardGraph::add_bias(OpId id, double count) {
  Parameters& parameters = parameters_[static_cast<std::size_t>(id)];
  parameters.count += count;
  parameters.bias += count;
  parameters.variables += count > 0 ? 1 : 0;
}

void ForwardGraph::reserve(std::size_t ops) {
  graph_.ops.reserve(ops);
  graph_.edges.reserve(2 * ops);
  gradients_.reserve(ops);
  parameters_.reserve(ops);
  first_edge_.reserve(ops);
}

std::span<const Edge> ForwardGraph::inputs(OpId id) const {
  const auto at = static_cast<std::size_t>(id);
  const std::size_t end = at + 1 < first_edge_.size() ? first_edge_[at + 1] : graph_.edges.size();
  return {graph_.edges.data() + first_edge_[at], end - first_edge_[at]};
}

double ForwardGraph::parameter_count() const {
  double count = 0;
  for (const Parameters& each : parameters_)
    if (!each.shared) count += each.count;
  return count;
}

}  // namespace omen::opgraph
