// SPDX-License-Identifier: Apache-2.0
// Workloads of a dataset with their op graphs, grouped as the published networks read them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <omen/dataset.hpp>
#include <string>
#include <vector>

#include "grouping/grouped_graph.hpp"
#include "grouping/op_frequencies.hpp"

namespace omen::driple {

// Operations and edges of one graph as the tables name them.
struct OpRows {
  std::vector<std::string> op;  // the kind, with its phase where that is not the forward pass
  std::vector<double> tensor_size;
  std::vector<Pair> edges;
};

// Graphs by their ids. OMEN_INVALID_DATA for an edge to a node that is not there.
std::map<std::int64_t, OpRows> read_op_rows(const Dataset& data);

// Kinds of operations over all graphs.
OpFrequencies count_frequencies(const std::map<std::int64_t, OpRows>& graphs);

struct JobGraph {
  GroupedGraph grouped;
  double tensor_size = 0;          // of all groups
  std::int64_t unknown_kinds = 0;  // operations that the table of frequencies does not name
};

// How graphs are cut into groups.
struct Grouping {
  std::int32_t groups = 100;
  std::uint64_t seed = 42;
};

struct JobRows {
  std::vector<JobGraph> graphs;
  std::vector<std::int64_t> workload_id;
  std::vector<std::int64_t> graph;  // place in graphs, -1 where the dataset has none

  std::size_t size() const { return workload_id.size(); }
  // Null without a graph, or where no two of its operations are joined.
  const JobGraph* find(std::size_t row) const;
};

// Groups every graph that a workload names, once. `progress` gets the share that is done.
JobRows read_job_rows(const Dataset& data, const std::map<std::int64_t, OpRows>& graphs,
                      const OpFrequencies& frequencies, const Grouping& grouping,
                      const std::function<void(double)>& progress);

// Numbers to learn, in the order of rows; NaN where one was not measured.
struct Label {
  std::string name;
  Metadata metadata;
  std::vector<double> value;
};

// All columns of `targets`; OMEN_INVALID_DATA where one is a class, or where there is none.
std::vector<Label> read_labels(const Dataset& data, const JobRows& rows);

}  // namespace omen::driple
