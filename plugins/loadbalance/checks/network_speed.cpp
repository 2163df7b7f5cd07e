// SPDX-License-Identifier: Apache-2.0
// CPU time of the networks on the devmap graphs, against plain index operations and against the
// same model in PyTorch Geometric.
//   network_speed messages TABLES
//   network_speed epoch|inference TABLES PYTHON PEER SCRATCH
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gru_cell.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "network/token_graph.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/median.hpp"
#include "omen/testing/show.hpp"
#include "omen/torch/device.hpp"
#include "omen/torch/message_passing.hpp"
#include "omen/torch/nn/network.hpp"
#include "omen/torch/nn/propagation.hpp"
#include "omen/torch/training.hpp"

namespace omen::loadbalance {
namespace {

using test::broken;
using test::cpu_seconds;

constexpr std::int64_t kBatch = 256;
constexpr std::int64_t kGroupNodes = 2048;
constexpr std::int64_t kWords = 2231;
constexpr double kDropout = 0.3;

TokenGraphs read_corpus(const std::string& path) {
  const container::Reader file = container::Reader::open(path);
  return read_token_graphs(container::get_table(file, "nodes"), container::get_table(file, "edges"),
                           Vocabulary::own());
}

at::Tensor longs(const std::vector<std::int32_t>& values) {
  at::Tensor t =
      at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions().dtype(at::kLong));
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<std::int64_t>());
  return t;
}

// The edges of a batch as plain operations take them.
struct PlainEdges {
  at::Tensor source_row, target, position, degree;
  std::vector<std::int32_t> positions;

  PlainEdges(const std::vector<const nn::TokenGraph*>& graphs, std::int64_t relations) {
    nn::TypedEdges all;
    std::int32_t base = 0;
    for (const nn::TokenGraph* graph : graphs) {
      const nn::TypedEdges edges = nn::with_backward_edges(graph->edges, kFlows);
      for (std::size_t e = 0; e < edges.size(); ++e)
        all.push(edges.source[e] + base, edges.target[e] + base, edges.relation[e],
                 edges.position[e]);
      base += static_cast<std::int32_t>(graph->nodes());
    }
    source_row = longs(all.source) * relations + longs(all.relation);
    target = longs(all.target);
    position = longs(all.position);
    degree = at::zeros({base}).index_add(0, target, at::ones({target.numel()})).clamp_min(1);
    for (std::int32_t p = 0; p <= position.max().item<std::int32_t>(); ++p) positions.push_back(p);
  }
};

at::Tensor plain_gates(const torch_kit::StateDict& state, const std::string& layer,
                       const PlainEdges& edges, std::int64_t width) {
  return at::linear(nn::position_table(edges.positions, width, width),
                    state.at(layer + "gate.weight"), state.at(layer + "gate.bias"))
             .sigmoid() *
         2;
}

at::Tensor plain_receive(const torch_kit::StateDict& state, const std::string& layer,
                         const PlainEdges& edges, const at::Tensor& h, const at::Tensor& gates) {
  const std::int64_t d = h.size(1);
  const at::Tensor rows =
      at::linear(h, state.at(layer + "message.weight"), state.at(layer + "message.bias"))
          .reshape({-1, d});
  const at::Tensor messages =
      rows.index_select(0, edges.source_row) * gates.index_select(0, edges.position);
  return at::zeros({h.size(0), d}).index_add_(0, edges.target, messages) /
         edges.degree.unsqueeze(1);
}

template <class Body>
double median_cpu(int rounds, const Body& body) {
  body();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const double begin = cpu_seconds();
    body();
    times.push_back(cpu_seconds() - begin);
  }
  return median(std::move(times));
}

