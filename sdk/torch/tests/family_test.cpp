// SPDX-License-Identifier: Apache-2.0
// Every member of the family: shapes, sharing of states, parameter counts, gradients.
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "omen/error.hpp"
#include "omen/torch/nn/network.hpp"
#include "random_graph.hpp"

namespace omen::torch_kit::nn {
namespace {

struct Member {
  const char *body, *pooling;
  bool extended;
};
constexpr Member kFamily[] = {{"programl", "gated", false}, {"programl", "mean", false},
                              {"programl", "skips", true},  {"programl", "topk", false},
                              {"programl", "diff", true},   {"gcn", "mean", false},
                              {"gat", "mean", false},       {"mlp", "mean", false},
                              {"gcn", "skips", true},       {"gat", "topk", false}};

TokenGraph token_graph(unsigned seed, std::int32_t nodes = 30) {
  const RandomGraph random(nodes, nodes + 10, seed);
  TokenGraph graph;
  graph.tokens = random.tokens;
  for (std::size_t e = 0; e < random.edges.size(); e += 2)
    graph.edges.push(random.edges.source[e], random.edges.target[e], random.edges.relation[e],
                     random.edges.position[e]);
  return graph;
}

NetworkOptions small(const Member& member, double dropout = 0) {
  NetworkOptions options;
  options.body.kind = member.body;
  options.body.words = 6;
  options.body.edge_kinds = 3;
  options.body.width = 8;
  options.body.steps = 3;
  options.body.message_dropout = options.body.state_dropout = dropout;
  options.pooling = member.pooling;
  options.extended = member.extended;
  options.hidden = 12;
  options.auxiliary = 2;
  options.outputs = 4;
  return options;
}

TEST(Family, GraphsAloneAndTogetherGetTheSameAnswer) {
  const TokenGraph a = token_graph(1), b = token_graph(2, 17);
  const at::NoGradGuard no_grad;
  for (const Member& member : kFamily) {
    at::manual_seed(1);
    const Network network(small(member));
    PlanOptions options = network.plan_options(false);
    const at::Tensor together = network.pool(plan_graphs({&a, &b, &a}, options), false);
    ASSERT_EQ(together.size(0), 3);
    ASSERT_EQ(together.size(1), network.pooled_width());
    const at::Tensor alone = network.pool(plan_graphs({&b}, options), false);
    EXPECT_TRUE(at::allclose(together.narrow(0, 1, 1), alone, 1e-4, 1e-5))
        << member.body << " " << member.pooling;
    EXPECT_TRUE(at::allclose(together[0], together[2], 1e-4, 1e-5));
    const at::Tensor out = network.read_out(together, at::zeros({3, 2}), false);
    EXPECT_EQ(out.size(1), 4);
  }
}

TEST(Family, SharedStatesChangeNothing) {
  const TokenGraph a = token_graph(3), b = token_graph(4);
  const at::NoGradGuard no_grad;
  for (const Member& member : kFamily) {
    at::manual_seed(2);
    const Network network(small(member));
    PlanOptions options = network.plan_options(false);
    options.refine = false;
    const at::Tensor plain = network.pool(plan_graphs({&a, &b}, options), false);
    options.refine = true;
    const at::Tensor shared = network.pool(plan_graphs({&a, &b}, options), false);
    // The best nodes of top-k may differ where equal nodes tie.
    if (std::string(member.pooling) == "topk") continue;
    EXPECT_TRUE(at::allclose(plain, shared, 1e-4, 1e-5)) << member.body << " " << member.pooling;
  }
}

TEST(Family, EveryParameterLearns) {
  const TokenGraph a = token_graph(5), b = token_graph(6);
  for (const Member& member : kFamily) {
    at::manual_seed(3);
    const Network network(small(member, 0.1));
    const at::Tensor pooled = network.pool(plan_graphs({&a, &b}, network.plan_options(true)), true);
    network.read_out(pooled, at::randn({2, 2}), true).pow(2).sum().backward();
    for (const auto& entry : network.state().entries()) {
      if (!entry.trainable) continue;
      ASSERT_TRUE(entry.tensor.grad().defined())
          << entry.name << " of " << member.body << " " << member.pooling;
    }
  }
}

TEST(Family, HasThePublishedNumberOfParameters) {
  // Of the published 364,175 and 364,435 numbers 25,738 belong to maps that nothing uses.
  constexpr std::int64_t kUnused =
      2 * (64 * 128 + 64) + (5 * 128 + 5) + (5 * 64 + 5) + (64 * 128 + 64);
  NetworkOptions options;
  options.body.words = 2231;
  options.body.edge_kinds = 3;
  options.auxiliary = 2;
  EXPECT_EQ(Network(options).state().parameter_count() + kUnused, 364175);
  options.outputs = 5;
  EXPECT_EQ(Network(options).state().parameter_count() + kUnused, 364435);
}

TEST(Family, UnknownMembersAreNamed) {
  const auto message = [](const char* body, const char* pooling) -> std::string {
    try {
      Network network(small({body, pooling, true}));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("lstm", "mean"), ::testing::HasSubstr("body 'lstm' is unknown"));
  EXPECT_THAT(message("gcn", "max"), ::testing::HasSubstr("pooling 'max' is unknown"));
  EXPECT_THAT(message("mlp", "skips"), ::testing::HasSubstr("skips need a body with steps"));
}

TEST(DistinctGraphs, AreListedOnce) {
  const TokenGraph a = token_graph(7), b = token_graph(8), copy = a;
  const DistinctGraphs distinct = distinct_graphs({&a, nullptr, &b, &copy, &a}, {});
  EXPECT_THAT(distinct.graphs, ::testing::ElementsAre(&a, &b));
  EXPECT_THAT(distinct.number, ::testing::ElementsAre(0, -1, 1, 0, 0));
}

}  // namespace
}  // namespace omen::torch_kit::nn
