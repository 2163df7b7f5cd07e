// SPDX-License-Identifier: Apache-2.0
// Lowers a file as loadbalance.programl does, and asks about the nodes of its graphs.
#include "frontend/examples_frontend.hpp"

#include <filesystem>
#include <memory>

#include "dataflow/examples.hpp"
#include "frontend/programl_frontend.hpp"
#include "graph/digest.hpp"

namespace omen::loadbalance {

int ExamplesFrontend::sniff(const char* path, std::string_view head) {
  return ProgramlFrontend::sniff(path, head) > 0 ? 1 : 0;
}

void ExamplesFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  ProgramlOptions lowering;
  lowering.kernel = options_.kernel;
  lowering.counts = lowering.divisible = false;
  TableCollector collected;
  ProgramlFrontend(lowering).lower(path, TablesOut(collected.c()), run);
  auto tables = collected.take();

  ExampleSettings settings;
  settings.analysis = analysis_named(options_.task);
  settings.mode = options_.compat ? Mode::kCompat : Mode::kExact;
  settings.roots = options_.roots;
  settings.share = options_.root_share;
  settings.max_steps = options_.max_steps;
  settings.seed = run.seed();
  const std::string file = std::filesystem::path(path).filename().string();
  const std::uint64_t number = fnv1a(file);  // other files, other draws
  std::vector<Example> examples;
  std::vector<std::int64_t> graph_id;
  std::vector<ProgramGraph> graphs = from_tables(tables.at("nodes"), tables.at("edges"));
  const StringColumn names = tables.at("workloads").strings("name");
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    run.step(static_cast<double>(i) / static_cast<double>(graphs.size()), "examples");
    graphs[i].name = names[static_cast<std::int64_t>(i)];
    const auto graph = std::make_shared<const ProgramGraph>(std::move(graphs[i]));
    for (Example& example :
         make_examples(graph, static_cast<std::int64_t>(examples.size()), number + i, settings)) {
      graph_id.push_back(static_cast<std::int64_t>(i));
      examples.push_back(std::move(example));
    }
  }
  ExampleTables made = to_tables(examples, graph_id, settings.analysis, file);
  out.put("workloads", std::move(made.workloads));
  out.put("nodes", std::move(tables.at("nodes")));
  out.put("edges", std::move(tables.at("edges")));
  out.put("node_features", std::move(made.node_features));
  out.put("node_targets", select(made.node_targets, {"workload_id", "node_id", "label"}));
}

}  // namespace omen::loadbalance
