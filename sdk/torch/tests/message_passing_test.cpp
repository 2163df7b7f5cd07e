// SPDX-License-Identifier: Apache-2.0
// Message passing against plain loops over the edge list, and gradients against differences.
#include "omen/torch/message_passing.hpp"

#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/real.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <string>

#include "gradient_check.hpp"
#include "omen/error.hpp"

namespace omen::torch_kit {
namespace {

using testing::doubles;
using testing::expect_gradients;
using testing::indices;

struct Edges {
  std::vector<std::int64_t> source, target;
  std::int64_t sources, targets;
  Adjacency build() const {
    return Adjacency::from_edges(indices(source), indices(target), sources, targets);
  }
};

/// Node 3 has no edge at all, node 0 no incoming one; 1 -> 2 is doubled; 4 has a self loop.
Edges small() {
  return {{0, 1, 1, 2, 4, 0, 4}, {1, 2, 2, 1, 4, 4, 2}, 5, 5};
}

Edges random_edges(std::int64_t sources, std::int64_t targets, std::int64_t edges) {
  Edges out{{}, {}, sources, targets};
  const at::Tensor s = at::randint(sources, {edges}, at::TensorOptions().dtype(at::kLong));
  const at::Tensor t = at::randint(targets, {edges}, at::TensorOptions().dtype(at::kLong));
  out.source.assign(s.const_data_ptr<std::int64_t>(), s.const_data_ptr<std::int64_t>() + edges);
  out.target.assign(t.const_data_ptr<std::int64_t>(), t.const_data_ptr<std::int64_t>() + edges);
  return out;
}

/// Sum over the edge list, one edge after the other; `weight(e, column)` scales each term.
template <class Weight>
at::Tensor naive_sum(const Edges& edges, const at::Tensor& x, const Weight& weight) {
  at::Tensor y = at::zeros({edges.targets, x.size(1)}, at::TensorOptions().dtype(at::kDouble));
  const at::Tensor wide = x.to(at::kDouble).contiguous();
  for (std::size_t e = 0; e < edges.source.size(); ++e)
    for (std::int64_t c = 0; c < x.size(1); ++c)
      y.mutable_data_ptr<double>()[edges.target[e] * x.size(1) + c] +=
          weight(static_cast<std::int64_t>(e), c) *
          wide.const_data_ptr<double>()[edges.source[e] * x.size(1) + c];
  return y;
}

double unit(std::int64_t, std::int64_t) {
  return 1;
}

void expect_close(const at::Tensor& a, const at::Tensor& b, double tolerance = 1e-5) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(at::allclose(a.to(at::kDouble), b.to(at::kDouble), tolerance, tolerance));
}

class MessagePassing : public ::testing::Test {
 protected:
  void SetUp() override { at::manual_seed(7); }
};

TEST_F(MessagePassing, AdjacencyIsSortedStablyInBothDirections) {
  const Adjacency a = small().build();
  EXPECT_TRUE(at::equal(a.by_target().offsets, indices({0, 0, 2, 5, 5, 7})));
  EXPECT_TRUE(at::equal(a.edge_order(), indices({0, 3, 1, 2, 6, 4, 5})));
  EXPECT_TRUE(at::equal(a.sources(), indices({0, 2, 1, 1, 4, 4, 0})));
  EXPECT_TRUE(at::equal(a.targets(), indices({1, 1, 2, 2, 2, 4, 4})));
  EXPECT_TRUE(at::equal(a.by_source().edge, indices({0, 5, 1, 2, 3, 4, 6})));
  EXPECT_TRUE(at::equal(a.transposed().edge_order(), a.by_source().edge));
  const at::Tensor there_and_back = a.by_target().peer.index_select(0, a.by_source().peer);
  EXPECT_TRUE(at::equal(there_and_back, indices({0, 1, 2, 3, 4, 5, 6})));
}

TEST_F(MessagePassing, AdjacencyRefusesEndsOutsideTheGraph) {
  try {
    Edges{{0, 5}, {1, 1}, 5, 5}.build();
    FAIL() << "source 5 of 5 nodes was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), OMEN_INVALID_DATA);
    EXPECT_STREQ(e.what(), "edge 1 has source 5, allowed 0..4");
  }
  EXPECT_THROW((Edges{{0}, {-1}, 5, 5}.build()), Error);
  EXPECT_THROW(Adjacency::from_edges(indices({0, 1}), indices({0}), 5, 5), Error);
}

TEST_F(MessagePassing, SumEqualsLoopForAllShapesAndTypes) {
  for (const Edges& edges : {small(), random_edges(50, 30, 400), random_edges(3000, 2000, 40000)}) {
    const Adjacency a = edges.build();
    for (std::int64_t width : {1, 7, 64, 100}) {
      const at::Tensor x = at::randn({edges.sources, width});
      const at::Tensor expected = naive_sum(edges, x, unit);
      expect_close(aggregate_sum(a, x), expected);
      expect_close(aggregate_sum(a, x.to(at::kDouble)), expected, 1e-6);
      expect_close(aggregate_mean(a, x),
                   expected / a.in_degree(at::kDouble).clamp_min(1).unsqueeze(1));
    }
  }
}

TEST_F(MessagePassing, WeightedSumEqualsLoopWithAndWithoutHeads) {
  const Edges edges = random_edges(40, 60, 500);
  const Adjacency a = edges.build();
  const at::Tensor x = at::randn({40, 12});
  for (std::int64_t heads : {1, 3, 4, 12}) {
    const at::Tensor w = at::randn({500, heads});  // by edge number
    const double* weight = nullptr;
    const at::Tensor wide = w.to(at::kDouble).contiguous();
    weight = wide.const_data_ptr<double>();
    const at::Tensor expected = naive_sum(edges, x, [&](std::int64_t e, std::int64_t c) {
      return weight[e * heads + c / (12 / heads)];
    });
    const at::Tensor by_slot = w.index_select(0, a.edge_order());
    expect_close(aggregate_sum(a, x, by_slot), expected);
    if (heads == 1) expect_close(aggregate_sum(a, x, by_slot.squeeze(1)), expected);
  }
}

TEST_F(MessagePassing, NonContiguousInputsAndGradientsAreRead) {
  const Edges edges = random_edges(20, 20, 100);
  const at::Tensor x = at::randn({16, 20}).t();
  expect_close(aggregate_sum(edges.build(), x), naive_sum(edges, x, unit));
  at::Tensor leaf = at::randn({20, 16}).set_requires_grad(true);
  aggregate_sum(edges.build(), leaf).sum().backward();  // the gradient is an expanded scalar
  expect_close(leaf.grad(), edges.build().out_degree().unsqueeze(1).expand({20, 16}));
}

TEST_F(MessagePassing, OtherTypesTakeTheIndexPath) {
  const Edges edges = random_edges(30, 20, 200);
  const Adjacency a = edges.build();
  const auto complex = at::TensorOptions().dtype(at::kComplexDouble);
  at::Tensor x = doubles({30, 6});
  at::Tensor z = x.to(complex.dtype()).set_requires_grad(true);
  x.set_requires_grad(true);
  const at::Tensor w = doubles({200, 3});
  const auto compare = [&](const at::Tensor& fast, const at::Tensor& generic) {
    expect_close(at::real(generic.detach()), fast.detach(), 1e-12);
    x.mutable_grad().reset();
    z.mutable_grad().reset();
    fast.pow(2).sum().backward();
    at::real(generic).pow(2).sum().backward();
    expect_close(at::real(z.grad()), x.grad(), 1e-12);
  };
  compare(aggregate_sum(a, x), aggregate_sum(a, z));
  compare(aggregate_sum(a, x, w), aggregate_sum(a, z, w.to(complex.dtype())));
  compare(aggregate_mean(a, x), aggregate_mean(a, z));
  compare(gather_sources(a, x), gather_sources(a, z));
  compare(segment_pool(x, indices({0, 4, 4, 30}), Pool::kSum),
          segment_pool(z, indices({0, 4, 4, 30}), Pool::kSum));
  compare(edge_dot(a, x.narrow(0, 0, 20), x, 2), edge_dot(a, z.narrow(0, 0, 20), z, 2));
  const at::Tensor gates = doubles({4, 6});
  const at::Tensor gate = at::randint(4, {200}, at::TensorOptions().dtype(at::kLong));
  for (Reduce reduce : {Reduce::kSum, Reduce::kMean})
    compare(aggregate_gated(a, x, gates, gate, reduce),
            aggregate_gated(a, z, gates.to(complex.dtype()), gate, reduce));
}

TEST_F(MessagePassing, HalfPrecisionSegmentsTakeTheIndexPath) {
  const at::Tensor offsets = indices({0, 3, 3, 10, 11});
  const at::Tensor x = at::randn({11, 4}).to(at::kBFloat16);
  const at::Tensor wide = x.to(at::kFloat);
  expect_close(segment_softmax(x, offsets), segment_softmax(wide, offsets), 2e-2);
  for (Pool pool : {Pool::kMean, Pool::kMax})
    expect_close(segment_pool(x, offsets, pool), segment_pool(wide, offsets, pool), 2e-2);
}

TEST_F(MessagePassing, GatedSumEqualsLoop) {
  const Edges edges = random_edges(90, 30, 400);
  const Adjacency a = edges.build();
  const at::Tensor x = at::randn({90, 10});
  const at::Tensor gates = at::rand({5, 10});
  const at::Tensor gate = at::randint(5, {400}, at::TensorOptions().dtype(at::kLong));
  const at::Tensor wide = gates.to(at::kDouble);
  const at::Tensor expected = naive_sum(edges, x, [&](std::int64_t e, std::int64_t c) {
    return wide.const_data_ptr<double>()[gate.const_data_ptr<std::int64_t>()[e] * 10 + c];
  });
  const at::Tensor by_slot = gate.index_select(0, a.edge_order());
  expect_close(aggregate_gated(a, x, gates, by_slot, Reduce::kSum), expected);
  expect_close(aggregate_gated(a, x, gates, by_slot, Reduce::kMean),
               expected / a.in_degree(at::kDouble).clamp_min(1).unsqueeze(1));
  EXPECT_THROW(aggregate_gated(a, x, gates, by_slot + 1, Reduce::kSum), Error);
}

TEST_F(MessagePassing, GatesGradientOnSeveralThreadsEqualsOne) {
  const Edges edges = random_edges(4000, 3000, 30000);
  const Adjacency a = edges.build();
  const at::Tensor gate = at::randint(9, {30000}, at::TensorOptions().dtype(at::kLong));
  const at::Tensor x = doubles({4000, 8});
  const auto gradient = [&](int threads) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    at::Tensor gates = at::ones({9, 8}, x.options()).set_requires_grad(true);
    aggregate_gated(a, x, gates, gate, Reduce::kMean).pow(2).sum().backward();
    at::set_num_threads(before);
    return gates.grad();
  };
  expect_close(gradient(3), gradient(1), 1e-10);
}

