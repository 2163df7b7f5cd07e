// SPDX-License-Identifier: Apache-2.0
// Descriptions: what is read, what is refused, and the graphs that come of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omen/testing/errors.hpp"
#include "spec/spec_frontend.hpp"
#include "spec/spec_graph.hpp"

namespace omen::ensemble {
namespace {

using ::testing::HasSubstr;

std::string text_with(const std::string& design, const std::string& models,
                      const std::string& machine = R"({"nodes": 6, "cores_per_node": 8})") {
  return R"({"ensemble": "e", "machine": )" + machine + R"(, "design": )" + design +
         R"(, "models": )" + models + "}";
}

constexpr const char* kSix = R"([{"name": "a", "images_per_s": 100, "count": 4},
                                 {"name": "b", "images_per_s": [20, 38], "epochs": 3, "count": 2}])";

std::map<std::string, Table> graph_of(const std::string& design) {
  TableCollector tables;
  put_graph(parse_spec(text_with(design, kSix), "x.json"), TablesOut(tables.c()));
  return tables.take();
}

std::map<std::string, int> ops_of(const Table& nodes) {
  std::map<std::string, int> count;
  const StringColumn op = nodes.strings("op");
  for (std::int64_t row = 0; row < nodes.rows(); ++row) ++count[std::string(op[row])];
  return count;
}

TEST(Spec, ReadsWhatItSays) {
  const EnsembleSpec spec =
      parse_spec(text_with(R"({"pipeline": "SB_p2", "pace": "decoupled"})", kSix), "x.json");
  ASSERT_EQ(spec.models.size(), 6u);
  EXPECT_EQ(spec.models[1].name, "a.2");
  EXPECT_EQ(spec.models[5].epochs, 3);
  EXPECT_EQ(spec.design, Design::kSingleBroadcast);
  EXPECT_EQ(spec.preprocessors, 2);
  EXPECT_FALSE(spec.coupled);
  EXPECT_FALSE(spec.knows_epochs());
  EXPECT_EQ(spec.ranks(), 6);
}

struct Refused {
  const char *design, *models, *said;
};

TEST(Spec, RefusesWithThePlace) {
  const Refused cases[] = {
      {"{}", "[]", "x.json: models is not a list of models"},
      {"{}", R"([{"name": "a"}])", "models[0].images_per_s is missing"},
      {"{}", R"([{"images_per_s": 0}])", "models[0].images_per_s is 0; allowed are"},
      {"{}", R"([{"images_per_s": "fast"}])", "models[0].images_per_s is not a number"},
      {"{}", R"([{"images_per_s": 1, "epoch": 2}])", "models[0].epoch is not known; known are"},
      {"{}", R"([{"images_per_s": 1, "count": 20000}])", "more than 10000 models"},
      {"{}", R"([{"images_per_s": []}])", "models[0].images_per_s is not a list of 1 to"},
      {R"({"pipeline": "magic"})", kSix, "design.pipeline is none of none, all-shared"},
      {R"({"pipeline": "shared-memory"})", kSix, "needs one node, and the machine has 6"},
      {R"({"preprocessors": 7})", kSix, "design.preprocessors is more than the 6 ranks"},
      {R"({"preprocessors": 1.5})", kSix, "design.preprocessors is not a whole number"},
      {R"({"pace": "fast"})", kSix, "design.pace is neither coupled nor decoupled"},
      {R"({"batch": 10000})", kSix, "and MPI counts to 2147483647"},
  };
  for (const Refused& one : cases)
    EXPECT_THAT(test::error_of([&] { parse_spec(text_with(one.design, one.models), "x.json"); }),
                test::IsError(OMEN_INVALID_DATA, HasSubstr(one.said), HasSubstr("README.md")))
        << one.said;
}

TEST(Spec, BrokenJsonNamesTheLine) {
  EXPECT_THAT(
      test::error_of([] { parse_spec("{\n\"ensemble\": }", "x.json"); }),
      test::IsError(OMEN_INVALID_DATA, HasSubstr("x.json: not valid JSON at line 2, column"),
                    HasSubstr("comma")));
}

TEST(SpecGraph, EachDesignHasItsCollectives) {
  const auto none = ops_of(graph_of(R"({"pipeline": "none"})").at("nodes"));
  EXPECT_EQ(none.at("decode"), 6);
  EXPECT_EQ(none.count("allgather"), 0u);
  const auto shared = ops_of(graph_of(R"({"pipeline": "all-shared"})").at("nodes"));
  EXPECT_EQ(shared.at("decode"), 6);
  EXPECT_EQ(shared.at("allgather"), 1);
  const auto single = ops_of(graph_of(R"({"pipeline": "SB_p2"})").at("nodes"));
  EXPECT_EQ(single.at("decode"), 2);
  EXPECT_EQ(single.at("allgather"), 1);
  EXPECT_EQ(single.at("broadcast"), 1);
  const auto multiple =
      ops_of(graph_of(R"({"pipeline": "multi-broadcast", "preprocessors": 3})").at("nodes"));
  EXPECT_EQ(multiple.at("broadcast"), 3);
  EXPECT_EQ(multiple.at("train"), 6);
  EXPECT_EQ(multiple.at("accelerator"), 6);
}

TEST(SpecGraph, GroupsShareAmongThemselves) {
  const auto ops = ops_of(graph_of(R"({"pipeline": "all-shared", "groups": 2})").at("nodes"));
  EXPECT_EQ(ops.at("allgather"), 2);
  EXPECT_EQ(ops.at("source"), 1);
}

// Every trainer is reached from the source, through every preprocessor of its group.
TEST(SpecGraph, EveryTrainerSeesEveryShard) {
  for (const char* design : {R"({"pipeline": "none"})", R"({"pipeline": "all-shared"})",
                             R"({"pipeline": "SB_p3"})", R"({"pipeline": "multi-broadcast"})"}) {
    const auto tables = graph_of(design);
    const Table &nodes = tables.at("nodes"), &edges = tables.at("edges");
    const auto src = edges.column<std::int32_t>("src"), dst = edges.column<std::int32_t>("dst");
    const StringColumn op = nodes.strings("op");
    const auto decoders = ops_of(nodes).at("decode");
    const bool alone = std::string(design).find("none") != std::string::npos;
    for (std::int64_t node = 0; node < nodes.rows(); ++node) {
      if (op[node] != "train") continue;
      std::vector<bool> seen(static_cast<std::size_t>(nodes.rows()), false);
      std::vector<std::int32_t> open = {static_cast<std::int32_t>(node)};
      int shards = 0;
      while (!open.empty()) {
        const std::int32_t at = open.back();
        open.pop_back();
        if (seen[static_cast<std::size_t>(at)]) continue;
        seen[static_cast<std::size_t>(at)] = true;
        shards += op[at] == "decode";
        for (std::int64_t edge = 0; edge < edges.rows(); ++edge)
          if (dst[edge] == at) open.push_back(src[edge]);
      }
      EXPECT_EQ(shards, alone ? 1 : decoders) << design;
    }
  }
}

TEST(SpecFrontend, KnowsItsFiles) {
  EXPECT_GT(SpecFrontend::sniff("x.json", "  {\"ensemble\": \"e\""), 80);
  EXPECT_EQ(SpecFrontend::sniff("x.json", "{\"nodes\": []"), 0);
  EXPECT_EQ(SpecFrontend::sniff("x.txt", "ensemble"), 0);
}

}  // namespace
}  // namespace omen::ensemble
