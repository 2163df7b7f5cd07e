// SPDX-License-Identifier: Apache-2.0
// Graphs against the counts and digests that the published ProGraML 0.3.2 binary gives.
#include <gmock/gmock.h>

#include <fstream>

#include "../support/track_data.hpp"
#include "graph/digest.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/read_module.hpp"

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using testing::fields;

struct Golden {
  std::string file;
  std::size_t nodes, control, data, call;
  std::string text_digest, structure;
};

std::vector<Golden> golden(const fs::path& path) {
  std::ifstream in(path);
  std::vector<Golden> list;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::vector<std::string> f = fields(line);
    list.push_back(
        {f[0], std::stoul(f[1]), std::stoul(f[2]), std::stoul(f[3]), std::stoul(f[4]), f[5], f[6]});
  }
  return list;
}

std::size_t edges_of(const ProgramGraph& graph, Flow flow) {
  return static_cast<std::size_t>(std::count_if(graph.edges.begin(), graph.edges.end(),
                                                [&](const Edge& e) { return e.flow == flow; }));
}

ProgramGraph graph_in_file(const fs::path& path) {
  const IrModule module = read_module_file(path.string());
  return build_graph(module.get(), path.stem().string());
}

// Names of modules whose graph differs from what the binary gives.
std::vector<std::string> different(const std::vector<Golden>& list,
                                   const std::vector<fs::path>& directories) {
  std::vector<std::string> names;
  for (const Golden& want : list) {
    const auto directory = std::find_if(directories.begin(), directories.end(),
                                        [&](auto& d) { return fs::exists(d / want.file); });
    if (directory == directories.end()) {
      names.push_back(want.file + " is missing");
      continue;
    }
    const ProgramGraph graph = graph_in_file(*directory / want.file);
    if (graph.nodes.size() != want.nodes || edges_of(graph, Flow::kControl) != want.control ||
        edges_of(graph, Flow::kData) != want.data || edges_of(graph, Flow::kCall) != want.call ||
        node_text_digest(graph) != want.text_digest || structure_digest(graph) != want.structure)
      names.push_back(want.file);
  }
  return names;
}

TEST(Golden, SmallModulesEqualTheBinary) {
  const auto data = testing::track_data();
  if (!data) GTEST_SKIP() << testing::kNoData;
  const auto list = golden(*data / "golden/programl_0.3.2_small.csv");
  ASSERT_EQ(list.size(), 11U);
  EXPECT_THAT(different(list, {*data / "golden", *data / "kernels_chai"}), ::testing::IsEmpty());
}

TEST(Golden, DeviceMappingModulesEqualTheBinary) {
  const auto data = testing::track_data();
  if (!data) GTEST_SKIP() << testing::kNoData;
  const auto list = golden(*data / "golden/programl_0.3.2_devmap.csv");
  ASSERT_EQ(list.size(), 669U);
  EXPECT_THAT(different(list, {testing::unpacked(*data / "devmap/kernels_ir.tar.bz2")}),
              ::testing::IsEmpty());
}

TEST(Golden, ThousandModulesEqualTheBinary) {
  const auto data = testing::track_data();
  if (!data) GTEST_SKIP() << testing::kNoData;
  const auto list = golden(*data / "golden/programl_0.3.2_llvm_ir_1000.csv");
  ASSERT_EQ(list.size(), 1000U);
  EXPECT_THAT(different(list, {testing::unpacked(*data / "llvm_ir_1000/llvm_ir.tar.bz2")}),
              ::testing::IsEmpty());
}

TEST(Golden, FiguresPrintedInThePublications) {
  const auto data = testing::track_data();
  if (!data) GTEST_SKIP() << testing::kNoData;
  const ProgramGraph fibonacci = graph_in_file(*data / "golden/fibonacci.ll");
  EXPECT_EQ(fibonacci.nodes.size(), 22U);
  EXPECT_EQ(edges_of(fibonacci, Flow::kControl), 10U);
  EXPECT_EQ(edges_of(fibonacci, Flow::kData), 21U);
  EXPECT_EQ(edges_of(fibonacci, Flow::kCall), 9U);
  std::size_t seen = 0;
  for (const auto& entry :
       fs::directory_iterator(testing::unpacked(*data / "devmap/kernels_ir.tar.bz2"))) {
    if (entry.path().filename().string().rfind("npb-3.3-CG-makea_4_", 0) != 0) continue;
    const ProgramGraph makea = graph_in_file(entry.path());
    EXPECT_EQ(makea.nodes.size(), 242U);
    EXPECT_EQ(edges_of(makea, Flow::kControl), 104U);
    EXPECT_EQ(edges_of(makea, Flow::kData), 281U);
    EXPECT_EQ(edges_of(makea, Flow::kCall), 10U);
    ++seen;
  }
  EXPECT_GT(seen, 0U);
}

}  // namespace
}  // namespace omen::loadbalance
