// SPDX-License-Identifier: Apache-2.0
// The fused step against the same formula in plain tensor operations, forward and backward.
#include "omen/torch/nn/propagation.hpp"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/gru_cell.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "omen/error.hpp"
#include "random_graph.hpp"

namespace omen::torch_kit::nn {
namespace {

at::Tensor longs(const std::vector<std::int32_t>& values) {
  at::Tensor t =
      at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions().dtype(at::kLong));
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<std::int64_t>());
  return t;
}

struct Layer {
  StateDict state;
  Propagation layer;
  explicit Layer(PropagationOptions options) : layer(options, state, "") {}

  // Every pair is computed and every message stored.
  at::Tensor plain(const TypedEdges& edges, const at::Tensor& h) const {
    const std::int64_t d = layer.options().width, relations = layer.options().relations;
    const at::Tensor target = longs(edges.target);
    at::Tensor messages =
        at::linear(h, state.at("message.weight"), state.at("message.bias"))
            .reshape({h.size(0) * relations, d})
            .index_select(0, longs(edges.source) * relations + longs(edges.relation));
    if (layer.options().gates)
      messages =
          messages * (at::linear(position_table(edges.position, layer.options().text_width, d),
                                 state.at("gate.weight"), state.at("gate.bias"))
                          .sigmoid() *
                      2);
    const at::Tensor degree = at::zeros({h.size(0)})
                                  .index_add(0, target, at::zeros({target.numel()}) + 1)
                                  .clamp_min(1)
                                  .unsqueeze(1);
    const at::Tensor mean = at::zeros({h.size(0), d}).index_add(0, target, messages) / degree;
    return at::gru_cell(mean, h, state.at("update.weight_ih"), state.at("update.weight_hh"),
                        state.at("update.bias_ih"), state.at("update.bias_hh"));
  }

  at::Tensor fused(std::shared_ptr<const MessagePlan> plan, at::Tensor h, int steps) const {
    const at::Tensor gates = layer.gates(*plan, false);
    for (int step = 0; step < steps; ++step) h = layer.step(plan, h, gates, false);
    return h;
  }

  std::vector<at::Tensor> gradients(const at::Tensor& loss) const {
    for (const auto& entry : state.entries()) entry.tensor.mutable_grad().reset();
    loss.backward();
    std::vector<at::Tensor> grads;
    for (const auto& entry : state.entries())
      grads.push_back(entry.tensor.grad().defined() ? entry.tensor.grad().clone() : at::Tensor());
    return grads;
  }
};

void expect_near(const at::Tensor& a, const at::Tensor& b, const std::string& what) {
  EXPECT_TRUE(at::allclose(a, b, 2e-4, 2e-5))
      << what << " differs by " << (a - b).abs().max().item<float>();
}

void compare(const PropagationOptions& options, std::int32_t nodes, std::int32_t edges) {
  at::manual_seed(3);
  const RandomGraph graph(nodes, edges, 7);
  const Layer layer(options);
  const auto plan =
      std::make_shared<const MessagePlan>(plan_messages(graph.edges, nodes, options.relations));
  at::Tensor h = at::randn({nodes, options.width}).set_requires_grad(true);
  const at::Tensor weight = at::randn({nodes, options.width});
  const at::Tensor slow = layer.plain(graph.edges, layer.plain(graph.edges, h));
  const auto expected = layer.gradients((slow * weight).sum());
  const at::Tensor expected_h = h.grad().clone();
  h.mutable_grad().reset();
  const at::Tensor fast = layer.fused(plan, h, 2);
  expect_near(fast, slow, "result");
  const auto got = layer.gradients((fast * weight).sum());
  expect_near(h.grad(), expected_h, "gradient of the states");
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_near(got[i], expected[i], "gradient of " + layer.state.entries()[i].name);
}

TEST(Propagation, EqualsPlainOperations) {
  compare({.width = 16, .text_width = 16}, 60, 110);
}

TEST(Propagation, EqualsPlainOperationsInSeveralBlocks) {
  compare({.width = 8, .text_width = 8}, 700, 1500);
}

TEST(Propagation, EqualsPlainOperationsWithASelectorAndWithoutGates) {
  compare({.width = 10, .text_width = 8}, 40, 60);
  compare({.width = 8, .text_width = 8, .gates = false}, 40, 60);
}