// Linear maps, gates and mean of one layer with six relations, forward and backward.
int compare_messages(const TokenGraphs& corpus) {
  std::vector<const nn::TokenGraph*> graphs;
  for (std::size_t g = 0; g < corpus.graphs.size() && g < static_cast<std::size_t>(kBatch); ++g)
    graphs.push_back(&corpus.graphs[g]);
  torch_kit::StateDict state;
  const nn::Propagation layer({.width = 64, .text_width = 64, .relations = 6}, state, "");
  const auto plan =
      nn::plan_graphs(graphs, {.edge_kinds = kFlows, .steps = 1, .refine = false}).steps[0];
  const PlainEdges edges(graphs, 6);
  at::Tensor h = at::randn({plan->rows_in, 64}).set_requires_grad(true);
  const at::Tensor grad = at::randn({plan->rows_in, 64});
  const auto clear = [&] {
    h.mutable_grad().reset();
    for (const auto& entry : state.entries()) entry.tensor.mutable_grad().reset();
  };
  const auto plain = [&] {
    clear();
    plain_receive(state, "", edges, h, plain_gates(state, "", edges, 64)).backward(grad);
  };
  const auto ours = [&] {
    clear();
    layer.receive(plan, h, layer.gates(*plan, false)).backward(grad);
  };
  const double slow = median_cpu(5, plain);
  const double fast = broken() ? median_cpu(5, plain) : median_cpu(5, ours);
  std::printf("%lld nodes, %lld edges, %lld of %lld pairs live: %.0f ms plain, %.0f ms ours\n",
              static_cast<long long>(plan->rows_in), static_cast<long long>(plan->edges()),
              static_cast<long long>(plan->pairs()), 6 * static_cast<long long>(plan->rows_in),
              1e3 * slow, 1e3 * fast);
  return test::show("message_aggregate_over_index_ops", fast / slow, "ratio", "<=", 0.5);
}

nn::NetworkOptions final_model() {
  nn::NetworkOptions options;
  options.body.words = kWords;
  options.body.edge_kinds = kFlows;
  options.auxiliary = 2;
  options.body.message_dropout = options.body.state_dropout = kDropout;
  return options;
}

// The pooled states of the network with plain operations: what control runs measure.
at::Tensor plain_pool(const nn::Network& network, const std::vector<const nn::TokenGraph*>& graphs,
                      bool training) {
  const PlainEdges edges(graphs, 6);
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets = {0};
  for (const nn::TokenGraph* graph : graphs) {
    tokens.insert(tokens.end(), graph->tokens.begin(), graph->tokens.end());
    offsets.push_back(static_cast<std::int64_t>(tokens.size()));
  }
  at::Tensor ends =
      at::empty({static_cast<std::int64_t>(offsets.size())}, at::TensorOptions().dtype(at::kLong));
  std::copy(offsets.begin(), offsets.end(), ends.mutable_data_ptr<std::int64_t>());
  const torch_kit::StateDict& state = network.state();
  at::Tensor h = at::embedding(state.at("embedding"), longs(tokens));
  std::vector<at::Tensor> means;
  for (int step = 0; step < 6; ++step) {
    const std::string layer = step % 2 ? "layer2." : "layer1.";
    const at::Tensor mean = plain_receive(state, layer, edges, at::dropout(h, kDropout, training),
                                          plain_gates(state, layer, edges, h.size(1)));
    h = at::gru_cell(mean, h, state.at(layer + "update.weight_ih"),
                     state.at(layer + "update.weight_hh"), state.at(layer + "update.bias_ih"),
                     state.at(layer + "update.bias_hh"));
    h = at::dropout(h, kDropout, training);
    means.push_back(torch_kit::segment_pool(h, ends, torch_kit::Pool::kMean));
  }
  return at::cat(means, 1);
}

// Graphs of a batch in groups whose states stay in the cache.
std::vector<nn::GraphPlan> plan_batch(const std::vector<const nn::TokenGraph*>& graphs,
                                      const nn::PlanOptions& options) {
  std::vector<nn::GraphPlan> plans;
  std::vector<const nn::TokenGraph*> group;
  std::int64_t nodes = 0;
  for (const nn::TokenGraph* graph : graphs) {
    if (!group.empty() && nodes + graph->nodes() > kGroupNodes) {
      plans.push_back(nn::plan_graphs(group, options));
      group.clear();
      nodes = 0;
    }
    group.push_back(graph);
    nodes += graph->nodes();
  }
  plans.push_back(nn::plan_graphs(group, options));
  return plans;
}

