// SPDX-License-Identifier: Apache-2.0
// The data-flow predictor on small programs: it learns, keeps what it learnt, and answers alike in
// any company.
#include "network/dataflow_predictor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "dataflow/examples.hpp"
#include "dataflow/graphs.hpp"
#include "network/dataflow_graph.hpp"
#include "omen/container.hpp"
#include "omen/testing/ready_run.hpp"

namespace omen::loadbalance {
namespace {

using testing::connect;
using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::HasSubstr;
using testing::random_graph;

void put_graphs(MemoryDataset& data, unsigned first, unsigned count) {
  std::vector<ProgramGraph> graphs;
  std::vector<std::int64_t> id;
  for (unsigned seed = first; seed < first + count; ++seed) {
    graphs.push_back(random_graph(seed));
    id.push_back(static_cast<std::int64_t>(id.size()));
  }
  const GraphTables tables = to_tables(graphs, kDialect);
  data.put("nodes", tables.nodes);
  data.put("edges", tables.edges);
  data.put("workloads", TableBuilder().add("workload_id", id).add("graph_id", id).finish());
}

DataflowOptions small_options() {
  DataflowOptions options;
  options.steps = 8;
  options.updates = 60;
  options.batch_nodes = 150;
  options.root_share = 1;
  return options;
}

// Questions about all instructions of the graphs.
Table questions(const MemoryDataset& data, std::vector<std::vector<std::uint8_t>>* labels) {
  std::vector<std::int64_t> workload, graph, root;
  GraphStream graphs(data.view());
  while (const auto found = graphs.next()) {
    const auto analysis = make_analysis(Analysis::kReachability, found->first);
    for (const std::int32_t node : analysis->roots()) {
      workload.push_back(static_cast<std::int64_t>(workload.size()));
      graph.push_back(found->second);
      root.push_back(node);
      if (labels) labels->push_back(analysis->run(node).value);
    }
  }
  return TableBuilder()
      .add("workload_id", workload)
      .add("graph_id", graph)
      .add("root", root)
      .finish();
}

Table answers(DataflowPredictor& predictor, const MemoryDataset& data) {
  const test::ReadyRun run;
  return predictor.predict(data.view(), run).read_all();
}

TEST(Relations, HaveNames) {
  EXPECT_EQ(parse_relations("all").size(), 6U);
  const auto some = parse_relations("data-back,skip");
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].flow, Flow::kData);
  EXPECT_TRUE(some[0].backward);
  EXPECT_TRUE(some[1].skips);
  EXPECT_THROW(parse_relations("control,"), Error);
  EXPECT_THROW(parse_relations("type"), Error);
}

TEST(DataflowGraph, KeepsNodesWithoutEdgesApart) {
  ProgramGraph graph = graph_of("IIVIC", {"a", "b", "c", "b", "c"});
  connect(graph, Flow::kControl, 1, 3);
  connect(graph, Flow::kData, 2, 3, 4);
  const torch_kit::Vocabulary words({"a", "b"});
  const DataflowGraph control = dataflow_graph(graph, parse_relations("control"), words);
  EXPECT_THAT(control.nodes, ElementsAre(1, 3, 0, 2, 4));
  EXPECT_THAT(control.tokens, ElementsAre(1, 1, 0, 2, 2));
  EXPECT_EQ(control.active, 2);
  const DataflowGraph both = dataflow_graph(graph, parse_relations("control,data-back"), words);
  EXPECT_THAT(both.nodes, ElementsAre(1, 2, 3, 0, 4));
  EXPECT_THAT(both.edges.source, ElementsAre(0, 2));
  EXPECT_THAT(both.edges.target, ElementsAre(2, 1));
  EXPECT_THAT(both.edges.relation, ElementsAre(0, 1));
  EXPECT_THAT(both.edges.position, ElementsAre(0, 4));
}

TEST(DataflowGraph, SkipsWithinBlocksOnly) {
  ProgramGraph graph = graph_of("IIIIIII");  // 1 to 5 in a row, 5 and 6 a loop
  for (int i = 1; i < 6; ++i) connect(graph, Flow::kControl, i, i + 1);
  connect(graph, Flow::kControl, 6, 5);
  const DataflowGraph made =
      dataflow_graph(graph, parse_relations("skip"), torch_kit::Vocabulary({"x"}));
  std::vector<std::pair<std::int32_t, std::int32_t>> ends;
  for (std::size_t e = 0; e < made.edges.size(); ++e)
    ends.emplace_back(made.nodes[static_cast<std::size_t>(made.edges.source[e])],
                      made.nodes[static_cast<std::size_t>(made.edges.target[e])]);
  EXPECT_THAT(ends, ElementsAre(std::pair(1, 3), std::pair(2, 4)));
}

