// SPDX-License-Identifier: Apache-2.0
// CPU time of the published gcn, forward and backward, against ports to LibTorch's own cells, in
// one run.
//   driple_gcn_speed
// With OMEN_SHOW_BREAK=1 ours runs twice and with another weight.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/gru_cell.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm_cell.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <set>

#include "nets/network.hpp"
#include "nets/tied_steps.hpp"
#include "omen/learn/random.hpp"
#include "omen/median.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::driple;
namespace test = omen::test;

constexpr int kGraphs = 32, kNodes = 100, kRounds = 5;
constexpr double kDegree = 7;  // that a training graph of 1,400 operations has in 100 groups

GroupedGraph random_graph(omen::learn::Random& random) {
  GroupedGraph graph;
  std::set<Pair> edges;
  for (std::int32_t i = 0; i < kNodes; ++i) {
    graph.features.push_back(
        {float(random.uniform()), float(random.uniform()), float(random.uniform())});
    for (int k = 0; i > 0 && k < std::lround(kDegree / 2); ++k)
      edges.emplace(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(i))), i);
  }
  graph.edges.assign(edges.begin(), edges.end());
  return graph;
}

// The network as it is written down, on dense matrices [graphs, nodes, nodes].
class Port {
 public:
  Port(const Network& network, const TensorBatch& batch, bool rebuilds)
      : state_(network.state()), features_(batch.features), rebuilds_(rebuilds) {
    adjacency_ = at::zeros({kGraphs, kNodes, kNodes});
    const GroupBatch& graphs = *batch.graphs;
    for (std::size_t e = 0; e < graphs.source.size(); ++e)
      adjacency_[graphs.target[e] / kNodes][graphs.target[e] % kNodes][graphs.source[e] % kNodes] =
          1;
    normalised_ = normalise();
  }

  at::Tensor outputs() const {
    at::Tensor x = features_.view({kGraphs, kNodes, -1});
    const std::int64_t d = 64;
    for (int round = 0; round < kNodes / 2; ++round) {
      const std::string layer = round == 0 ? "conv_layers.0." : "conv_layers.1.";
      const at::Tensor a = rebuilds_ ? normalise() : normalised_;
      const at::Tensor y = at::leaky_relu(
          at::bmm(a, at::matmul(x, state_.at(layer + "W"))) + state_.at(layer + "b"), 0.01);
      const at::Tensor padded = at::constant_pad_nd(x, {0, d - x.size(2)});
      x = at::gru_cell(padded.reshape({-1, d}), y.reshape({-1, d}),
                       state_.at("gru.gru.weight_ih_l0"), state_.at("gru.gru.weight_hh_l0"),
                       state_.at("gru.gru.bias_ih_l0"), state_.at("gru.gru.bias_hh_l0"))
              .view({kGraphs, kNodes, d});
    }
    return dense(read(x, d));
  }

 private:
  at::Tensor normalise() const {
    const at::Tensor loops = adjacency_ + at::eye(kNodes);
    const at::Tensor roots = at::diag_embed(loops.sum(2).rsqrt());
    return at::bmm(at::bmm(roots, loops), roots);
  }

  at::Tensor read(const at::Tensor& x, std::int64_t d) const {
    const std::string cell = "graph_read_out.set2set.lstm.";
    at::Tensor asked = at::zeros({kGraphs, 2 * d}), h = at::zeros({kGraphs, d}),
               c = at::zeros({kGraphs, d});
    for (int step = 0; step < kNodes; ++step) {
      std::tie(h, c) = at::lstm_cell(
          asked, {h, c}, state_.at(cell + "weight_ih_l0"), state_.at(cell + "weight_hh_l0"),
          state_.at(cell + "bias_ih_l0"), state_.at(cell + "bias_hh_l0"));
      const at::Tensor attention = at::softmax(at::bmm(x, h.unsqueeze(2)), 1);
      asked = at::cat({h, at::bmm(attention.transpose(1, 2), x).squeeze(1)}, 1);
    }
    return asked;
  }

  at::Tensor dense(at::Tensor x) const {
    for (int i = 0; i < 3; ++i) {
      const std::string name =
          "graph_read_out.mlp.fully_connected." + std::to_string(i) + ".linear.";
      x = at::linear(x, state_.at(name + "weight"), state_.at(name + "bias"));
      x = i == 2 ? at::leaky_relu(x, 0.01) : at::relu(x);
    }
    return x;
  }

  const omen::torch_kit::StateDict& state_;
  at::Tensor features_, adjacency_, normalised_;
  bool rebuilds_;
};

struct Pass {
  double seconds = 0;
  at::Tensor outputs;
  std::vector<at::Tensor> gradients;
};

Pass timed(const Network& network, const std::function<at::Tensor()>& forward) {
  for (const auto& entry : network.state().entries())
    at::Tensor(entry.tensor).mutable_grad().reset();
  timespec begin{}, end{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  Pass pass;
  const at::Tensor out = forward();
  (out * out).sum().backward();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  pass.seconds = double(end.tv_sec - begin.tv_sec) + double(end.tv_nsec - begin.tv_nsec) * 1e-9;
  pass.outputs = out.detach();
  for (const auto& entry : network.state().entries())
    pass.gradients.push_back(entry.tensor.grad().clone());
  return pass;
}

// The largest distance, relative to the largest number of each tensor.
double distance(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most,
                    ((a[i] - b[i]).abs().max() / b[i].abs().max().clamp_min(1e-6)).item<double>());
  return most;
}

}  // namespace

int main() {
  at::set_num_threads(1);
  at::manual_seed(3);
  const bool broken = test::broken();
  const Network network{NetworkOptions{}};
  omen::learn::Random random(5);
  std::vector<GroupedGraph> graphs;
  for (int i = 0; i < kGraphs; ++i) graphs.push_back(random_graph(random));
  std::vector<const GroupedGraph*> all;
  for (const GroupedGraph& graph : graphs) all.push_back(&graph);
  const TensorBatch batch(make_batch(all));
  const Port cached(network, batch, false), rebuilding(network, batch, true);

  const KeptMemory memory;
  std::vector<double> over_cached, over_rebuilding;
  double outputs = 0, gradients = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Pass theirs = timed(network, [&] { return cached.outputs(); });
    const Pass slow = timed(network, [&] { return rebuilding.outputs(); });
    if (broken) {
      const at::NoGradGuard no_graph;
      at::Tensor(network.state().at("conv_layers.1.W")).mul_(1.05);
    }
    const Pass ours = timed(network, [&] {
      if (broken) network.outputs(batch).sum().backward();
      return network.outputs(batch);
    });
    over_cached.push_back(theirs.seconds / ours.seconds);
    over_rebuilding.push_back(slow.seconds / ours.seconds);
    outputs = std::max(outputs, distance({ours.outputs}, {theirs.outputs}));
    gradients = std::max(gradients, distance(ours.gradients, theirs.gradients));
    std::printf("round %d: ours %.3f s, port %.3f s, port that rebuilds %.3f s of CPU time\n",
                round, ours.seconds, theirs.seconds, slow.seconds);
  }
  int missed = test::show("gcn_output_difference", outputs, "relative", "<=", 1e-4);
  missed += test::show("gcn_gradient_difference", gradients, "relative", "<=", 1e-4);
  missed += test::show("gcn_over_cached_port", omen::median(over_cached), "times", ">=", 1.5);
  missed += test::show("gcn_over_rebuilding_port", omen::median(over_rebuilding), "times", ">=", 2);
  return missed > 0 ? 1 : 0;
}
