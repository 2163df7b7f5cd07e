// SPDX-License-Identifier: Apache-2.0
// Every kind of network against dense loops in double precision, and its gradients against
// differences.
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/rand_like.h>
#include <gtest/gtest.h>

#include <set>

#include "dense_reference.hpp"
#include "nets/network.hpp"
#include "nets/tied_steps.hpp"
#include "omen/error.hpp"
#include "omen/learn/random.hpp"

namespace omen::driple {
namespace {

GroupedGraph random_graph(std::int32_t nodes, std::uint64_t seed) {
  learn::Random random(seed);
  GroupedGraph graph;
  std::set<Pair> edges;
  for (std::int32_t i = 0; i < nodes; ++i) {
    graph.features.push_back(
        {float(random.uniform()), float(random.normal()), float(random.uniform())});
    for (int k = 0; i > 0 && k < 3; ++k) {
      const auto other = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(i)));
      edges.emplace(other, i);
    }
  }
  graph.edges.assign(edges.begin(), edges.end());
  return graph;
}

TensorBatch batch_of(const std::vector<GroupedGraph>& graphs) {
  std::vector<const GroupedGraph*> all;
  for (const GroupedGraph& graph : graphs) all.push_back(&graph);
  return TensorBatch(make_batch(all));
}

Network network_with(const NetworkOptions& options) {
  at::manual_seed(7);
  Network network(options);
  // Published initial weights of the dense layers are tiny; larger ones let errors show.
  const at::NoGradGuard no_graph;
  for (const auto& entry : network.state().entries())
    if (entry.name.find("mlp.fully_connected") != std::string::npos && entry.tensor.dim() == 2)
      at::Tensor(entry.tensor).mul_(double(entry.tensor.size(1)));
  return network;
}

void expect_like_dense(const NetworkOptions& options, std::int32_t nodes) {
  const Network network = network_with(options);
  const std::vector<GroupedGraph> graphs = {random_graph(nodes, 1), random_graph(nodes, 2),
                                            random_graph(nodes, 3)};
  const at::NoGradGuard no_graph;
  const at::Tensor out = network.outputs(batch_of(graphs));
  ASSERT_EQ(out.sizes(), (std::vector<std::int64_t>{3, options.outputs}));
  double spread = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const std::vector<double> wanted = reference::DenseNetwork(network).outputs(graphs[g]);
    for (std::size_t o = 0; o < wanted.size(); ++o) {
      EXPECT_NEAR(out[std::int64_t(g)][std::int64_t(o)].item<double>(), wanted[o],
                  1e-5 * std::max(1.0, std::abs(wanted[o])))
          << word(options.layer.kind) << " graph " << g << " output " << o;
      spread = std::max(spread, std::abs(wanted[o]));
    }
  }
  EXPECT_GT(spread, 1e-3) << "the outputs are too small to compare anything";
}

NetworkOptions options_of(LayerKind kind) {
  NetworkOptions options;
  options.layer.kind = kind;
  return options;
}

class NetworkKindsTest : public ::testing::TestWithParam<LayerKind> {};

TEST_P(NetworkKindsTest, EqualsDenseLoops) {
  expect_like_dense(options_of(GetParam()), 30);
}

TEST_P(NetworkKindsTest, EqualsDenseLoopsWithALateLayer) {
  NetworkOptions options = options_of(GetParam());
  options.late_layer = true;
  options.outputs = 12;
  expect_like_dense(options, 21);
}

TEST_P(NetworkKindsTest, HandlesTheSmallestGraphs) {
  expect_like_dense(options_of(GetParam()), 2);
  expect_like_dense(options_of(GetParam()), 5);
}