class TrainedDataflow : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    predictor_ = new DataflowPredictor(small_options());
    MemoryDataset train, valid;
    put_graphs(train, 0, 40);
    put_graphs(valid, 1000, 10);
    const test::ReadyRun run;
    predictor_->fit(train.view(), valid.view(), run);
  }
  static void TearDownTestSuite() {
    delete predictor_;
    predictor_ = nullptr;
  }
  static DataflowPredictor* predictor_;
};
DataflowPredictor* TrainedDataflow::predictor_ = nullptr;

TEST_F(TrainedDataflow, AnswersAboutNewPrograms) {
  MemoryDataset data;
  put_graphs(data, 2000, 10);
  std::vector<std::vector<std::uint8_t>> labels;
  data.put("workloads", questions(data, &labels));
  const Table rows = answers(*predictor_, data);
  const auto workload = rows.column<std::int64_t>("workload_id");
  const auto node = rows.column<std::int32_t>("node_id");
  const StringColumn label = rows.strings("label");
  std::size_t expected_rows = 0, right = 0;
  for (const auto& truth : labels) expected_rows += truth.size();
  ASSERT_EQ(static_cast<std::size_t>(rows.rows()), expected_rows);
  for (std::int64_t row = 0; row < rows.rows(); ++row)
    right += labels[static_cast<std::size_t>(workload[row])][static_cast<std::size_t>(node[row])] ==
             (label[row] == "1");
  EXPECT_GT(static_cast<double>(right), 0.9 * static_cast<double>(expected_rows));
}

TEST_F(TrainedDataflow, AnswersAlikeInAnyCompanyAndFromItsModel) {
  MemoryDataset data;
  put_graphs(data, 2000, 6);
  const Table asked = questions(data, nullptr);
  data.put("workloads", asked);
  const Table together = answers(*predictor_, data);

  container::Writer file;
  ArtifactWriter artifact(file.sink());
  predictor_->save(artifact);
  const std::string bytes = file.serialise();
  const container::Reader reader =
      container::Reader::from_memory(bytes.data(), bytes.size(), nullptr);
  DataflowPredictor loaded(DataflowOptions{});
  loaded.load(ArtifactReader(reader.source()));
  data.set_batch_rows(3);
  data.put("workloads", asked.slice(asked.rows() - 2, 2));
  const Table alone = answers(loaded, data);
  const auto a = alone.column<double>("label.p.1"), b = together.column<double>("label.p.1");
  ASSERT_GT(alone.rows(), 0);
  for (std::int64_t row = 0; row < alone.rows(); ++row)
    EXPECT_NEAR(a[row], b[together.rows() - alone.rows() + row], 1e-5);
}

TEST(DataflowPredictor, RepeatsItself) {
  DataflowOptions options = small_options();
  options.updates = 5;
  options.task = "subexpressions";
  MemoryDataset train;
  put_graphs(train, 0, 60);
  std::vector<std::string> saved;
  for (int i = 0; i < 2; ++i) {
    DataflowPredictor predictor(options);
    const test::ReadyRun run(3);
    predictor.fit(train.view(), Dataset(nullptr), run);
    container::Writer file;
    ArtifactWriter artifact(file.sink());
    predictor.save(artifact);
    saved.push_back(file.serialise());
  }
  EXPECT_EQ(saved[0], saved[1]);
}

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(DataflowPredictor, RefusesWhatItCannotDo) {
  const test::ReadyRun run;
  MemoryDataset data;
  put_graphs(data, 0, 3);
  DataflowPredictor fresh(DataflowOptions{});
  EXPECT_THAT(refusal([&] { answers(fresh, data); }), HasSubstr("is not trained"));
  container::Writer file;
  ArtifactWriter artifact(file.sink());
  EXPECT_THAT(refusal([&] { fresh.save(artifact); }), HasSubstr("is not trained"));
  DataflowOptions odd;
  odd.width = 7;
  EXPECT_THAT(refusal([&] { DataflowPredictor p(odd); }), HasSubstr("which is odd"));
  DataflowOptions edges;
  edges.edges = "flow";
  EXPECT_THAT(refusal([&] { DataflowPredictor p(edges); }), HasSubstr("unknown edges 'flow'"));
  ProgramGraph empty = graph_of("I");
  const GraphTables tables = to_tables({empty}, kDialect);
  MemoryDataset nothing;
  nothing.put("nodes", tables.nodes);
  nothing.put("edges", tables.edges);
  nothing.put("workloads", TableBuilder()
                               .add<std::int64_t>("workload_id", {0})
                               .add<std::int64_t>("graph_id", {0})
                               .finish());
  EXPECT_THAT(refusal([&] { fresh.fit(nothing.view(), Dataset(nullptr), run); }),
              HasSubstr("there is no example of reachability"));
}

}  // namespace
}  // namespace omen::loadbalance