TEST_F(MessagePassing, GradientsEqualDifferences) {
  const Edges edges = small();
  const Adjacency a = edges.build();
  const at::Tensor x = doubles({5, 4});
  expect_gradients([&](const auto& in) { return aggregate_sum(a, in[0]); }, {x});
  expect_gradients([&](const auto& in) { return aggregate_mean(a, in[0]); }, {x});
  expect_gradients([&](const auto& in) { return aggregate_sum(a, in[0], in[1]); },
                   {x, doubles({7})});
  expect_gradients([&](const auto& in) { return aggregate_sum(a, in[0], in[1]); },
                   {x, doubles({7, 2})});
  expect_gradients([&](const auto& in) { return gather_sources(a, in[0]); }, {x});
  expect_gradients([&](const auto& in) { return gather_targets(a, in[0]); }, {x});
  expect_gradients([&](const auto& in) { return edge_dot(a, in[0], in[1]); }, {x, doubles({5, 4})});
  expect_gradients([&](const auto& in) { return edge_dot(a, in[0], in[1], 2); },
                   {x, doubles({5, 4})});
  const at::Tensor gate = indices({0, 2, 1, 1, 0, 2, 2});
  for (Reduce reduce : {Reduce::kSum, Reduce::kMean})
    expect_gradients([&](const auto& in) { return aggregate_gated(a, in[0], in[1], gate, reduce); },
                     {x, doubles({3, 4})});
}

