// SPDX-License-Identifier: Apache-2.0
// Examples from tables that come in pieces: the same whatever the pieces, and clear refusals.
#include "dataflow/examples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

using ::testing::HasSubstr;
using testing::random_graph;

constexpr unsigned kGraphs = 12;

std::vector<ProgramGraph> some_graphs() {
  std::vector<ProgramGraph> graphs;
  for (unsigned seed = 0; seed < kGraphs; ++seed) graphs.push_back(random_graph(seed));
  return graphs;
}

void put_graphs(MemoryDataset& data) {
  GraphTables tables = to_tables(some_graphs(), kDialect, 100);
  data.put("nodes", tables.nodes);
  data.put("edges", tables.edges);
}

Table plain_workloads() {
  std::vector<std::int64_t> id, graph;
  for (unsigned i = 0; i < kGraphs; ++i) id.push_back(i), graph.push_back(100 + i);
  return TableBuilder().add("workload_id", id).add("graph_id", graph).finish();
}

ExampleSettings settings() {
  ExampleSettings s;
  s.analysis = Analysis::kLiveness;
  s.share = 0.5;
  s.max_steps = 0;
  return s;
}

struct Made {
  std::vector<Example> examples;
  std::vector<std::int64_t> graph_id;
};

Made read(const MemoryDataset& data, bool ask = false) {
  Made made;
  ExampleStream stream(data.view(), settings(), ask);
  while (auto some = stream.next())
    for (Example& example : *some) made.examples.push_back(std::move(example));
  return made;
}

Made made_directly() {
  Made made;
  const std::vector<ProgramGraph> graphs = some_graphs();
  for (std::size_t i = 0; i < graphs.size(); ++i)
    for (Example& example :
         make_examples(std::make_shared<const ProgramGraph>(graphs[i]),
                       static_cast<std::int64_t>(made.examples.size()), i, settings())) {
      made.examples.push_back(std::move(example));
      made.graph_id.push_back(100 + static_cast<std::int64_t>(i));
    }
  return made;
}

void expect_equal(const std::vector<Example>& a, const std::vector<Example>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].workload_id, b[i].workload_id);
    EXPECT_EQ(a[i].root, b[i].root);
    EXPECT_EQ(a[i].steps, b[i].steps);
    EXPECT_EQ(a[i].label, b[i].label);
    EXPECT_EQ(a[i].known, b[i].known);
    EXPECT_EQ(a[i].graph->nodes.size(), b[i].graph->nodes.size());
    EXPECT_EQ(a[i].graph->edges.size(), b[i].graph->edges.size());
  }
}

TEST(ExampleStream, MakesTheSameFromPiecesOfAnySize) {
  const Made direct = made_directly();
  EXPECT_GT(direct.examples.size(), kGraphs);
  for (const std::int64_t rows : {0, 1, 7, 1000}) {
    SCOPED_TRACE(rows);
    MemoryDataset data;
    put_graphs(data);
    data.put("workloads", plain_workloads());
    data.set_batch_rows(rows);
    expect_equal(read(data).examples, direct.examples);
  }
}

TEST(ExampleStream, ReadsWhatItsTablesSay) {
  const Made direct = made_directly();
  const ExampleTables tables =
      to_tables(direct.examples, direct.graph_id, Analysis::kLiveness, "tests");
  for (const bool root_in_features : {false, true}) {
    MemoryDataset data;
    put_graphs(data);
    data.put("workloads", root_in_features ? select(tables.workloads,
                                                    {"workload_id", "graph_id", "group", "steps"})
                                           : tables.workloads);
    if (root_in_features) data.put("node_features", tables.node_features);
    data.put("node_targets", tables.node_targets);
    data.set_batch_rows(5);
    expect_equal(read(data).examples, direct.examples);

    data.withhold("node_targets");
    const Made asked = read(data, true);
    ASSERT_EQ(asked.examples.size(), direct.examples.size());
    for (std::size_t i = 0; i < asked.examples.size(); ++i) {
      EXPECT_EQ(asked.examples[i].root, direct.examples[i].root);
      EXPECT_TRUE(asked.examples[i].label.empty());
    }
  }
}

TEST(ExampleStream, PassesOverGraphsOfOtherWorkloads) {
  MemoryDataset data;
  put_graphs(data);
  data.put("workloads", plain_workloads().slice(4, 3));
  for (const Example& example : read(data).examples)
    EXPECT_THAT(example.graph->name, ::testing::AnyOf("graph 104", "graph 105", "graph 106"));
}

std::string refusal(const MemoryDataset& data, bool ask) {
  try {
    read(data, ask);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(ExampleStream, RefusesWhatItCannotRead) {
  MemoryDataset data;
  put_graphs(data);
  data.put("workloads", plain_workloads());
  EXPECT_THAT(refusal(data, true), HasSubstr("workload 0 has no root node"));
  data.put("workloads", TableBuilder()
                            .add<std::int64_t>("workload_id", {0})
                            .add<std::int64_t>("graph_id", {100})
                            .add<std::int64_t>("root", {100000})
                            .finish());
  EXPECT_THAT(refusal(data, true), HasSubstr("names node 100000 of a graph with"));
  data.put("workloads", take(plain_workloads(), {1, 0}));
  data.put("nodes", take(*data.find("nodes"), [&] {
             std::vector<std::int64_t> rows;
             for (std::int64_t i = data.find("nodes")->rows(); i-- > 0;) rows.push_back(i);
             return rows;
           }()));
  EXPECT_THAT(refusal(data, false), HasSubstr("goes back from graph_id"));
}

TEST(Examples, LeaveOutThoseWithTooManySteps) {
  const auto graph = std::make_shared<const ProgramGraph>(random_graph(3));
  ExampleSettings all = settings();
  all.analysis = Analysis::kReachability;
  all.share = 1;
  all.roots = 1000;
  ExampleSettings few = all;
  few.max_steps = 3;
  std::size_t expected = 0;
  for (const Example& example : make_examples(graph, 0, 0, all)) expected += example.steps <= 3;
  const auto kept = make_examples(graph, 0, 0, few);
  EXPECT_EQ(kept.size(), expected);
  for (const Example& example : kept) EXPECT_LE(example.steps, 3);
}

}  // namespace
}  // namespace omen::loadbalance
