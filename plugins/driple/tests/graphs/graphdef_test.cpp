// SPDX-License-Identifier: Apache-2.0
// GraphDefs of both forms, their counts, and files that are broken.
#include "graphs/graphdef.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <omen/testing/errors.hpp>
#include <set>

#include "graphs/graph_file.hpp"
#include "graphs/graphdef_steps.hpp"

namespace omen::driple {
namespace {

using ::testing::HasSubstr;

std::string node(const std::string& name, const std::string& op, const std::string& inputs,
                 const std::string& dims) {
  return "node { name: \"" + name + "\" op: \"" + op + "\" " + inputs +
         " attr { key: \"_output_shapes\" value { list { shape { " + dims + " } } } } }\n";
}

GraphSteps steps_of(const std::string& text) {
  return graph_steps(read_graphdef(text, "t.pbtxt"), "t", 4);
}

TEST(Graphdef, TextRulesAreHonoured) {
  const auto nodes = read_graphdef(
      "# a comment\nnode: < name: 'a' \"b\" op: \"Con\\163t\" device: \"/GPU:0\" input: [\"x\", "
      "'^y']\n"
      " attr { key: \"_output_shapes\" value { list { shape { dim { size: -1 } dim { } } } } } >",
      "t");
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].name, "ab");
  EXPECT_EQ(nodes[0].op, "Const");
  EXPECT_THAT(nodes[0].inputs, ::testing::ElementsAre("x", "^y"));
  EXPECT_THAT(output_shape(nodes[0]).sizes, ::testing::ElementsAre(-1, 0));
}

TEST(Graphdef, TensorSizesAreThoseOfThePublishedFold) {
  EXPECT_EQ(published_tensor_size({true, {-1, 7, 7, 64}}), 3136);
  EXPECT_EQ(published_tensor_size({true, {64, -1, 3}}), 3);
  EXPECT_EQ(published_tensor_size({true, {}}), 0);
  EXPECT_EQ(published_tensor_size({false, {}}), 0);
  EXPECT_EQ(published_tensor_size({true, {1000000000, 1000000000, 1000000000}}), INT64_MAX);
}

TEST(Graphdef, CountsOfTheRealTrainingGraph) {
  const char* data = std::getenv("OMEN_DATA");
  if (data == nullptr) GTEST_SKIP() << "OMEN_DATA is not set";
  const std::string path = std::string(data) + "/driple/graphs/impala_training_graph.pbtxt";
  const auto nodes = read_graphdef(read_graph_file(path.c_str(), "test", ""), "impala");
  EXPECT_EQ(nodes.size(), 2124U);
  const GraphSteps steps = graph_steps(nodes, "impala", 1);
  std::vector<std::int32_t> root(nodes.size());
  for (std::size_t i = 0; i < root.size(); ++i) root[i] = static_cast<std::int32_t>(i);
  const auto find = [&](std::int32_t n) {
    while (root[static_cast<std::size_t>(n)] != n) n = root[static_cast<std::size_t>(n)];
    return n;
  };
  const auto on_gpu = [&](std::int32_t n) {
    return steps.devices[static_cast<std::size_t>(n)].find("GPU") != std::string::npos;
  };
  int gpu = 0, edges = 0, control = 0;
  std::set<std::pair<std::int32_t, std::int32_t>> unique;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    gpu += on_gpu(static_cast<std::int32_t>(i)) ? 1 : 0;
  for (const GraphEdge& edge : steps.edges) {
    if (!on_gpu(edge.src) || !on_gpu(edge.dst)) continue;
    ++edges;
    control += edge.kind == GraphEdgeKind::control ? 1 : 0;
    unique.insert(std::minmax(edge.src, edge.dst));
    root[static_cast<std::size_t>(find(edge.src))] = find(edge.dst);
  }
  EXPECT_EQ(gpu, 1448);
  EXPECT_EQ(edges, 2666);
  EXPECT_EQ(control, 540);
  EXPECT_EQ(unique.size(), 2477U);
  std::map<std::int32_t, int> members;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (on_gpu(static_cast<std::int32_t>(i))) ++members[find(static_cast<std::int32_t>(i))];
  std::int32_t largest = members.begin()->first;
  int isolated = 0, components = 0;
  for (const auto& [id, count] : members) {
    ++(count == 1 ? isolated : components);
    if (count > members[largest]) largest = id;
  }
  EXPECT_EQ(isolated, 15);
  EXPECT_EQ(components, 3);
  EXPECT_EQ(members[largest], 1397);
  std::int64_t sum = 0, most = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!on_gpu(static_cast<std::int32_t>(i)) || find(static_cast<std::int32_t>(i)) != largest)
      continue;
    sum += steps.tensor_sizes[i];
    most = std::max(most, steps.tensor_sizes[i]);
  }
  EXPECT_EQ(sum, 198129066);
  EXPECT_EQ(most, 18966528);
}