TEST_F(MessagePassing, FloatGradientsEqualDoubleOnes) {
  const Edges edges = random_edges(300, 200, 2500);
  const Adjacency a = edges.build();
  const at::Tensor x = doubles({300, 64});
  const at::Tensor w = doubles({2500});
  const auto run = [&](at::ScalarType type) {
    at::Tensor rows = x.to(type).set_requires_grad(true);
    at::Tensor weights = w.to(type).set_requires_grad(true);
    (aggregate_sum(a, rows, weights).tanh().sum() + aggregate_mean(a, rows).pow(2).sum())
        .backward();
    return std::pair(rows.grad(), weights.grad());
  };
  const auto single = run(at::kFloat);
  const auto wide = run(at::kDouble);
  expect_close(single.first, wide.first, 1e-4);
  expect_close(single.second, wide.second, 1e-4);
}

TEST_F(MessagePassing, SegmentGradientsEqualDifferences) {
  const at::Tensor offsets = indices({0, 3, 3, 7, 8});
  const at::Tensor x = doubles({8, 3});
  for (Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax})
    expect_gradients([&](const auto& in) { return segment_pool(in[0], offsets, pool); }, {x});
  expect_gradients([&](const auto& in) { return segment_softmax(in[0], offsets); }, {x});
  expect_gradients([&](const auto& in) { return segment_softmax(in[0], offsets); }, {doubles({8})});
  expect_gradients([&](const auto& in) { return segment_expand(in[0], offsets); },
                   {doubles({4, 3})});
}

