// SPDX-License-Identifier: Apache-2.0
// Every member of the family: shapes, sharing of states, parameter counts, gradients; what they
// are asked for, fitted to and saved as.
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <cmath>

#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/torch/nn/fit.hpp"
#include "omen/torch/nn/network.hpp"
#include "omen/torch/nn/saving.hpp"
#include "omen/torch/nn/targets.hpp"
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

TEST(Family, TakesAnyEdgeKindsAndAuxiliaryColumns) {
  TokenGraph graph = token_graph(9);
  for (std::size_t e = 0; e < graph.edges.size(); ++e)
    graph.edges.relation[e] = static_cast<std::int32_t>(e % 5);
  for (const std::int64_t columns : {0, 1, 3}) {
    NetworkOptions options = small(kFamily[2]);
    options.body.edge_kinds = 5;
    options.auxiliary = columns;
    const Network network(options);
    const at::Tensor out =
        network.outputs({&graph, nullptr}, at::zeros({2, columns}), [](double) {});
    EXPECT_TRUE(out[0].isfinite().all().item<bool>());
    EXPECT_TRUE(out[1].isnan().all().item<bool>()) << "a row without a graph has no answer";
    options.body.edge_kinds = 4;
    EXPECT_THROW(Network(options).outputs({&graph}, at::zeros({1, columns}), [](double) {}), Error);
  }
}

TEST(Targets, AreScaledByWhatWasMeasured) {
  Target narrow{.name = "ms"}, wide{.name = "ms"}, share{.name = "share"}, kind{.name = "kind"};
  measure(narrow, {10, std::nan(""), 20, 30});
  EXPECT_DOUBLE_EQ(narrow.mean, 20);
  EXPECT_DOUBLE_EQ(narrow.standardised(20 + narrow.scale), 1);
  EXPECT_DOUBLE_EQ(narrow.value(0), 20);
  measure(wide, {1, 10, 1000});
  EXPECT_TRUE(wide.logarithm);
  EXPECT_NEAR(wide.value(wide.standardised(77)), 77, 1e-9);
  share.least = 0;
  share.largest = 1000;
  measure(share, {1, 10, 1000});
  EXPECT_FALSE(share.logarithm) << "a number with ends is learnt as it is";
  EXPECT_EQ(share.value(1e6), 1000);
  kind.classes = {"a", "b"};
  measure(kind, {0, 1});
  EXPECT_EQ(kind.mean, 0);
  EXPECT_EQ(outputs_of({narrow, kind}), 3);
}

struct OneThread {
  omen_run run{};
  OneThread() {
    run.struct_size = sizeof run;
    run.seed = 5;
    run.threads = 1;
  }
};

// Rows whose number and class follow from the nodes of their graph and one column beside it.
struct Learnt {
  std::vector<TokenGraph> graphs;
  FitRows rows;
  std::vector<Target> targets = {{.name = "ms"}, {.name = "kind", .classes = {"few", "many"}}};

  Learnt() : graphs(40), rows{{}, at::zeros({40, 1}), {{}, {}}} {
    for (std::int64_t i = 0; i < 40; ++i) {
      TokenGraph& graph = graphs[static_cast<std::size_t>(i)];
      for (std::int32_t n = 0; n < 6; ++n) graph.tokens.push_back(n < i % 5 ? 1 : 0);
      for (std::int32_t n = 1; n < 6; ++n) graph.edges.push(n - 1, n, 0, 0);
      rows.graph.push_back(&graph);
      rows.auxiliary[i][0] = static_cast<double>(i % 3);
      rows.values[0].push_back(static_cast<double>(10 + 4 * (i % 5) + i % 3));
      rows.values[1].push_back(i % 5 > 2 ? 1 : 0);
    }
    measure(targets[0], rows.values[0]);
  }

  NetworkOptions options() const {
    NetworkOptions options = small(kFamily[2]);
    options.body.edge_kinds = 1;
    options.auxiliary = 1;
    options.outputs = outputs_of(targets);
    options.readout_dropout = 0;
    return options;
  }
  at::Tensor answers(const Network& network) const {
    return network.outputs(rows.graph, rows.auxiliary, [](double) {});
  }
};

TEST(Fitting, LearnsNumbersAndClasses) {
  const Learnt data;
  at::manual_seed(4);
  Network network(data.options());
  const OneThread one;
  fit(network, data.targets, data.rows, nullptr,
      {.epochs = 10, .readout_epochs = 60, .batch_graphs = 5, .batch_rows = 10, .rate = 1e-2},
      omen::Run(&one.run));
  const at::Tensor out = data.answers(network);
  double error = 0;
  int right = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    const auto row = static_cast<std::size_t>(i);
    error += std::abs(data.targets[0].value(out[i][0].item<double>()) - data.rows.values[0][row]);
    right += (out[i][2] > out[i][1]).item<bool>() == (data.rows.values[1][row] == 1);
  }
  EXPECT_LT(error / 40, 2.5) << "the mean answer is off by about 5";
  EXPECT_GE(right, 36);
  TableBuilder table;
  std::vector<bool> present(40, true);
  present[3] = false;
  add_answers(table, data.targets, out, present);
  const Table answer = table.finish();
  EXPECT_TRUE(answer.is_null(answer.index("ms"), 3));
  EXPECT_TRUE(answer.has("kind.p.many"));

  FitRows none = data.rows;
  none.graph.assign(40, nullptr);
  EXPECT_THROW(fit(network, data.targets, none, nullptr, {}, omen::Run(&one.run)), Error);
}

TEST(Saving, KeepsAnswersAtEveryPrecision) {
  const Learnt data;
  at::manual_seed(6);
  const Network network(data.options());
  const at::Tensor answers = data.answers(network);
  for (const auto& [name, margin] : {std::pair{"single", 0.0}, {"half", 0.01}, {"byte", 0.05}}) {
    container::Writer file;
    ArtifactWriter out(file.sink());
    save_options(network.options(), out);
    save_target(data.targets[1], "target.", out);
    save_weights(network, out, precision_named(name));
    const std::string bytes = file.serialise();
    const container::Reader file_in =
        container::Reader::from_memory(bytes.data(), bytes.size(), nullptr);
    const ArtifactReader in(file_in.source());
    NetworkOptions options = load_options(in);
    options.body.words = 6;
    options.body.edge_kinds = options.auxiliary = 1;
    options.outputs = 3;
    const Network loaded(options);
    load_weights(loaded, in);
    EXPECT_LE((data.answers(loaded) - answers).abs().max().item<double>(), margin) << name;
    EXPECT_EQ(load_target("target.", in).classes, data.targets[1].classes);
  }
  EXPECT_THROW(precision_named("double"), Error);
}

TEST(DistinctGraphs, AreListedOnce) {
  const TokenGraph a = token_graph(7), b = token_graph(8), copy = a;
  const DistinctGraphs distinct = distinct_graphs({&a, nullptr, &b, &copy, &a}, {});
  EXPECT_THAT(distinct.graphs, ::testing::ElementsAre(&a, &b));
  EXPECT_THAT(distinct.number, ::testing::ElementsAre(0, -1, 1, 0, 0));
}

}  // namespace
}  // namespace omen::torch_kit::nn
