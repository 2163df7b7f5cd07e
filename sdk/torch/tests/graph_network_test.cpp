// SPDX-License-Identifier: Apache-2.0
// A graph network from tables to a saved model: the parts of the kit together, as a plugin uses
// them.
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/gru_cell.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "omen/container.hpp"
#include "omen/torch/columns.hpp"
#include "omen/torch/graph_batch.hpp"
#include "omen/torch/message_passing.hpp"
#include "omen/torch/training.hpp"

namespace omen::torch_kit {
namespace {

constexpr std::int64_t kWidth = 16;
constexpr std::int64_t kPositions = 4;

/// Graphs whose cost is the number of "load" nodes that feed a "mul" through a data edge: the
/// answer needs operators, edge kinds and one step along edges.
struct Corpus {
  Table nodes, edges;
  at::Tensor cost;

  explicit Corpus(std::int64_t graphs, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::int64_t> node_graph, edge_graph;
    std::vector<std::int32_t> node_id, src, dst, position;
    std::vector<std::string> op, kind;
    cost = at::zeros({graphs});
    for (std::int64_t g = 0; g < graphs; ++g) {
      const std::int32_t n = 4 + static_cast<std::int32_t>(random() % 12);
      const std::size_t first = op.size();
      for (std::int32_t i = 0; i < n; ++i) {
        node_graph.push_back(g);
        node_id.push_back(i);
        op.emplace_back(random() % 2 ? "load" : "mul");
      }
      for (std::int32_t e = 0; e < 2 * n; ++e) {
        edge_graph.push_back(g);
        src.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(n)));
        dst.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(n)));
        kind.emplace_back(random() % 2 ? "data" : "control");
        position.push_back(static_cast<std::int32_t>(random() % kPositions));
        if (kind.back() == "data" && op[first + static_cast<std::size_t>(src.back())] == "load" &&
            op[first + static_cast<std::size_t>(dst.back())] == "mul")
          cost.mutable_data_ptr<float>()[g] += 1;
      }
    }
    nodes = TableBuilder()
                .add("graph_id", node_graph)
                .add("node_id", node_id)
                .add_categories("op", op)
                .finish();
    edges = TableBuilder()
                .add("graph_id", edge_graph)
                .add("src", src)
                .add("dst", dst)
                .add_categories("kind", kind)
                .add("position", position)
                .finish();
  }
};

/// One gated message passing step with a recurrent update and a gated sum as readout.
struct Network {
  std::int64_t relations;
  StateDict state;

  Network(std::int64_t words, std::int64_t relation_count) : relations(relation_count) {
    const auto random = [](at::IntArrayRef shape) { return at::randn(shape) * 0.2; };
    state.add_parameter("embedding", random({words, kWidth}));
    state.add_parameter("message.weight", random({relations * kWidth, kWidth}));
    state.add_parameter("message.bias", random({relations * kWidth}));
    state.add_parameter("gate", random({kPositions, kWidth}));
    for (const char* side : {"ih", "hh"}) {
      state.add_parameter(std::string("update.weight_") + side, random({3 * kWidth, kWidth}));
      state.add_parameter(std::string("update.bias_") + side, random({3 * kWidth}));
    }
    state.add_parameter("readout.weight", random({2, 2 * kWidth}));
    state.add_parameter("readout.bias", random({2}));
  }

  at::Tensor predict(const Batch& batch, const at::Tensor& ops) const {
    const at::Tensor h0 = state.at("embedding").index_select(0, batch.select_nodes(ops));
    const at::Tensor messages = at::linear(h0, state.at("message.weight"), state.at("message.bias"))
                                    .reshape({batch.nodes * relations, kWidth});
    const at::Tensor sum = aggregate_gated(
        batch.adjacency, messages, at::sigmoid(state.at("gate")) * 2, batch.position, Reduce::kSum);
    const at::Tensor h =
        at::gru_cell(sum, h0, state.at("update.weight_ih"), state.at("update.weight_hh"),
                     state.at("update.bias_ih"), state.at("update.bias_hh"));
    const at::Tensor both =
        at::linear(at::cat({h0, h}, 1), state.at("readout.weight"), state.at("readout.bias"));
    const at::Tensor share = at::sigmoid(both.narrow(1, 0, 1)) * both.narrow(1, 1, 1);
    return segment_pool(share, batch.graph_offsets, Pool::kSum).squeeze(1);
  }
};

struct Data {
  Corpus corpus;
  GraphSet graphs;
  at::Tensor ops;
  Data(std::int64_t count, unsigned seed, const Vocabulary& words)
      : corpus(count, seed),
        graphs(corpus.nodes, corpus.edges, options()),
        ops(words.ids(corpus.nodes.strings("op"))) {}
  static GraphOptions options() {
    GraphOptions o;
    o.kinds = {"data", "control"};
    o.reverse = true;
    o.typed = true;
    return o;
  }
};

TEST(GraphNetwork, LearnsFromTablesAndSurvivesItsArtifact) {
  at::manual_seed(1);
  const ThreadBudget one(1);  // steps are too small to share
  const Vocabulary words({"load", "mul"});
  const Data train_data(160, 1, words);
  const Data valid_data(40, 2, words);
  Network network(words.size(), train_data.graphs.relations());
  const Batch held_out = valid_data.graphs.all();

  TrainingTask task;
  task.state = network.state;
  task.items = train_data.graphs.size();
  task.cost = train_data.graphs.edge_counts();
  task.loss = [&](const std::vector<std::int64_t>& items) {
    at::Tensor rows =
        at::empty({static_cast<std::int64_t>(items.size())}, at::TensorOptions().dtype(at::kLong));
    std::copy(items.begin(), items.end(), rows.mutable_data_ptr<std::int64_t>());
    const at::Tensor y = network.predict(train_data.graphs.batch(items), train_data.ops);
    return (y - train_data.corpus.cost.index_select(0, rows)).pow(2).mean();
  };
  task.validate = [&] {
    const at::Tensor y = network.predict(held_out, valid_data.ops);
    return (y - valid_data.corpus.cost).pow(2).mean().item<double>();
  };
  TrainingOptions options;
  options.max_epochs = 60;
  options.batch_cost = 600;  // edges a step
  options.adam.learning_rate = 1e-2;
  options.clip_norm = 5;
  const TrainingResult result = train(task, options);
  const double variance = valid_data.corpus.cost.var().item<double>();
  EXPECT_LT(result.best_loss, 0.1 * variance) << "after " << result.epochs << " epochs";

  container::Writer file;
  ArtifactWriter out(file.sink());
  save_state(network.state, out);
  const std::string bytes = file.serialise();
  const container::Reader reader =
      container::Reader::from_memory(bytes.data(), bytes.size(), nullptr);
  const Network loaded(words.size(), train_data.graphs.relations());
  load_state(loaded.state, ArtifactReader(reader.source()));
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(at::equal(loaded.predict(held_out, valid_data.ops),
                        network.predict(held_out, valid_data.ops)));

  // A graph alone and within any batch gets the same answer up to rounding.
  const at::Tensor together =
      network.predict(valid_data.graphs.batch({7, 3, 7, 20}), valid_data.ops);
  const at::Tensor alone = network.predict(valid_data.graphs.batch({7}), valid_data.ops);
  for (const std::int64_t at_row : {0, 2})
    EXPECT_NEAR(together[at_row].item<float>(), alone[0].item<float>(), 1e-4);
}

}  // namespace
}  // namespace omen::torch_kit
