// SPDX-License-Identifier: Apache-2.0
// Orders nodes, resolves their inputs and adds up what holds for the whole graph.
#include "graphdef_steps.hpp"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "tensorflow_ops.hpp"

namespace omen::driple {
namespace {

struct Link {
  std::int32_t src = 0, dst = 0, position = 0;
  bool control = false;
};

struct Links {
  std::vector<Link> all;
  int missing = 0;
};

// "name", "name:2" and "^name"; a control input has no tensor.
Links resolve(const std::vector<GraphNode>& nodes) {
  std::unordered_map<std::string_view, std::int32_t> numbers;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    numbers.emplace(nodes[i].name, static_cast<std::int32_t>(i));
  Links links;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::int32_t position = 0;
    for (const std::string& input : nodes[i].inputs) {
      std::string_view source(input);
      const bool control = !source.empty() && source.front() == '^';
      if (control) source.remove_prefix(1);
      source = source.substr(0, source.find(':'));
      const auto found = numbers.find(source);
      if (found == numbers.end())
        ++links.missing;
      else
        links.all.push_back({found->second, static_cast<std::int32_t>(i), position, control});
      ++position;
    }
  }
  return links;
}

// Nodes whose inputs are done come first, in the order of the file; a loop is entered at its first
// node of the file.
std::vector<std::int32_t> ordered(std::size_t count, const std::vector<Link>& links) {
  std::vector<std::int32_t> waiting(count, 0), place(count, -1);
  std::vector<std::vector<std::int32_t>> readers(count);
  for (const Link& link : links) {
    ++waiting[static_cast<std::size_t>(link.dst)];
    readers[static_cast<std::size_t>(link.src)].push_back(link.dst);
  }
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(static_cast<std::int32_t>(i));
  std::int32_t next = 0;
  std::size_t first_left = 0;
  while (next < static_cast<std::int32_t>(count)) {
    if (ready.empty()) {
      while (place[first_left] >= 0) ++first_left;
      ready.push(static_cast<std::int32_t>(first_left));
    }
    const auto node = static_cast<std::size_t>(ready.top());
    ready.pop();
    if (place[node] >= 0) continue;
    place[node] = next++;
    for (const std::int32_t reader : readers[node])
      if (--waiting[static_cast<std::size_t>(reader)] == 0 &&
          place[static_cast<std::size_t>(reader)] < 0)
        ready.push(reader);
  }
  return place;
}

void add_facts(const std::vector<GraphNode>& nodes, const std::vector<opgraph::Shape>& shapes,
               std::int64_t unknown_size, opgraph::StepFacts& facts) {
  bool trains = false, has_variables = false;
  double variables = 0, constants = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const opgraph::OpClass* kind = class_of_tensorflow(nodes[i].op);
    if (kind == nullptr) continue;
    trains = trains || *kind == opgraph::OpClass::update;
    if (*kind == opgraph::OpClass::input && facts.batch == 0) facts.batch = double(shapes[i][0]);
    if (*kind != opgraph::OpClass::parameter) continue;
    const bool constant = nodes[i].op == "Const";
    has_variables = has_variables || !constant;
    (constant ? constants : variables) += opgraph::elements_of(shapes[i]);
  }
  if (facts.batch == 0) facts.batch = double(unknown_size);
  facts.mode = trains ? opgraph::Mode::train : opgraph::Mode::infer;
  // A frozen graph holds its weights as constants.
  facts.parameters = facts.active_parameters = has_variables ? variables : constants;
  facts.weight_bytes = 4 * facts.parameters;
  if (trains) facts.gradient_bytes = facts.weight_bytes;
  for (const GraphNode& node : nodes) {
    if (node.op.find("ApplyAdam") != std::string::npos) facts.optimizer = "adam";
    if (node.op.find("ApplyMomentum") != std::string::npos) facts.optimizer = "momentum";
    if (node.op.find("ApplyGradientDescent") != std::string::npos) facts.optimizer = "sgd";
  }
}

}  // namespace

GraphSteps graph_steps(const std::vector<GraphNode>& nodes, const std::string& name,
                       std::int64_t unknown_size) {
  GraphSteps steps;
  const Links links = resolve(nodes);
  const std::vector<std::int32_t> place = ordered(nodes.size(), links.all);
  std::vector<opgraph::Shape> shapes;
  std::vector<std::vector<opgraph::Shape>> inputs(nodes.size());
  int unknown = 0, strange = 0;
  for (const GraphNode& node : nodes) {
    const TensorShape shape = output_shape(node);
    unknown += !shape.known_rank && !shape.sizes.empty() ? 1 : 0;
    unknown += node.find("_output_shapes") == nullptr && !shape.known_rank ? 1 : 0;
    strange += class_of_tensorflow(node.op) == nullptr ? 1 : 0;
    shapes.push_back(known_shape(shape, unknown_size));
  }
  for (const Link& link : links.all)
    if (!link.control)
      inputs[static_cast<std::size_t>(link.dst)].push_back(
          shapes[static_cast<std::size_t>(link.src)]);

  const std::size_t count = nodes.size();
  steps.job.name = name;
  steps.job.graph.ops.resize(count);
  steps.ops.resize(count), steps.devices.resize(count), steps.tensor_sizes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(place[i]);
    steps.job.graph.ops[at] = op_of_node(nodes[i], shapes[i], inputs[i]);
    steps.ops[at] = nodes[i].op;
    steps.devices[at] = nodes[i].device;
    steps.tensor_sizes[at] = published_tensor_size(output_shape(nodes[i]));
  }
  for (const Link& link : links.all) {
    const std::int32_t src = place[static_cast<std::size_t>(link.src)],
                       dst = place[static_cast<std::size_t>(link.dst)];
    const bool back = src >= dst;
    const GraphEdgeKind kind = link.control ? GraphEdgeKind::control
                               : back       ? GraphEdgeKind::back
                                            : GraphEdgeKind::data;
    steps.edges.push_back({src, dst, link.position, kind});
    if (kind == GraphEdgeKind::data) steps.job.graph.edges.push_back({src, dst});
  }
  std::stable_sort(steps.edges.begin(), steps.edges.end(),
                   [](const auto& a, const auto& b) { return a.dst < b.dst; });
  std::stable_sort(steps.job.graph.edges.begin(), steps.job.graph.edges.end(),
                   [](const auto& a, const auto& b) { return a.dst < b.dst; });
  add_facts(nodes, shapes, unknown_size, steps.job.facts);
  const auto warn = [&](int number, const char* what) {
    if (number > 0) steps.warnings.push_back(std::to_string(number) + what);
  };
  warn(links.missing, " inputs name nodes that are not in the file");
  warn(strange, " nodes have operations that are not known; they count as other");
  warn(unknown, " nodes have no shape; they cost nothing");
  return steps;
}

}  // namespace omen::driple
