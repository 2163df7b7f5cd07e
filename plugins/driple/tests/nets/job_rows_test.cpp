// SPDX-License-Identifier: Apache-2.0
// Graphs from tables: kinds of frameworks, phases, and nodes outside of the GPU.
#include "grouping/job_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace omen::driple {
namespace {

using ::testing::ElementsAre;

TableBuilder three_nodes() {
  TableBuilder nodes;
  nodes.add("graph_id", std::vector<std::int64_t>{0, 0, 0})
      .add("node_id", std::vector<std::int32_t>{0, 1, 2})
      .add_categories("op", {"conv", "norm", "conv"});
  return nodes;
}

OpRows read_one(TableBuilder& nodes) {
  MemoryDataset data;
  data.put("nodes", nodes.finish());
  data.put("edges", TableBuilder()
                        .add("graph_id", std::vector<std::int64_t>{0, 0})
                        .add("src", std::vector<std::int32_t>{0, 1})
                        .add("dst", std::vector<std::int32_t>{1, 2})
                        .finish());
  return read_op_rows(data.view()).at(0);
}

TEST(JobRowsTest, PhasesTellKindsApartAndShapesGiveSizes) {
  TableBuilder nodes = three_nodes();
  nodes.add_categories("phase", {"forward", "forward", "backward"})
      .add_list("shape", 3, std::vector<std::int32_t>{8, 4, 0, 0, 0, 0, -1, 7, 2});
  const OpRows graph = read_one(nodes);
  EXPECT_THAT(graph.op, ElementsAre("conv", "norm", "conv backward"));
  EXPECT_THAT(graph.tensor_size, ElementsAre(32, 0, 14));
  EXPECT_THAT(graph.edges, ElementsAre(Pair(0, 1), Pair(1, 2)));
}

TEST(JobRowsTest, KindsOfTheFrameworkComeFirst) {
  TableBuilder nodes = three_nodes();
  nodes.add_categories("source_op", {"Conv2D", "", "Conv2DBackpropInput"});
  EXPECT_THAT(read_one(nodes).op, ElementsAre("Conv2D", "norm", "Conv2DBackpropInput"));
}

TEST(JobRowsTest, NodesOutsideOfTheGpuAreLeftOutWithTheirEdges) {
  TableBuilder nodes = three_nodes();
  nodes.add_categories("device", {"/device:CPU:0", "/device:GPU:0", "/device:GPU:0"});
  const OpRows graph = read_one(nodes);
  EXPECT_THAT(graph.op, ElementsAre("norm", "conv"));
  EXPECT_THAT(graph.edges, ElementsAre(Pair(0, 1)));
}

TEST(JobRowsTest, GraphsWithoutAPlacementKeepEverything) {
  TableBuilder nodes = three_nodes();
  nodes.add_categories("device", {"", "", ""});
  EXPECT_EQ(read_one(nodes).op.size(), 3U);
}

}  // namespace
}  // namespace omen::driple