TEST(Propagation, HasAsManyParametersAsPublished) {
  // A layer of the data-flow network: 6 relations, 32 text columns and a selector of 2.
  const Layer layer({.width = 34, .text_width = 32});
  EXPECT_EQ(layer.state.parameter_count(), 87070 - 2231 * 32 - (2 * 68 + 2) - (2 * 34 + 2));
}

TEST(Propagation, RefinedStatesAreThoseOfTheNodes) {
  at::manual_seed(4);
  const RandomGraph graph(80, 90, 9, 2);
  const Layer layer({.width = 8, .text_width = 8});
  const at::Tensor embedding = at::randn({2, 8});
  const RefinedPlan refined = refine(graph.tokens, graph.edges, 6, 3);
  ASSERT_LT(refined.steps[0].rows_out, 80);
  at::Tensor h = embedding.index_select(0, longs(refined.tokens)).set_requires_grad(true);
  at::Tensor rows = h;
  for (const MessagePlan& step : refined.steps) {
    const auto plan = std::make_shared<const MessagePlan>(step);
    rows = layer.layer.step(plan, rows, layer.layer.gates(*plan, false), false);
  }
  const at::Tensor all = rows.index_select(0, longs(refined.row_of[3]));
  const auto plan = std::make_shared<const MessagePlan>(plan_messages(graph.edges, 80, 6));
  const at::Tensor nodes = layer.fused(plan, embedding.index_select(0, longs(graph.tokens)), 3);
  expect_near(all, nodes, "states");
  const at::Tensor weight = at::randn({80, 8});
  const auto expected = layer.gradients((nodes * weight).sum());
  const auto got = layer.gradients((all * weight).sum());
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_near(got[i], expected[i], "gradient of " + layer.state.entries()[i].name);
}

TEST(Propagation, DropoutFollowsTheSeedAndKeepsTheMean) {
  const RandomGraph graph(200, 400, 11);
  const Layer layer({.width = 16, .text_width = 16, .message_dropout = 0.3, .state_dropout = 0.5});
  const auto plan = std::make_shared<const MessagePlan>(plan_messages(graph.edges, 200, 6));
  const at::Tensor h = at::randn({200, 16});
  const auto run = [&](std::uint64_t seed, bool training) {
    at::manual_seed(seed);
    return layer.layer.step(plan, h, layer.layer.gates(*plan, training), training);
  };
  EXPECT_TRUE(at::equal(run(1, true), run(1, true)));
  EXPECT_FALSE(at::equal(run(1, true), run(2, true)));
  EXPECT_TRUE(at::equal(run(1, false), run(2, false)));
  const double zeros = (run(3, true) == 0).sum().item<double>() / (200 * 16);
  EXPECT_NEAR(zeros, 0.5, 0.05);
}

TEST(Propagation, GradientsUnderDropoutAreThoseOfTheSameMask) {
  const RandomGraph graph(20, 30, 12);
  const Layer layer({.width = 4, .text_width = 4, .message_dropout = 0.4, .state_dropout = 0.4});
  const auto plan = std::make_shared<const MessagePlan>(plan_messages(graph.edges, 20, 6));
  at::manual_seed(5);
  at::Tensor h = at::randn({20, 4}).set_requires_grad(true);
  const at::Tensor weight = at::randn({20, 4});
  const auto loss = [&](const at::Tensor& states) {
    at::manual_seed(6);
    return (layer.layer.step(plan, states, layer.layer.gates(*plan, true), true) * weight).sum();
  };
  loss(h).backward();
  const at::Tensor direction = at::randn({20, 4});
  const double predicted = (h.grad() * direction).sum().item<double>();
  const at::NoGradGuard no_grad;
  const double step = 1e-2;
  const double measured =
      (loss(h + direction * step) - loss(h - direction * step)).item<double>() / (2 * step);
  EXPECT_NEAR(measured, predicted, 1e-2 * std::max(1.0, std::abs(predicted)));
}

TEST(Propagation, RefusesStatesThatDoNotFit) {
  const Layer layer({.width = 4, .text_width = 4});
  const auto plan = std::make_shared<const MessagePlan>(plan_messages({}, 3, 6));
  EXPECT_THROW(layer.layer.step(plan, at::zeros({2, 4}), {}, false), Error);
  EXPECT_THROW(layer.layer.step(plan, at::zeros({3, 5}), {}, false), Error);
}

}  // namespace
}  // namespace omen::torch_kit::nn
