// SPDX-License-Identifier: Apache-2.0
// Graphs and columns from tables: numbering, options, sharing of memory, refusals.
#include "omen/torch/graph_batch.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <tuple>

#include "omen/container.hpp"
#include "omen/torch/columns.hpp"
#include "omen/torch/message_passing.hpp"

namespace omen::torch_kit {
namespace {

using Edge = std::tuple<std::int64_t, std::int32_t, std::int32_t, std::string, std::int32_t>;

/// Nodes of graphs 10, 20 (one node, no edge) and 35, with features row, row + 0.5.
Table three_graphs() {
  return TableBuilder()
      .add<std::int64_t>("graph_id", {10, 10, 10, 20, 35, 35})
      .add<std::int32_t>("node_id", {0, 1, 2, 0, 0, 1})
      .add_dictionary("op", {1, 0, 1, 2, 0, 0}, {"add", "mul", "load"})
      .add_list<float>("feat", 2, {0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f, 4, 4.5f, 5, 5.5f})
      .finish();
}

Table edge_table(const std::vector<Edge>& edges) {
  std::vector<std::int64_t> graph;
  std::vector<std::int32_t> src, dst, position;
  std::vector<std::string> kind;
  for (const auto& [g, s, d, k, p] : edges) {
    graph.push_back(g);
    src.push_back(s);
    dst.push_back(d);
    kind.push_back(k);
    position.push_back(p);
  }
  return TableBuilder()
      .add("graph_id", graph)
      .add("src", src)
      .add("dst", dst)
      .add_categories("kind", kind)
      .add("position", position)
      .finish();
}

Table three_graphs_edges() {
  return edge_table({{10, 0, 2, "data", 0},
                     {10, 1, 2, "control", 1},
                     {10, 0, 2, "data", 7},
                     {10, 2, 2, "data", 0},
                     {35, 1, 0, "control", 3}});
}

std::vector<std::int64_t> list(const at::Tensor& t) {
  const at::Tensor c = t.contiguous();
  return {c.const_data_ptr<std::int64_t>(), c.const_data_ptr<std::int64_t>() + c.numel()};
}

using Longs = std::vector<std::int64_t>;

TEST(GraphSet, AllGraphsShareTheTable) {
  const Table nodes = three_graphs();
  const GraphSet set(nodes, three_graphs_edges());
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.find(35), 2);
  EXPECT_EQ(set.find(11), std::nullopt);
  EXPECT_EQ(set.edge_counts(), (Longs{4, 0, 1}));
  const Batch all = set.all();
  EXPECT_EQ(list(all.graph_offsets), (Longs{0, 3, 4, 6}));
  EXPECT_EQ(all.features.const_data_ptr<float>(), nodes.list<float>("feat").data());
  EXPECT_EQ(list(all.adjacency.sources()), (Longs{0, 1, 0, 2, 5}));
  EXPECT_EQ(list(all.adjacency.targets()), (Longs{2, 2, 2, 2, 4}));
  EXPECT_EQ(list(all.position), (Longs{0, 1, 7, 0, 3}));
  EXPECT_EQ(list(all.relation), (Longs{0, 0, 0, 0, 0}));
  EXPECT_EQ(list(all.edge_rows), (Longs{0, 1, 2, 3, 4}));
}

TEST(GraphSet, ConsecutiveGraphsAreViewsAndOthersCopies) {
  const Table nodes = three_graphs();
  const GraphSet set(nodes, three_graphs_edges());
  const Batch tail = set.batch({1, 2});
  EXPECT_EQ(tail.features.const_data_ptr<float>(), nodes.list<float>("feat")[3]);
  EXPECT_FALSE(tail.node_rows.defined());
  EXPECT_EQ(list(tail.adjacency.sources()), (Longs{2}));
  EXPECT_EQ(list(tail.adjacency.targets()), (Longs{1}));

  const Batch mixed = set.batch({2, 0, 2});
  EXPECT_EQ(list(mixed.graph_offsets), (Longs{0, 2, 5, 7}));
  EXPECT_EQ(list(mixed.node_rows), (Longs{4, 5, 0, 1, 2, 4, 5}));
  EXPECT_EQ(list(mixed.adjacency.sources()), (Longs{1, 2, 3, 2, 4, 6}));
  EXPECT_EQ(list(mixed.adjacency.targets()), (Longs{0, 4, 4, 4, 4, 5}));
  EXPECT_EQ(list(mixed.edge_rows), (Longs{4, 0, 1, 2, 3, 4}));
  EXPECT_EQ(mixed.features[2][1].item<float>(), 0.5f);
  const at::Tensor ops = Vocabulary({"add", "mul", "load"}).ids(nodes.strings("op"));
  EXPECT_EQ(list(mixed.select_nodes(ops)), (Longs{0, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(list(tail.select_nodes(ops)), (Longs{2, 0, 0}));
}

TEST(GraphSet, TensorsOutliveTheTables) {
  at::Tensor features;
  {
    const GraphSet set(three_graphs(), three_graphs_edges());
    features = set.batch({1, 2}).features;
  }
  EXPECT_EQ(features[0][0].item<float>(), 3.0f);
  EXPECT_EQ(features[2][1].item<float>(), 5.5f);
}

TEST(GraphSet, ReversedTypedAndLoopEdges) {
  GraphOptions options;
  options.kinds = {"control", "data"};
  options.reverse = true;
  options.typed = true;
  options.self_loops = true;
  const GraphSet set(three_graphs(), three_graphs_edges(), options);
  EXPECT_EQ(set.relations(), 5);
  EXPECT_EQ(set.edge_counts(), (Longs{10, 1, 4}));
  const Batch last = set.batch({2});
  EXPECT_EQ(last.adjacency.num_sources(), 10);
  EXPECT_EQ(last.adjacency.num_targets(), 2);
  EXPECT_EQ(list(last.adjacency.targets()), (Longs{0, 0, 1, 1}));
  EXPECT_EQ(list(last.adjacency.sources()), (Longs{5 + 0, 0 + 4, 0 + 2, 5 + 4}));
  EXPECT_EQ(list(last.relation), (Longs{0, 4, 2, 4}));
  EXPECT_EQ(list(last.position), (Longs{3, 0, 3, 0}));
  EXPECT_EQ(list(last.edge_rows), (Longs{4, -1, 4, -1}));
  const Batch first = set.batch({0});  // node 2 has a loop of its own
  EXPECT_EQ((first.relation == 4).sum().item<std::int64_t>(), 2);
}

TEST(GraphSet, UniqueKeepsTheFirstOfParallelEdges) {
  GraphOptions options;
  options.unique = true;
  const GraphSet set(three_graphs(), three_graphs_edges(), options);
  EXPECT_EQ(set.edge_counts(), (Longs{3, 0, 1}));
  EXPECT_EQ(list(set.all().position), (Longs{0, 1, 0, 3}));
  EXPECT_EQ(list(set.all().edge_rows), (Longs{0, 1, 3, 4}));
  EXPECT_EQ(list(set.batch({2, 0}).edge_rows), (Longs{4, 0, 1, 3}));
}

TEST(GraphSet, AnyBatchEqualsSortingItsEdgesAnew) {
  std::mt19937 random(5);
  std::vector<std::int64_t> graph;
  std::vector<std::int32_t> node;
  std::vector<Edge> edges;
  std::vector<std::int64_t> counts;
  for (std::int64_t g = 0; g < 40; ++g) {
    const int n = 1 + static_cast<int>(random() % 30);
    counts.push_back(n);
    for (int i = 0; i < n; ++i) {
      graph.push_back(g * 3);
      node.push_back(i);
    }
    for (int e = static_cast<int>(random() % 60); e > 0; --e)
      edges.emplace_back(g * 3, random() % n, random() % n, random() % 2 ? "data" : "control",
                         static_cast<int>(random() % 9));
  }
  GraphOptions options;
  options.kinds = {"data", "control"};
  options.reverse = options.typed = true;
  const GraphSet set(TableBuilder().add("graph_id", graph).add("node_id", node).finish(),
                     edge_table(edges), options);
  for (int round = 0; round < 20; ++round) {
    Longs chosen;
    for (int i = 0; i < 7; ++i) chosen.push_back(static_cast<std::int64_t>(random() % 40));
    const Batch batch = set.batch(chosen);
    // Fresh lists in the order of the batch, then the sort of Adjacency itself.
    Longs source, target;
    std::int64_t base = 0;
    for (const std::int64_t g : chosen) {
      for (const auto& [id, s, d, k, p] : edges) {
        if (id != g * 3) continue;
        const std::int64_t kind = k == "data" ? 0 : 1;
        source.insert(source.end(), {(base + s) * 4 + kind, (base + d) * 4 + 2 + kind});
        target.insert(target.end(), {base + d, base + s});
      }
      base += counts[static_cast<std::size_t>(g)];
    }
    const auto tensor = [](const Longs& v) {
      at::Tensor t =
          at::arange(static_cast<std::int64_t>(v.size()), at::TensorOptions().dtype(at::kLong));
      std::copy(v.begin(), v.end(), t.mutable_data_ptr<std::int64_t>());
      return t;
    };
    const Adjacency fresh = Adjacency::from_edges(tensor(source), tensor(target), base * 4, base);
    for (const auto& [a, b] : {std::pair(batch.adjacency, fresh),
                               std::pair(batch.adjacency.transposed(), fresh.transposed())}) {
      ASSERT_TRUE(at::equal(a.by_target().offsets, b.by_target().offsets));
      ASSERT_TRUE(at::equal(a.by_target().neighbours, b.by_target().neighbours));
      ASSERT_TRUE(at::equal(a.by_target().peer, b.by_target().peer));
    }
  }
}

TEST(GraphSet, BatchedMessagesEqualThoseOfSingleGraphs) {
  const GraphSet set(three_graphs(), three_graphs_edges());
  const Batch batch = set.batch({2, 0, 1});
  const at::Tensor together = aggregate_mean(batch.adjacency, batch.features);
  std::int64_t row = 0;
  for (const std::int64_t g : {2, 0, 1}) {
    const Batch one = set.batch({g});
    const at::Tensor alone = aggregate_mean(one.adjacency, one.features);
    EXPECT_TRUE(at::equal(together.narrow(0, row, one.nodes), alone));
    row += one.nodes;
  }
}

TEST(GraphSet, EmptyTablesAndBatchesWork) {
  const Table no_nodes = three_graphs().slice(0, 0);
  const Table no_edges = three_graphs_edges().slice(0, 0);
  const GraphSet empty(no_nodes, no_edges);
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(empty.all().nodes, 0);
  const GraphSet set(three_graphs(), no_edges);
  EXPECT_EQ(set.all().adjacency.num_edges(), 0);
  const Batch none = set.batch({});
  EXPECT_EQ(none.graphs, 0);
  EXPECT_EQ(none.features.size(0), 0);
  EXPECT_EQ(list(none.graph_offsets), (Longs{0}));
}

TEST(GraphSet, DamagedTablesAreRefusedWithTheRow) {
  const auto message = [](const Table& nodes, const Table& edges,
                          const GraphOptions& options = {}) {
    try {
      GraphSet(nodes, edges, options);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), OMEN_INVALID_DATA);
      EXPECT_FALSE(e.hint().empty());
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const Table good = three_graphs();
  const auto nodes = [](std::vector<std::int64_t> g, std::vector<std::int32_t> n) {
    return TableBuilder().add("graph_id", std::move(g)).add("node_id", std::move(n)).finish();
  };
  const Table edges = three_graphs_edges();
  EXPECT_EQ(message(nodes({10, 10}, {0, 2}), edges), "nodes row 1: node_id is 2, expected 1");
  EXPECT_EQ(message(nodes({10, 9}, {0, 0}), edges), "nodes row 1: graph 9 after graph 10");
  EXPECT_EQ(message(good, edge_table({{11, 0, 0, "data", 0}})),
            "edges row 0: graph 11 has no nodes");
  EXPECT_EQ(message(good, edge_table({{20, 0, 1, "data", 0}})), "edges row 0: node 1 of 1");
  EXPECT_EQ(message(good, edge_table({{20, -1, 0, "data", 0}})), "edges row 0: node -1 of 1");
  EXPECT_EQ(message(good, edge_table({{20, 0, 0, "data", 0}, {10, 0, 0, "data", 0}})),
            "edges row 1: graph 10 after graph 20");
  GraphOptions options;
  options.kinds = {"data"};
  EXPECT_EQ(message(good, edges, options), "edges row 1: kind 'control' is not known");
  EXPECT_THROW(GraphSet(good, edges).batch({3}), Error);
}

TEST(Columns, NumbersAreSharedAndNullsBecomeNan) {
  const Table table = TableBuilder()
                          .add<double>("time", {1, 2, 3})
                          .add<std::int32_t>("batch", {8, 16, 32})
                          .add<float>("gap", {1, 2, 3})
                          .valid({true, false, true})
                          .add_bools("fits", {true, false, true})
                          .add<std::int64_t>("holes", {1, 2, 3})
                          .valid({true, true, false})
                          .add_strings("name", {"a", "b", "c"})
                          .finish();
  const at::Tensor time = column_tensor(table, "time");
  EXPECT_EQ(time.const_data_ptr<double>(), table.column<double>("time").data());
  EXPECT_EQ(column_tensor(table, "batch").scalar_type(), at::kInt);
  const at::Tensor gap = column_tensor(table, "gap");
  EXPECT_TRUE(std::isnan(gap[1].item<float>()));
  EXPECT_EQ(gap[2].item<float>(), 3);
  EXPECT_EQ(column_tensor(table, "fits").scalar_type(), at::kBool);
  EXPECT_FALSE(column_tensor(table, "fits")[1].item<bool>());
  EXPECT_THROW(column_tensor(table, "holes"), Error);
  EXPECT_THROW(column_tensor(table, "name"), Error);
  EXPECT_THROW(column_tensor(table, "absent"), Error);
  const at::Tensor matrix = column_matrix(table, {"batch", "time"});
  EXPECT_EQ(matrix.size(1), 2);
  EXPECT_EQ(matrix[2][0].item<float>(), 32);
  EXPECT_EQ(matrix[1][1].item<float>(), 2);
}

TEST(Vocabulary, NumbersFollowTextAndSurviveAnArtifact) {
  const Table table = TableBuilder()
                          .add_dictionary("op", {2, 1, 1, 0, 2, 2}, {"rare", "mid", "top"})
                          .add_strings("text", {"top", "x", "mid", "", "rare", "top"})
                          .finish();
  const Vocabulary words = Vocabulary::of(table.strings("op"), 2);
  EXPECT_EQ(words.words(), (std::vector<std::string>{"top", "mid"}));
  EXPECT_EQ(list(words.ids(table.strings("op"))), (Longs{0, 1, 1, 2, 0, 0}));
  EXPECT_EQ(list(words.ids(table.strings("text"))), (Longs{0, 2, 1, 2, 2, 0}));
  EXPECT_EQ(words.size(), 3);
  EXPECT_THROW(Vocabulary({"a", "a"}), Error);

  container::Writer file;
  ArtifactWriter out(file.sink());
  words.save(out, "ops");
  Vocabulary().save(out, "none");
  const std::string bytes = file.serialise();
  const container::Reader reader =
      container::Reader::from_memory(bytes.data(), bytes.size(), nullptr);
  const ArtifactReader in(reader.source());
  EXPECT_EQ(Vocabulary::load(in, "ops").words(), words.words());
  EXPECT_EQ(Vocabulary::load(in, "none").size(), 1);
}

}  // namespace
}  // namespace omen::torch_kit