TEST(Graphdef, BothFormsOfAFileAgree) {
  const char* data = std::getenv("OMEN_DATA");
  if (data == nullptr) GTEST_SKIP() << "OMEN_DATA is not set";
  const std::string stem = std::string(data) + "/driple/graphs/cnn_frozen";
  const auto text = read_graphdef(read_graph_file((stem + ".pbtxt").c_str(), "test", ""), "text");
  const auto binary = read_graphdef(read_graph_file((stem + ".pb").c_str(), "test", ""), "binary");
  ASSERT_EQ(text.size(), 41U);
  ASSERT_EQ(binary.size(), text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(text[i].name, binary[i].name);
    EXPECT_EQ(text[i].op, binary[i].op);
    EXPECT_EQ(text[i].inputs, binary[i].inputs);
    EXPECT_EQ(output_shape(text[i]).sizes, output_shape(binary[i]).sizes);
    for (const auto& [key, value] : text[i].attributes)
      EXPECT_EQ(value.numbers, binary[i].attributes.at(key).numbers) << text[i].name << ' ' << key;
  }
}

TEST(Graphdef, BrokenFilesAreNamed) {
  const auto error = [](const std::string& text) {
    return test::error_of([&] { read_graphdef(text, "f.pbtxt"); });
  };
  using test::IsError;
  EXPECT_THAT(error("node {\n name: \"a\"\n op: \"Con"),
              IsError(OMEN_INVALID_DATA, HasSubstr("f.pbtxt:3: the file ends"), HasSubstr("")));
  EXPECT_THAT(error("node { name: \"a\" op: \"Const\" "),
              IsError(OMEN_INVALID_DATA, HasSubstr("too early"), HasSubstr("")));
  EXPECT_THAT(error("node { name \"a\" }"),
              IsError(OMEN_INVALID_DATA, HasSubstr("expected ':'"), HasSubstr("")));
  EXPECT_THAT(error(""), IsError(OMEN_INVALID_DATA, HasSubstr("no nodes"), HasSubstr("GraphDef")));
  EXPECT_THAT(error("\x0a\xff\xff\x7f"),
              IsError(OMEN_INVALID_DATA, HasSubstr("ends within"), HasSubstr("")));
  std::string deep = "node { name: \"a\" op: \"b\" ";
  for (int i = 0; i < 1000; ++i) deep += "x { ";
  EXPECT_THAT(error(deep), IsError(OMEN_INVALID_DATA, HasSubstr("too deep"), HasSubstr("")));
}

TEST(Graphdef, LoopsUnknownOpsAndStrangeShapesAreCarried) {
  const std::string big =
      "dim { size: 1000000000 } dim { size: 1000000000 } dim { size: 1000000000 }";
  const GraphSteps steps =
      steps_of(node("a", "Merge", "input: \"b\"", "dim { size: 2 }") +
               node("b", "NextIteration", "input: \"a\"", "dim { size: 2 }") +
               node("c", "Teleport", "input: \"a\" input: \"gone\"", "dim { size: 0 }") +
               node("d", "Relu", "input: \"c\"", big));
  ASSERT_EQ(steps.job.graph.ops.size(), 4U);
  for (const opgraph::Edge& edge : steps.job.graph.edges) EXPECT_LT(edge.src, edge.dst);
  EXPECT_EQ(steps.edges.size(), 4U);
  EXPECT_EQ(std::count_if(steps.edges.begin(), steps.edges.end(),
                          [](const GraphEdge& edge) { return edge.kind == GraphEdgeKind::back; }),
            1);
  EXPECT_EQ(steps.warnings.size(), 2U);
  EXPECT_EQ(steps.job.graph.ops[2].kind, opgraph::OpClass::other);
}

TEST(Graphdef, ProductsHaveTheirFlops) {
  const GraphSteps steps =
      steps_of(node("x", "Placeholder", "",
                    "dim { size: -1 } dim { size: 32 } dim { size: 32 } dim { size: 3 }") +
               node("f", "VariableV2", "",
                    "dim { size: 3 } dim { size: 3 } dim { size: 3 } dim { size: 16 }") +
               node("y", "Conv2D", "input: \"x\" input: \"f\"",
                    "dim { size: -1 } dim { size: 32 } dim { size: 32 } dim { size: 16 }"));
  EXPECT_EQ(steps.job.graph.ops[2].flops, 2.0 * 4 * 32 * 32 * 16 * 27);
  EXPECT_EQ(steps.job.facts.batch, 4);
  EXPECT_EQ(steps.job.facts.parameters, 432);
}

}  // namespace
}  // namespace omen::driple
