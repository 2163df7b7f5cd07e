// SPDX-License-Identifier: Apache-2.0
// The published weights on the published inputs; needs the public data.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "nets/network.hpp"
#include "nets/published_weights.hpp"

namespace omen::driple {
namespace {

GroupedGraph graph_of(const nlohmann::json& golden) {
  GroupedGraph graph;
  for (const auto& row : golden["features"])
    graph.features.push_back({row[0].get<float>(), row[1].get<float>(), row[2].get<float>()});
  const auto& adjacency = golden["adj"];
  for (std::size_t i = 0; i < adjacency.size(); ++i)
    for (std::size_t j = i + 1; j < adjacency.size(); ++j)
      if (adjacency[i][j].get<double>() != 0)
        graph.edges.emplace_back(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
  return graph;
}

class GoldenForwardTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenForwardTest, PublishedWeightsGiveThePublishedAnswers) {
  const char* data = std::getenv("OMEN_DATA");
  if (!data) GTEST_SKIP() << "OMEN_DATA does not name the public data";
  const std::string directory = std::string(data) + "/driple/";
  std::ifstream file(directory + "golden_forward.json");
  if (!file) GTEST_SKIP() << "the public data has no golden_forward.json";
  const auto network = published_network(directory + GetParam());
  EXPECT_EQ(network->options().outputs, 12);
  const at::NoGradGuard no_graph;
  for (const auto& golden : nlohmann::json::parse(file)) {
    const GroupedGraph graph = graph_of(golden);
    const at::Tensor out = network->outputs(TensorBatch(make_batch({&graph})));
    for (std::int64_t o = 0; o < 12; ++o) {
      const double wanted = golden["output12"][static_cast<std::size_t>(o)].get<double>();
      EXPECT_NEAR(out[0][o].item<double>(), wanted, 1e-4 * std::max(1.0, std::abs(wanted)))
          << golden["name"] << " output " << o;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenForwardTest,
                         ::testing::Values("pretrained_gcn.pkl", "pretrained_gcn.safetensors"),
                         [](const auto& info) {
                           return std::string(info.param).find("pkl") != std::string::npos
                                      ? "pickle"
                                      : "safetensors";
                         });

}  // namespace
}  // namespace omen::driple
