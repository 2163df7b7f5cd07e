// SPDX-License-Identifier: Apache-2.0
// Questions about nodes of graphs, one root each, with or without their answers.
#include "dataflow/examples.hpp"

#include <algorithm>
#include <utility>

#include "omen/error.hpp"

namespace omen::loadbalance {

std::vector<Example> make_examples(std::shared_ptr<const ProgramGraph> graph,
                                   std::int64_t first_workload, std::uint64_t number,
                                   const ExampleSettings& settings) {
  const auto analysis = make_analysis(settings.analysis, *graph, settings.mode);
  const std::uint64_t seed = settings.seed * 0x9e3779b97f4a7c15u + number;
  std::vector<Example> examples;
  for (const std::int32_t root :
       sample_roots(analysis->roots(), settings.roots, seed, settings.share)) {
    Labels labels = analysis->run(root);
    if (settings.max_steps > 0 && labels.steps > settings.max_steps) continue;
    const auto workload = first_workload + static_cast<std::int64_t>(examples.size());
    examples.push_back({graph, workload, root, labels.steps, std::move(labels.value),
                        std::move(labels.known), std::move(labels.waves)});
  }
  return examples;
}

namespace {

std::optional<GroupStream> groups_of(const Dataset& data, const char* table) {
  if (!data.has(table)) return std::nullopt;
  return GroupStream(data.stream(table), "workload_id", table);
}

// The marked row of each node as a number, whatever the type of the column.
std::vector<double> flags(const Table& rows, const char* column) {
  const std::size_t at = rows.index(column);
  if (!is_text(rows.type(at))) return rows.numbers(at);
  const StringColumn texts = rows.strings(at);
  std::vector<double> values(static_cast<std::size_t>(rows.rows()));
  for (std::int64_t row = 0; row < rows.rows(); ++row)
    values[static_cast<std::size_t>(row)] = texts[row] == "1";
  return values;
}

std::size_t checked_node(std::int32_t node, std::size_t nodes, std::int64_t workload) {
  if (node >= 0 && static_cast<std::size_t>(node) < nodes) return static_cast<std::size_t>(node);
  throw Error(OMEN_INVALID_DATA, "workload " + std::to_string(workload) + " names node " +
                                     std::to_string(node) + " of a graph with " +
                                     std::to_string(nodes));
}

}  // namespace

ExampleStream::ExampleStream(const Dataset& data, const ExampleSettings& settings, bool ask)
    : settings_(settings),
      ask_(ask),
      made_(!ask && !data.has("node_targets")),
      graphs_(data),
      workloads_(data.stream("workloads"), "graph_id", "workloads") {
  if (made_) return;
  features_ = groups_of(data, "node_features");
  if (!ask) targets_ = groups_of(data, "node_targets");
}

std::optional<std::vector<Example>> ExampleStream::next() {
  while (auto found = graphs_.next()) {
    auto graph = std::make_shared<const ProgramGraph>(std::move(found->first));
    const Table rows = workloads_.take(found->second);
    if (rows.rows() == 0) continue;  // a graph of another part of the data
    std::vector<Example> examples;
    if (made_) {
      examples = make_examples(graph, next_workload_, number_++, settings_);
      next_workload_ += static_cast<std::int64_t>(examples.size());
    } else {
      examples = given(graph, rows);
    }
    if (!examples.empty()) return examples;
  }
  return std::nullopt;
}

std::vector<Example> ExampleStream::given(const std::shared_ptr<const ProgramGraph>& graph,
                                          const Table& rows) {
  const auto ids = rows.column<std::int64_t>("workload_id");
  const std::vector<double> steps =
      rows.has("steps") ? rows.numbers("steps") : std::vector<double>();
  std::vector<Example> examples;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    Example example{graph, ids[row], root_of(rows, row, ids[row]), -1, {}, {}, {}};
    checked_node(example.root, graph->nodes.size(), ids[row]);
    if (!steps.empty())
      example.steps = static_cast<std::int64_t>(steps[static_cast<std::size_t>(row)]);
    if (!ask_) read_labels(example);
    const bool far = settings_.max_steps > 0 && example.steps > settings_.max_steps;
    if (ask_ || !far) examples.push_back(std::move(example));
  }
  return examples;
}