// The change of the loss along a random direction, in double precision through the reference.
TEST_P(NetworkKindsTest, GradientsAreThoseOfTheDenseLoops) {
  NetworkOptions options = options_of(GetParam());
  options.late_layer = true;
  options.layer.hidden = 16;
  const Network network = network_with(options);
  const std::vector<GroupedGraph> graphs = {random_graph(14, 1), random_graph(14, 2)};
  network.outputs(batch_of(graphs)).sum().backward();
  const auto loss = [&] {
    double sum = 0;
    for (const GroupedGraph& graph : graphs)
      for (const double v : reference::DenseNetwork(network).outputs(graph)) sum += v;
    return sum;
  };
  for (const auto& entry : network.state().entries()) {
    if (!entry.trainable) continue;
    ASSERT_TRUE(entry.tensor.grad().defined()) << entry.name;
    const at::NoGradGuard no_graph;
    at::Tensor weight = entry.tensor;
    const at::Tensor before = weight.clone(), step = 2e-5 * (at::rand_like(weight) - 0.5);
    weight.copy_(before + step);
    const at::Tensor upper = weight.clone();
    const double above = loss();
    weight.copy_(before - step);
    // What was really moved: the sums above are rounded.
    const at::Tensor moved = upper.to(at::kDouble) - weight.to(at::kDouble);
    const double wanted = (above - loss()) / 2e-5;
    weight.copy_(before);
    EXPECT_NEAR((entry.tensor.grad() * moved).sum().item<double>() / 2e-5, wanted,
                2e-3 * std::max(0.1, std::abs(wanted)))
        << entry.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, NetworkKindsTest,
                         ::testing::Values(LayerKind::gcn, LayerKind::gat, LayerKind::gin,
                                           LayerKind::pna),
                         [](const auto& info) { return std::string(word(info.param)); });

TEST(PnaTest, EveryAggregatorAndScalerEqualsDenseLoops) {
  NetworkOptions options = options_of(LayerKind::pna);
  options.layer.aggregators = aggregators_named("sum,mean,max,min,std,var");
  options.layer.scalers = scalers_named("identity,amplification,attenuation");
  options.layer.hidden = 32;
  expect_like_dense(options, 12);
}

TEST(PnaTest, UnknownWordsAreNamed) {
  EXPECT_THROW(aggregators_named("sum,median"), Error);
  EXPECT_THROW(scalers_named(""), Error);
}

TEST(NetworkTest, HasThePublishedParameters) {
  NetworkOptions options;
  options.outputs = 12;
  EXPECT_EQ(Network(options).state().parameter_count(), 92236);
  options.outputs = 16;
  EXPECT_EQ(Network(options).state().parameter_count(), 92496);
}

TEST(NetworkTest, FrozenWeightsGetNoGradientAndLateOnesDo) {
  NetworkOptions options;
  options.late_layer = true;
  const Network network(options);
  const std::vector<GroupedGraph> graphs = {random_graph(20, 1)};
  const TensorBatch batch = batch_of(graphs);
  for (const auto& entry : network.state().entries())
    at::Tensor(entry.tensor).set_requires_grad(Network::is_late(entry.name));
  network.outputs(batch).sum().backward();
  for (const auto& entry : network.state().entries())
    EXPECT_EQ(entry.tensor.grad().defined(), Network::is_late(entry.name)) << entry.name;
  EXPECT_GT(network.state().at("conv_layers.2.W").grad().abs().sum().item<double>(), 0);
}

TEST(NetworkTest, KeptMemoryIsNotSharedByGraphsThatLive) {
  const Network network(options_of(LayerKind::gcn));
  const std::vector<GroupedGraph> graphs = {random_graph(20, 1)}, others = {random_graph(20, 2)};
  const auto gradient = [&](const at::Tensor& out) {
    const at::Tensor weight = network.state().at("conv_layers.1.W");
    at::Tensor(weight).mutable_grad().reset();
    out.sum().backward();
    return weight.grad().clone();
  };
  const at::Tensor alone = gradient(network.outputs(batch_of(graphs)));
  const KeptMemory memory;
  for (int round = 0; round < 2; ++round) {
    const at::Tensor first = network.outputs(batch_of(graphs));
    const at::Tensor second = network.outputs(batch_of(others));
    EXPECT_TRUE(gradient(first).equal(alone));
    EXPECT_FALSE(gradient(second).equal(alone));
  }
}

TEST(NetworkTest, BatchesOfUnequalGraphsAreRefused) {
  const GroupedGraph a = random_graph(5, 1), b = random_graph(6, 1);
  EXPECT_THROW(make_batch({&a, &b}), Error);
}

}  // namespace
}  // namespace omen::driple