// One epoch over every graph: forward, backward and Adam on batches of 256.
double epoch_seconds(const TokenGraphs& corpus) {
  const nn::Network network(final_model());
  std::vector<std::vector<const nn::TokenGraph*>> batches;
  for (const nn::TokenGraph& graph : corpus.graphs) {
    if (batches.empty() || batches.back().size() == static_cast<std::size_t>(kBatch))
      batches.emplace_back();
    batches.back().push_back(&graph);
  }
  std::vector<std::vector<nn::GraphPlan>> plans;
  for (const auto& batch : batches) plans.push_back(plan_batch(batch, network.plan_options(true)));
  torch_kit::Adam adam(network.state().parameters(), {});
  const double begin = cpu_seconds();
  for (std::size_t b = 0; b < batches.size(); ++b) {
    std::vector<at::Tensor> rows;
    if (broken())
      rows.push_back(plain_pool(network, batches[b], true));
    else
      for (const nn::GraphPlan& plan : plans[b]) rows.push_back(network.pool(plan, true));
    const auto count = static_cast<std::int64_t>(batches[b].size());
    adam.zero_grad();
    at::mse_loss(network.read_out(at::cat(rows), at::rand({count, 2}), true).squeeze(1),
                 at::rand({count}) * 100)
        .backward();
    adam.step(1e-3);
  }
  return cpu_seconds() - begin;
}

// Graphs one by one from their lists to the answer.
double inference_seconds(const TokenGraphs& corpus, std::size_t stride) {
  const at::NoGradGuard no_grad;
  const nn::Network network(final_model());
  const at::Tensor auxiliary = at::rand({1, 2});
  double total = 0, graphs = 0;
  for (std::size_t g = 0; g < corpus.graphs.size(); g += stride) {
    const std::vector<const nn::TokenGraph*> one = {&corpus.graphs[g]};
    const auto answer = [&] {
      const at::Tensor pooled =
          broken() ? plain_pool(network, one, false)
                   : network.pool(nn::plan_graphs(one, network.plan_options(false)), false);
      return network.read_out(pooled, auxiliary, false).item<double>();
    };
    if (g == 0) answer();
    const double begin = cpu_seconds();
    answer();
    total += cpu_seconds() - begin;
    graphs += 1;
  }
  return total / graphs;
}

// Every graph as numbers: nodes, edges, tokens, then source, target, flow and position lists.
void write_corpus(const TokenGraphs& corpus, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](const std::vector<std::int32_t>& values) {
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(std::int32_t)));
  };
  for (const nn::TokenGraph& graph : corpus.graphs) {
    put({static_cast<std::int32_t>(graph.nodes()), static_cast<std::int32_t>(graph.edges.size())});
    for (const auto* list : {&graph.tokens, &graph.edges.source, &graph.edges.target,
                             &graph.edges.relation, &graph.edges.position})
      put(*list);
  }
  if (!file) throw Error(OMEN_IO, "cannot write " + path);
}

// The number that the peer prints.
double ask_peer(const std::string& mode, const std::vector<std::string>& arguments,
                const TokenGraphs& corpus) {
  const std::string file = arguments[2] + "/devmap-corpus.bin";
  write_corpus(corpus, file);
  const std::string command =
      "'" + arguments[0] + "' '" + arguments[1] + "' " + mode + " '" + file + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  double seconds = 0;
  if (!pipe || std::fscanf(pipe.get(), "%lf", &seconds) != 1)
    throw Error(OMEN_INTERNAL, "the peer gave no answer: " + command);
  return seconds;
}

int compare_with_peer(const std::string& mode, const TokenGraphs& corpus,
                      const std::vector<std::string>& peer) {
  const bool epoch = mode == "epoch";
  const double theirs = ask_peer(mode, peer, corpus);
  const double ours = epoch ? epoch_seconds(corpus) : inference_seconds(corpus, 5);
  std::printf("%s: %.4g CPU s here, %.4g CPU s in PyTorch Geometric\n", mode.c_str(), ours, theirs);
  if (epoch) return test::show("training_epoch_over_pyg", ours / theirs, "ratio", "<=", 0.33);
  return test::show("single_graph_inference_over_pyg", ours / theirs, "ratio", "<=", 0.4);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || (arguments[0] != "messages" && arguments.size() != 5))
    throw Error(OMEN_INVALID_ARGUMENT, "use: network_speed messages|epoch|inference TABLES ...");
  const torch_kit::ThreadBudget one(1);
  at::manual_seed(1);
  const TokenGraphs corpus = read_corpus(arguments[1]);
  if (arguments[0] == "messages") return compare_messages(corpus);
  return compare_with_peer(arguments[0], corpus, {arguments.begin() + 2, arguments.end()});
}

}  // namespace
}  // namespace omen::loadbalance

int main(int argc, char** argv) {
  try {
    return omen::loadbalance::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "network_speed: %s\n", error.what());
    return 1;
  }
}
