// SPDX-License-Identifier: Apache-2.0
// A training graph that TensorFlow wrote against the same network from the zoo.
#include <gmock/gmock.h>

#include <omen/opgraph/zoo.hpp>

#include "graphs/graph_file.hpp"
#include "graphs/graphdef_steps.hpp"

namespace omen::driple {
namespace {

GraphSteps written_by_tensorflow(const char* suffix) {
  const std::string path = std::string(OMEN_DRIPLE_TEST_DATA) + "/graphdef/lenet_training" + suffix;
  return graph_steps(read_graphdef(read_graph_file(path.c_str(), "test", ""), path), "lenet", 8);
}

double product_flops(const opgraph::Job& job) {
  double flops = 0;
  for (const opgraph::Op& op : job.graph.ops)
    if (op.kind == opgraph::OpClass::conv || op.kind == opgraph::OpClass::matmul) flops += op.flops;
  return flops;
}

TEST(GraphdefTwin, ProductsAndParametersAreThoseOfTheZoo) {
  opgraph::ZooRun run;
  run.batch = 8;
  const opgraph::Job twin = zoo_job("lenet", run);
  const GraphSteps steps = written_by_tensorflow(".pbtxt");
  // The file also holds the data gradient of the first layer, which nothing reads.
  const double unread = 2.0 * 8 * 28 * 28 * 32 * 25;
  EXPECT_DOUBLE_EQ(product_flops(steps.job), product_flops(twin) + unread);
  EXPECT_EQ(steps.job.facts.parameters, twin.facts.parameters);
  EXPECT_EQ(steps.job.facts.mode, opgraph::Mode::train);
  EXPECT_EQ(steps.job.facts.optimizer, "sgd");
  EXPECT_EQ(steps.job.facts.batch, 8);
}

TEST(GraphdefTwin, BothFormsGiveTheSameGraph) {
  const GraphSteps text = written_by_tensorflow(".pbtxt"), binary = written_by_tensorflow(".pb");
  EXPECT_EQ(text.ops, binary.ops);
  EXPECT_EQ(text.tensor_sizes, binary.tensor_sizes);
  EXPECT_EQ(text.edges.size(), binary.edges.size());
  EXPECT_EQ(product_flops(text.job), product_flops(binary.job));
}

}  // namespace
}  // namespace omen::driple