std::int32_t ExampleStream::root_of(const Table& workloads, std::int64_t row,
                                    std::int64_t workload) {
  if (workloads.has("root")) {
    const double root = workloads.numbers("root")[static_cast<std::size_t>(row)];
    if (root >= 0 && root < 2147483648.0) return static_cast<std::int32_t>(root);
  } else if (features_) {
    const Table rows = features_->take(workload);
    const auto nodes = rows.column<std::int32_t>("node_id");
    const std::vector<double> marks = flags(rows, "root");
    const auto at = std::find_if(marks.begin(), marks.end(), [](double m) { return m > 0; });
    if (at != marks.end()) return nodes[at - marks.begin()];
  }
  throw Error(OMEN_INVALID_DATA, "workload " + std::to_string(workload) + " has no root node",
              "Give --root N, the number of a node; `omen graph` writes them.");
}

void ExampleStream::read_labels(Example& example) {
  const std::size_t nodes = example.graph->nodes.size();
  const Table rows = targets_->take(example.workload_id);
  const auto ids = rows.column<std::int32_t>("node_id");
  const std::vector<double> marks = flags(rows, "label");
  const std::vector<double> known =
      rows.has("known") ? rows.numbers("known") : std::vector<double>();
  example.label.assign(nodes, 0);
  if (!known.empty()) example.known.assign(nodes, 0);
  for (std::size_t row = 0; row < marks.size(); ++row) {
    const std::size_t node =
        checked_node(ids[static_cast<std::int64_t>(row)], nodes, example.workload_id);
    example.label[node] = marks[row] > 0;
    if (!known.empty()) example.known[node] = static_cast<std::int32_t>(known[row]);
  }
}

ExampleTables to_tables(const std::vector<Example>& examples,
                        const std::vector<std::int64_t>& graph_id, Analysis analysis,
                        const std::string& group) {
  std::vector<std::int64_t> workload, root, steps, active, owner;
  std::vector<std::string> name;
  std::vector<std::int32_t> node, label, known;
  std::vector<std::uint8_t> marked;
  for (const Example& example : examples) {
    workload.push_back(example.workload_id);
    name.push_back(example.graph->name + ":" + std::to_string(example.root));
    root.push_back(example.root);
    steps.push_back(example.steps);
    active.push_back(std::count(example.label.begin(), example.label.end(), std::uint8_t{1}));
    for (std::size_t i = 0; i < example.label.size(); ++i) {
      owner.push_back(example.workload_id);
      node.push_back(static_cast<std::int32_t>(i));
      marked.push_back(static_cast<std::int32_t>(i) == example.root);
      label.push_back(example.label[i]);
      known.push_back(example.known.empty() ? static_cast<std::int32_t>(example.steps)
                                            : example.known[i]);
    }
  }
  const std::vector<std::int32_t> first(examples.size(), 0);
  ExampleTables tables;
  tables.workloads =
      TableBuilder()
          .add("workload_id", std::move(workload))
          .add("graph_id", graph_id)
          .add_strings("name", name)
          .add_dictionary("group", first, {group})
          .add_dictionary("analysis", first, {kAnalysisNames[static_cast<std::size_t>(analysis)]})
          .add("root", std::move(root))
          .add("steps", std::move(steps))
          .add("active", std::move(active))
          .finish();
  tables.node_features = TableBuilder()
                             .add("workload_id", owner)
                             .add("node_id", node)
                             .add("root", std::move(marked))
                             .finish();
  tables.node_targets = TableBuilder()
                            .add("workload_id", std::move(owner))
                            .add("node_id", std::move(node))
                            .add_dictionary("label", std::move(label), {"0", "1"})
                            .add("known", std::move(known))
                            .finish();
  return tables;
}

}  // namespace omen::loadbalance