TEST_F(MessagePassing, SecondDerivativesEqualDifferences) {
  const Edges edges = small();
  const Adjacency a = edges.build();
  const auto gradient_of_energy = [&](const std::vector<at::Tensor>& in) {
    at::Tensor x = in[0].requires_grad() ? in[0] : in[0].detach().set_requires_grad(true);
    const at::Tensor scores = edge_dot(a, x, x);
    const at::Tensor y = aggregate_sum(a, x, segment_softmax(scores, a.by_target().offsets));
    const at::Tensor held = x.grad();
    x.mutable_grad() = at::Tensor();
    (aggregate_mean(a, y.tanh()) + gather_sources(a, y).pow(3).sum())
        .sum()
        .backward({}, true, true);
    const at::Tensor gradient = x.grad();
    x.mutable_grad() = held;
    return gradient;
  };
  expect_gradients(gradient_of_energy, {doubles({5, 3})}, 1e-5);
}

TEST_F(MessagePassing, GatedSumRefusesSecondDerivatives) {
  const Adjacency a = small().build();
  at::Tensor x = doubles({5, 2}).set_requires_grad(true);
  const at::Tensor y = aggregate_gated(
      a, x, doubles({1, 2}), at::zeros({7}, at::TensorOptions().dtype(at::kLong)), Reduce::kSum);
  EXPECT_THROW(y.pow(2).sum().backward({}, true, true), std::exception);
}

TEST_F(MessagePassing, EmptyGraphsAndIsolatedNodesGiveZeros) {
  for (const Edges& edges : {Edges{{}, {}, 4, 4}, Edges{{}, {}, 0, 0}, Edges{{}, {}, 3, 0}}) {
    const Adjacency a = edges.build();
    for (const auto type : {at::kFloat, at::kDouble, at::kComplexDouble}) {
      at::Tensor x =
          at::ones({edges.sources, 5}, at::TensorOptions().dtype(type)).set_requires_grad(true);
      const at::Tensor y = aggregate_sum(a, x) + aggregate_mean(a, x);
      EXPECT_TRUE(at::equal(y, at::zeros({edges.targets, 5}, x.options())));
      at::real(y).sum().backward();
      EXPECT_TRUE(at::equal(x.grad(), at::zeros({edges.sources, 5}, x.options())));
      EXPECT_EQ(gather_sources(a, x).size(0), 0);
    }
  }
  const at::Tensor y = aggregate_mean(small().build(), at::ones({5, 2}));
  EXPECT_EQ(y[3][0].item<float>(), 0.0f);
  EXPECT_EQ(y[2][0].item<float>(), 1.0f);
  const at::Tensor none = at::zeros({0, 3});
  for (Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax}) {
    EXPECT_TRUE(at::equal(segment_pool(none, indices({0, 0, 0}), pool), at::zeros({2, 3})));
    EXPECT_EQ(segment_pool(none, indices({0}), pool).size(0), 0);
  }
  EXPECT_EQ(segment_softmax(none, indices({0, 0})).size(0), 0);
}

TEST_F(MessagePassing, SoftmaxIsStableAndSumsToOnePerSegment) {
  const at::Tensor offsets = indices({0, 4, 4, 5, 9});
  at::Tensor values = at::randn({9, 2}) * 1000 + 5000;
  const at::Tensor y = segment_softmax(values, offsets);
  const at::Tensor sums = segment_pool(y, offsets, Pool::kSum);
  expect_close(sums, at::tensor({1.f, 1.f, 0.f, 0.f, 1.f, 1.f, 1.f, 1.f}).reshape({4, 2}));
  for (const std::int64_t s : {0, 3}) {
    const std::int64_t from = s == 0 ? 0 : 5;
    expect_close(y.narrow(0, from, 4), values.narrow(0, from, 4).softmax(0));
  }
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(at::equal(segment_softmax(at::full({2}, -inf), indices({0, 2})), at::zeros({2})));
}

