// SPDX-License-Identifier: Apache-2.0
// Questions about nodes of graphs, one root each, with or without their answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/analysis.hpp"
#include "dataflow/graph_stream.hpp"

namespace omen::loadbalance {

struct Example {
  std::shared_ptr<const ProgramGraph> graph;  // shared by the examples of a graph
  std::int64_t workload_id = 0;
  std::int32_t root = 0;
  std::int64_t steps = 0;           // -1 where it is not known
  std::vector<std::uint8_t> label;  // one a node, or empty where it is asked for
  std::vector<std::int32_t> known;  // steps after which each can be known; empty: `steps`
  std::vector<std::vector<std::int32_t>> waves;  // see Labels; examples of tables have none
};

// How examples are made from graphs that have none.
struct ExampleSettings {
  Analysis analysis = Analysis::kReachability;
  Mode mode = Mode::kExact;
  std::int64_t roots = 10;      // at most so many of a graph
  double share = 0.1;           // of the roots that it has
  std::int64_t max_steps = 30;  // examples with more are left out; 0: none
  std::uint64_t seed = 0;       // with the number of the graph in the stream
};
std::vector<Example> make_examples(std::shared_ptr<const ProgramGraph> graph,
                                   std::int64_t first_workload, std::uint64_t number,
                                   const ExampleSettings& settings);

// Examples of a dataset, graph by graph; memory is that of one graph and its examples.
//
// With node_targets (columns label, a dictionary of "0" and "1" or numbers, and perhaps known) they
// are those of the dataset. Roots are a column `root` of workloads, or the node that column `root`
// of node_features marks. Without node_targets they are made from the graphs (make_examples), or
// have no labels where `ask` is set.
class ExampleStream {
 public:
  ExampleStream(const Dataset& data, const ExampleSettings& settings, bool ask = false);
  // The examples of the next graph that has some; nothing at the end.
  std::optional<std::vector<Example>> next();

 private:
  std::vector<Example> given(const std::shared_ptr<const ProgramGraph>& graph, const Table& rows);
  std::int32_t root_of(const Table& workloads, std::int64_t row, std::int64_t workload);
  void read_labels(Example& example);

  ExampleSettings settings_;
  bool ask_, made_;
  GraphStream graphs_;
  GroupStream workloads_;
  std::optional<GroupStream> features_, targets_;
  std::uint64_t number_ = 0;
  std::int64_t next_workload_ = 0;
};

// Tables of examples: workloads (workload_id, graph_id, name, group, analysis, root, steps,
// active), node_features (workload_id, node_id, root) and node_targets (workload_id, node_id,
// label, known). `graph_id` says to which graph each example belongs.
struct ExampleTables {
  Table workloads, node_features, node_targets;
};
ExampleTables to_tables(const std::vector<Example>& examples,
                        const std::vector<std::int64_t>& graph_id, Analysis analysis,
                        const std::string& group);

}  // namespace omen::loadbalance
