// SPDX-License-Identifier: Apache-2.0
// Node-link JSON: what is accepted, what the tables hold, and what the errors say.
#include "nodelink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <omen/learn/graph_statistics.hpp>

#include "omen/testing/ready_run.hpp"

namespace omen::baseline {
namespace {

using test::ReadyRun;
using testing::ElementsAre;
using testing::HasSubstr;

std::map<std::string, Table> lower(const std::string& text) {
  TableCollector collector;
  const ReadyRun run(1, 2);
  lower_node_link(text, "net.json", "net", TablesOut(collector.c()), run);
  return collector.take();
}

std::string error_of(const std::string& text) {
  try {
    lower(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
  return "no error";
}

template <class T>
std::vector<T> values(const Table& table, const char* name) {
  const auto column = table.column<T>(name);
  return {column.begin(), column.end()};
}

std::vector<std::string> texts(const Table& table, const char* name) {
  const StringColumn column = table.strings(name);
  std::vector<std::string> all;
  for (std::int64_t row = 0; row < column.size(); ++row) all.emplace_back(column[row]);
  return all;
}

constexpr const char* kTwoLayers = R"({"directed": true, "multigraph": false,
  "graph": {"name": "tiny", "group": "mlp", "batch_size": 32, "device": "cpu", "tags": ["x"]},
  "nodes": [{"id": "a", "op": "input", "feat": [1, 2]}, {"id": 7, "op": "matmul", "feat": [3, 4.5]}],
  "links": [{"source": "a", "target": 7, "kind": "control", "position": 1}, {"source": 7, "target": 7}]})";

TEST(NodeLink, FillsTheThreeTables) {
  const auto tables = lower(kTwoLayers);
  const Table& workloads = tables.at("workloads");
  EXPECT_THAT(values<std::int64_t>(workloads, "workload_id"), ElementsAre(0));
  EXPECT_THAT(texts(workloads, "name"), ElementsAre("tiny"));
  EXPECT_THAT(texts(workloads, "group"), ElementsAre("mlp"));
  EXPECT_THAT(values<double>(workloads, "batch_size"), ElementsAre(32));
  EXPECT_THAT(texts(workloads, "device"), ElementsAre("cpu"));
  EXPECT_FALSE(workloads.has("tags"));
  const Table& nodes = tables.at("nodes");
  EXPECT_EQ(nodes.metadata("omen.dialect"), "ops/1");
  EXPECT_THAT(values<std::int32_t>(nodes, "node_id"), ElementsAre(0, 1));
  EXPECT_THAT(texts(nodes, "op"), ElementsAre("input", "matmul"));
  const auto feat = nodes.list<float>("feat");
  EXPECT_THAT(std::vector<float>(feat.data(), feat.data() + 4), ElementsAre(1, 2, 3, 4.5));
  const Table& edges = tables.at("edges");
  EXPECT_THAT(values<std::int32_t>(edges, "src"), ElementsAre(0, 1));
  EXPECT_THAT(values<std::int32_t>(edges, "dst"), ElementsAre(1, 1));
  EXPECT_THAT(texts(edges, "kind"), ElementsAre("control", "data"));
  EXPECT_THAT(values<std::int32_t>(edges, "position"), ElementsAre(1, 0));
}

TEST(NodeLink, ReadsSeveralGraphsAndTheNewerSpelling) {
  const auto tables = lower(R"([{"nodes": [{"id": 1, "op": "x"}], "edges": []},
    {"nodes": [{"id": 1, "op": "y"}, {"id": "1", "op": "z"}], "graph": {"batch": 4},
     "edges": [{"source": "1", "target": 1}]}])");
  EXPECT_THAT(texts(tables.at("workloads"), "name"), ElementsAre("net.0", "net.1"));
  EXPECT_THAT(values<std::int64_t>(tables.at("nodes"), "graph_id"), ElementsAre(0, 1, 1));
  EXPECT_THAT(values<std::int32_t>(tables.at("edges"), "src"), ElementsAre(1));
  EXPECT_FALSE(tables.at("nodes").has("feat"));
  const Table& workloads = tables.at("workloads");
  EXPECT_TRUE(workloads.is_null(workloads.index("batch"), 0));
  EXPECT_FALSE(workloads.is_null(workloads.index("batch"), 1));
}

TEST(NodeLink, SaysWhereTheJsonBreaks) {
  EXPECT_EQ(error_of("{\"nodes\": [],\n  \"links\" []}"),
            "net.json: not valid JSON at line 2, column 11");
  EXPECT_EQ(error_of(""), "net.json: not valid JSON at line 1, column 1");
}

TEST(NodeLink, SaysWhichElementIsWrong) {
  EXPECT_THAT(error_of("{}"), HasSubstr("the document has no \"nodes\""));
  EXPECT_THAT(error_of("3"), HasSubstr("the document is not an object"));
  EXPECT_THAT(error_of(R"({"nodes": 5, "links": []})"), HasSubstr("nodes is not a list"));
  EXPECT_THAT(error_of(R"({"nodes": []})"), HasSubstr("has no \"links\""));
  EXPECT_THAT(error_of(R"([{"nodes": [{"id": 1, "op": "x"}, {"id": 2}], "links": []}])"),
              HasSubstr("graphs[0].nodes[1] has no \"op\""));
  EXPECT_THAT(error_of(R"({"nodes": [{"id": 1, "op": 3}], "links": []})"),
              HasSubstr("nodes[0].op is not a string"));
  EXPECT_THAT(error_of(R"({"nodes": [{"id": 1, "op": "x"}, {"id": 1, "op": "x"}], "links": []})"),
              HasSubstr("nodes[1].id is used by an earlier node"));
  EXPECT_THAT(error_of(R"({"nodes": [{"id": 1.5, "op": "x"}], "links": []})"),
              HasSubstr("nodes[0].id is neither"));
  EXPECT_THAT(
      error_of(R"({"nodes": [{"id": 1, "op": "x"}], "links": [{"source": 1, "target": 2}]})"),
      HasSubstr("links[0].target is 2, which is no node's id"));
  EXPECT_THAT(
      error_of(
          R"({"nodes": [{"id": 1, "op": "x", "feat": [1]}, {"id": 2, "op": "x", "feat": []}], "links": []})"),
      HasSubstr("nodes[1].feat has 0 values"));
  EXPECT_THAT(
      error_of(
          R"({"nodes": [{"id": 1, "op": "x"}, {"id": 2, "op": "x", "feat": [1]}], "links": []})"),
      HasSubstr("nodes[1].feat is missing in earlier nodes"));
  EXPECT_THAT(error_of(R"({"nodes": [{"id": 1, "op": "x", "feat": ["a"]}], "links": []})"),
              HasSubstr("nodes[0].feat[0] is not a number"));
  EXPECT_THAT(
      error_of(
          R"([{"graph": {"b": 1}, "nodes": [], "links": []}, {"graph": {"b": "x"}, "nodes": [], "links": []}])"),
      HasSubstr("graphs[1].graph.b is a number in one graph"));
}

TEST(NodeLink, SniffsByContent) {
  EXPECT_GE(NodeLinkFrontend::sniff("x.bin", kTwoLayers), 80);
  EXPECT_EQ(NodeLinkFrontend::sniff("x.json", R"({"layers": []})"), 0);
  EXPECT_EQ(NodeLinkFrontend::sniff("x.json", "m,n,k\n1,2,3\n"), 0);
  EXPECT_EQ(NodeLinkFrontend::sniff("resnet50", {}), 0);
  EXPECT_GT(NodeLinkFrontend::sniff("x.json", R"( {"nodes": [{"id": 0, "op": "conv"}, )"), 0);
}

TEST(NodeLink, ReadsTheBundledExample) {
  TableCollector collector;
  const ReadyRun run(1, 2);
  const omen::Run context = run;
  NodeLinkFrontend().lower(BASELINE_EXAMPLES "/mlp.json", TablesOut(collector.c()), context);
  const auto tables = collector.take();
  EXPECT_GT(tables.at("nodes").rows(), 5);
  EXPECT_GT(tables.at("edges").rows(), 5);
  EXPECT_THROW(NodeLinkFrontend().lower("/none.json", TablesOut(collector.c()), context), Error);
}

TEST(GraphStatistics, CountsWhatALoweredGraphHolds) {
  const auto tables = lower(kTwoLayers);
  learn::GraphStatistics graphs;
  graphs.add_nodes(tables.at("nodes").slice(0, 1));
  graphs.add_nodes(tables.at("nodes").slice(1, 1));
  graphs.add_edges(tables.at("edges"));
  learn::Frame frame;
  frame.rows = 2;
  graphs.append_to(frame, "graph.", {0, 99});
  std::map<std::string, double> first;
  for (const learn::Column& column : frame.columns) {
    first[column.name] = column.numbers[0];
    EXPECT_TRUE(std::isnan(column.numbers[1])) << column.name;
  }
  EXPECT_EQ(first["graph.nodes"], 2);
  EXPECT_EQ(first["graph.edges"], 2);
  EXPECT_EQ(first["graph.mean_degree"], 2);
  EXPECT_EQ(first["graph.max_degree"], 3);
  EXPECT_EQ(first["graph.feat_sum.1"], 6.5);
  EXPECT_EQ(first["graph.feat_mean.0"], 2);
  ASSERT_EQ(frame.bags.size(), 2U);
  EXPECT_THAT(frame.bags[0].labels, ElementsAre("input", "matmul"));
  EXPECT_EQ(frame.bags[0].entries.size(), 2U);
  EXPECT_THAT(frame.bags[1].labels, ElementsAre("control", "data"));
}

TEST(GraphStatistics, RefusesEdgesToNowhere) {
  const auto tables = lower(kTwoLayers);
  learn::GraphStatistics graphs;
  graphs.add_nodes(tables.at("nodes").slice(0, 1));
  EXPECT_THROW(graphs.add_edges(tables.at("edges")), Error);
}

}  // namespace
}  // namespace omen::baseline
