// SPDX-License-Identifier: Apache-2.0
// Training of the data-flow network on a stream of examples, in memory that does not grow with it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "dataflow/examples.hpp"
#include "network/dataflow_network.hpp"
#include "omen/run.hpp"

namespace omen::loadbalance {

struct DataflowTraining {
  std::int64_t updates = 1500;
  std::int64_t steps = 30;            // most steps of propagation
  std::int64_t batch_nodes = 2500;    // nodes on edges in an update
  std::int64_t pool_nodes = 4000000;  // nodes of the examples that are held at a time
  bool shorter_ways = false;          // the network follows edges that skip nodes
  double learning_rate = 0.01;
  double curriculum = 0.4;  // share of the updates in which steps grow to what examples need
};

// Examples at hand. They stay while the stream fits; of a longer one each renew() exchanges some.
class ExamplePool {
 public:
  using Open = std::function<ExampleStream()>;
  using Read = std::function<DataflowItem(const Example&)>;
  ExamplePool(Open open, Read read, std::int64_t most_nodes, std::uint64_t seed);

  const std::vector<DataflowItem>& items() const { return items_; }
  bool complete() const { return complete_; }
  // Reads the examples of one more graph in place of as many others.
  void renew();

 private:
  Open open_;
  Read read_;
  std::mt19937_64 random_;
  std::vector<DataflowItem> items_;
  std::unique_ptr<ExampleStream> stream_;
  bool complete_ = false;
};

// True and false answers of labelled nodes.
struct Confusion {
  std::int64_t true_positive = 0, false_positive = 0, false_negative = 0;
  double precision() const;
  double recall() const;
  double f1() const;
};

// Answers after `steps` steps compared with the labels of the items, some at a time.
Confusion evaluate(const DataflowNetwork& network, const std::vector<const DataflowItem*>& items,
                   std::int64_t steps, const Run& run);

// Few steps first, and nodes whose labels can be known after them; in the end all steps, and all
// nodes. Answers count half-way as well, which makes them come early and stay. Keeps the weights
// with the best F1 on `held_out` where there are some. Returns that F1, or the last loss.
double train_dataflow(DataflowNetwork& network, ExamplePool& pool,
                      const std::vector<DataflowItem>& held_out, const DataflowTraining& settings,
                      const Run& run);

}  // namespace omen::loadbalance
