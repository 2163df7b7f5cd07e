// SPDX-License-Identifier: Apache-2.0
// The predictor `loadbalance.dataflow`: labels of the nodes of a program graph for one root.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "omen/plugin.hpp"

namespace omen::loadbalance {

struct DataflowOptions {
  std::string task = "reachability";
  std::string edges = "auto";
  std::string gates = "auto";
  std::int64_t width = 16;
  std::int64_t steps = 30;
  std::int64_t predict_steps = 0;
  std::int64_t updates = 1500;
  std::int64_t batch_nodes = 2500;
  std::int64_t pool_nodes = 4000000;
  std::int64_t roots = 10;
  double root_share = 0.1;
  double learning_rate = 0.01;
  double selector = 10;
  bool compat = false;

  static std::vector<Option<DataflowOptions>> spec();
};

// Examples are those of the dataset (node_targets) or are made from its graphs by the analysis
// `task`. Every table is streamed; what is held does not depend on the size of the data.
class DataflowPredictor final : public Predictor {
 public:
  explicit DataflowPredictor(DataflowOptions options);
  ~DataflowPredictor() override;

  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  // One row per node of each workload's graph: label and label.p.1. Roots come with the workloads.
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  struct Model;
  DataflowOptions options_;
  std::shared_ptr<const Model> model_;  // shared with streams of answers
};

Component dataflow_component();

}  // namespace omen::loadbalance