TEST_F(MessagePassing, MaximumTakesTheFirstOfEqualRowsAndKeepsNan) {
  at::Tensor x = at::tensor({1.0, 3.0, 3.0, -2.0}).reshape({4, 1}).set_requires_grad(true);
  segment_pool(x, indices({0, 3, 4}), Pool::kMax).sum().backward();
  EXPECT_TRUE(at::equal(x.grad().squeeze(1), at::tensor({0.0, 1.0, 0.0, 1.0})));
  const at::Tensor with_nan = at::tensor({1.0, std::nan(""), 3.0}).reshape({3, 1});
  EXPECT_TRUE(std::isnan(segment_pool(with_nan, indices({0, 3}), Pool::kMax).item<double>()));
  const at::Tensor half = with_nan.to(at::kBFloat16);
  EXPECT_TRUE(std::isnan(segment_pool(half, indices({0, 3}), Pool::kMax).item<float>()));
}

TEST_F(MessagePassing, ConvolutionWeightsNormaliseBySquareRootOfDegrees) {
  // Path 0 - 1 - 2 in both directions with self loops: degrees 2, 3, 2.
  const Adjacency a = Edges{{0, 1, 1, 2, 0, 1, 2}, {1, 0, 2, 1, 0, 1, 2}, 3, 3}.build();
  const at::Tensor y = aggregate_sum(a, at::ones({3, 1}), gcn_weights(a));
  const double s6 = 1 / std::sqrt(6.0);
  expect_close(y.squeeze(1), at::tensor({0.5 + s6, 1.0 / 3 + 2 * s6, 0.5 + s6}));
}

TEST_F(MessagePassing, AttentionLayerEqualsDenseOne) {
  // One attention head over 6 nodes against the masked dense formula.
  const Edges edges = {{0, 1, 2, 3, 4, 5, 0, 3}, {1, 2, 0, 4, 5, 3, 2, 1}, 6, 6};
  const Adjacency a = edges.build();
  const at::Tensor h = doubles({6, 4});
  const at::Tensor to_source = doubles({4, 1});
  const at::Tensor to_target = doubles({4, 1});
  const at::Tensor scores = at::leaky_relu(
      gather_sources(a, h.matmul(to_source)) + gather_targets(a, h.matmul(to_target)), 0.2);
  const at::Tensor sparse = aggregate_sum(a, h, segment_softmax(scores, a.by_target().offsets));

  at::Tensor mask = at::full({6, 6}, -INFINITY, h.options());
  for (std::size_t e = 0; e < edges.source.size(); ++e) mask[edges.target[e]][edges.source[e]] = 0;
  const at::Tensor dense_scores =
      at::leaky_relu(h.matmul(to_target) + h.matmul(to_source).t(), 0.2) + mask;
  expect_close(sparse, dense_scores.softmax(1).matmul(h), 1e-12);
}

TEST_F(MessagePassing, SameThreadsGiveTheSameBits) {
  const Adjacency a = random_edges(2000, 2000, 30000).build();
  const at::Tensor x = at::randn({2000, 33});
  const at::Tensor w = at::rand({30000});
  EXPECT_TRUE(at::equal(aggregate_sum(a, x, w), aggregate_sum(a, x, w)));
  EXPECT_TRUE(at::equal(aggregate_mean(a, x), aggregate_mean(a, x)));
}

TEST_F(MessagePassing, ShapesAreCheckedWithConcreteMessages) {
  const Adjacency a = small().build();
  try {
    aggregate_sum(a, at::ones({4, 2}));
    FAIL() << "4 rows for 5 nodes were accepted";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "node matrix has shape [4, 2], expected [5, width]");
  }
  EXPECT_THROW(aggregate_sum(a, at::ones({5, 4}), at::ones({6})), Error);
  EXPECT_THROW(aggregate_sum(a, at::ones({5, 4}), at::ones({7, 3})), Error);
  EXPECT_THROW(edge_dot(a, at::ones({5, 4}), at::ones({5, 3})), Error);
  EXPECT_THROW(segment_pool(at::ones({5, 4}), indices({0, 4}), Pool::kSum), Error);
}

}  // namespace
}  // namespace omen::torch_kit
