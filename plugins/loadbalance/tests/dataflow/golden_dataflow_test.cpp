// SPDX-License-Identifier: Apache-2.0
// Data-flow labels against the worked cases of the originals' own tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dataflow/analysis.hpp"
#include "graphs.hpp"

namespace omen::loadbalance {
namespace {

using nlohmann::json;
using testing::connect;
using testing::graph_of;
using testing::labelled;

class GoldenDataflow : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("OMEN_DATA");
    std::ifstream file(std::string(data ? data : "") +
                       "/loadbalance/golden/dataflow_and_counts.json");
    if (!data || !file) GTEST_SKIP() << "OMEN_DATA does not name the public data";
    cases_ = json::parse(file);
  }

  static ProgramGraph graph(const json& c) {
    ProgramGraph made =
        graph_of(c.at("nodes").get<std::string>(), c.value("texts", std::vector<std::string>()));
    for (const auto& [name, flow] :
         {std::pair{"control", Flow::kControl}, {"data", Flow::kData}, {"call", Flow::kCall}})
      for (const json& edge : c.value(name, json::array()))
        connect(made, flow, edge[0], edge[1], edge.size() > 2 ? edge[2].get<int>() : 0);
    return made;
  }

  // Labels of both modes, steps and active counts of `steps_of`.
  void check(const char* key, Analysis analysis, std::size_t expected_cases, Mode steps_of) {
    std::size_t checked = 0;
    for (const json& c : cases_.at(key)) {
      if (!c.contains("nodes")) continue;
      const ProgramGraph g = graph(c);
      for (const json& expect : c.value("expect", json::array())) {
        SCOPED_TRACE(c.at("name").get<std::string>() + " root " + expect.at("root").dump());
        for (const Mode mode : {Mode::kExact, Mode::kCompat}) {
          if (analysis == Analysis::kSubexpressions && mode == Mode::kCompat) continue;
          const Labels labels = make_analysis(analysis, g, mode)->run(expect.at("root"));
          EXPECT_EQ(labelled(labels.value), expect.at("true").get<std::vector<std::int32_t>>());
          EXPECT_EQ(labels.active, expect.at("active"));
          if (mode == steps_of) {
            EXPECT_EQ(labels.steps, expect.at("steps"));
          }
        }
        ++checked;
      }
    }
    EXPECT_EQ(checked, expected_cases);
  }

  json cases_;
};

TEST_F(GoldenDataflow, Reachability) {
  check("reachability", Analysis::kReachability, 2, Mode::kExact);
}

TEST_F(GoldenDataflow, Dominance) {
  check("dominance", Analysis::kDominance, 2, Mode::kCompat);
}

TEST_F(GoldenDataflow, Datadep) {
  check("datadep", Analysis::kDatadep, 4, Mode::kExact);
}

TEST_F(GoldenDataflow, Liveness) {
  check("liveness", Analysis::kLiveness, 2, Mode::kExact);
}

TEST_F(GoldenDataflow, LiveOutSets) {
  std::size_t sets = 0;
  for (const json& c : cases_.at("liveness")) {
    const ProgramGraph g = graph(c);
    for (const Mode mode : {Mode::kExact, Mode::kCompat}) {
      const auto analysis = make_analysis(Analysis::kLiveness, g, mode);
      std::vector<std::int32_t> with_values;
      for (std::size_t node = 0; node < g.nodes.size(); ++node) {
        const auto expected = c.at("live_out")[node].get<std::vector<std::int32_t>>();
        if (!expected.empty()) with_values.push_back(static_cast<std::int32_t>(node));
        if (node == 0 || g.nodes[node].type != NodeType::kInstruction) continue;
        EXPECT_EQ(labelled(analysis->run(static_cast<std::int32_t>(node)).value), expected)
            << c.at("name") << " node " << node;
        ++sets;
      }
      EXPECT_EQ(analysis->roots(), with_values) << c.at("name");
    }
  }
  EXPECT_GT(sets, 20U);
}

TEST_F(GoldenDataflow, Subexpressions) {
  check("subexpressions", Analysis::kSubexpressions, 1, Mode::kExact);
  const json& same = cases_.at("subexpressions")[0];
  // The two variants that the file describes in words.
  for (const auto& [text, found] : {std::pair{"sdiv", false}, {"mul", true}}) {
    json flipped = same;
    flipped["texts"][9] = flipped["texts"][10] = text;
    for (json& edge : flipped["data"])
      if (edge[1] == 10) edge[2] = 1 - edge[2].get<int>();
    const auto roots = make_analysis(Analysis::kSubexpressions, graph(flipped))->roots();
    EXPECT_EQ(roots, found ? std::vector<std::int32_t>({9, 10}) : std::vector<std::int32_t>());
  }
}

}  // namespace
}  // namespace omen::loadbalance
