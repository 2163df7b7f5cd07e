// SPDX-License-Identifier: Apache-2.0
// The rows of a dataset as the networks read them: graph, work-group size, bytes, targets.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "network/token_graph.hpp"
#include "omen/dataset.hpp"

namespace omen::loadbalance {

// One entry a workload; `graph` is null where the dataset has none for it.
struct KernelRows {
  TokenGraphs graphs;  // what `graph` points into
  std::vector<std::int64_t> workload_id;
  std::vector<const nn::TokenGraph*> graph;
  std::vector<double> wgsize, input_size;  // NaN where they are not known
  std::set<std::string> compiled;          // settings that the graphs were compiled with

  std::size_t size() const noexcept { return workload_id.size(); }
  bool known(std::size_t row) const;
};

// OMEN_INVALID_DATA where workloads lack wgsize or input_size.
KernelRows read_kernel_rows(const Dataset& data, const Vocabulary& words);

// One thing to predict: a number, or a class where `classes` is not empty.
struct TargetColumn {
  std::string name;
  Metadata metadata;
  std::vector<std::string> classes;
  std::vector<double> value;  // by row; the number of the class; NaN where it was not measured
};

// Every column of `targets` but the key, in the order of `rows`. With `like`, only those targets
// and their classes; a class that `like` does not have is not measured.
std::vector<TargetColumn> read_targets(const Dataset& data,
                                       const std::vector<std::int64_t>& workload_id,
                                       const std::vector<TargetColumn>* like = nullptr);

}  // namespace omen::loadbalance
