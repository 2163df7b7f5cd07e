// SPDX-License-Identifier: Apache-2.0
// The way from inputs to answers: assembling datasets, candidates, checked predictions.
#include "pipeline/pipeline.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "support/message_of.hpp"
#include "support/small_graphs.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::graphs;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

Tables rows(const TextPairs& columns, int count) {
  Tables tables = one_row(columns);
  tables["workloads"] =
      take(tables["workloads"], std::vector<std::int64_t>(static_cast<std::size_t>(count), 0));
  return tables;
}

// ---- datasets

TEST(CompleteWorkloads, AddsIdsAndGroups) {
  Tables tables = rows({{"m", "4"}}, 3);
  complete_workloads(tables);
  const Table& w = tables.at("workloads");
  EXPECT_THAT(std::vector<std::int64_t>(w.column<std::int64_t>("workload_id").begin(),
                                        w.column<std::int64_t>("workload_id").end()),
              ElementsAre(0, 1, 2));
  EXPECT_EQ(w.type(w.index("group")), Type::kDictionary);
  EXPECT_EQ(w.strings("group").value_count(), 3);
}

TEST(CompleteWorkloads, MovesTheNamedColumnToGroup) {
  Tables tables = rows({{"m", "4"}, {"network", "vgg"}}, 2);
  complete_workloads(tables, "network");
  EXPECT_FALSE(tables.at("workloads").has("network"));
  EXPECT_EQ(tables.at("workloads").strings("group")[1], "vgg");
}

TEST(ParseTarget, TakesUnitAndDirection) {
  const TargetSpec target = parse_target("rate:1/s:higher");
  EXPECT_EQ(target.name, "rate");
  EXPECT_EQ(target.unit, "1/s");
  EXPECT_EQ(target.direction, Direction::kHigher);
  EXPECT_EQ(parse_target("t").direction, Direction::kLower);
  EXPECT_THROW(parse_target("t:ms:sideways"), Error);
  EXPECT_THROW(parse_target(":ms"), Error);
}

TEST(SplitTargets, MovesColumnsAndDropsRowsWithoutAny) {
  TableBuilder builder;
  builder.add("t", std::vector<double>{1, 2, 3}).valid({true, false, true});
  builder.add("m", std::vector<std::int64_t>{10, 20, 30}).add_categories("kind", {"a", "b", "a"});
  Tables tables{{"workloads", builder.finish()}};
  complete_workloads(tables);
  EXPECT_EQ(split_targets(tables, {{"t", "ms", Direction::kLower}}), 1);
  EXPECT_FALSE(tables.at("workloads").has("t"));
  EXPECT_EQ(tables.at("workloads").rows(), 2);
  const Table& targets = tables.at("targets");
  EXPECT_EQ(targets.metadata(targets.index("t"), "omen.unit"), "ms");
  EXPECT_THAT(targets.numbers("t"), ElementsAre(1, 3));
  EXPECT_THAT(targets.numbers("workload_id"), ElementsAre(0, 2));
}

TEST(SplitTargets, KeepsClassesAsText) {
  TableBuilder builder;
  builder.add_bools("fits", {true, false});
  Tables tables{{"workloads", builder.finish()}};
  complete_workloads(tables);
  split_targets(tables, {{"fits", "", Direction::kLower}});
  EXPECT_EQ(tables.at("targets").strings("fits")[0], "true");
}

TEST(KeepWorkloads, TakesTheGraphsAlong) {
  const Tables kept = keep_workloads(graphs(4, 3), {1, 3});
  EXPECT_EQ(kept.at("workloads").rows(), 2);
  EXPECT_EQ(kept.at("nodes").rows(), 6);
  EXPECT_EQ(kept.at("edges").rows(), 0);
  const auto ids = kept.at("nodes").numbers("graph_id");
  EXPECT_EQ(std::set<double>(ids.begin(), ids.end()), (std::set<double>{1, 3}));
}

TEST(Merge, GivesEveryGraphItsOwnId) {
  const Tables merged = merge({graphs(2, 3), graphs(1, 2), graphs(3, 1)});
  EXPECT_THAT(merged.at("workloads").numbers("workload_id"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(merged.at("workloads").numbers("graph_id"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(merged.at("nodes").numbers("graph_id"), ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5));
  EXPECT_THAT(merged.at("edges").numbers("graph_id"), ElementsAre(0, 2, 3));
  EXPECT_EQ(merged.at("nodes").metadata("omen.dialect"), "ops/1");
}

TEST(SplitByGroup, KeepsGroupsTogetherAndFollowsTheSeed) {
  std::vector<std::string> group;
  for (int i = 0; i < 200; ++i) group.push_back("g" + std::to_string(i % 20));
  TableBuilder builder;
  builder.add_categories("group", group);
  Tables tables{{"workloads", builder.finish()}};
  complete_workloads(tables);
  const auto names = [](const Tables& part) {
    std::set<std::string> found;
    const Table& w = part.at("workloads");
    for (std::int64_t row = 0; row < w.rows(); ++row) found.emplace(w.strings("group")[row]);
    return found;
  };
  const Split split = split_by_group(tables, 0.1, 7);
  EXPECT_EQ(split.valid_groups, 2u);
  EXPECT_EQ(split.valid.at("workloads").rows(), 20);
  EXPECT_EQ(split.train.at("workloads").rows(), 180);
  for (const std::string& name : names(split.valid)) EXPECT_EQ(names(split.train).count(name), 0u);
  EXPECT_EQ(names(split.valid), names(split_by_group(tables, 0.1, 7).valid));
  std::set<std::set<std::string>> distinct;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    distinct.insert(names(split_by_group(tables, 0.1, seed).valid));
  EXPECT_GT(distinct.size(), 1u);
}

TEST(SplitByGroup, HoldsNothingOutOfAFewGroups) {
  Tables tables = rows({{"m", "1"}}, 4);
  complete_workloads(tables);
  EXPECT_TRUE(split_by_group(tables, 0.1, 1).valid.empty());
}

TEST(Candidates, AreGivenToEveryWorkloadAndBack) {
  Tables tables = rows({{"m", "4"}}, 2);
  complete_workloads(tables);
  TableBuilder gpus;
  gpus.add_categories("name", {"a100", "v100", "t4"})
      .add("memory_gb", std::vector<std::int64_t>{80, 32, 16});
  const Table candidates = complete_candidates(gpus.finish(), tables.at("workloads"));
  EXPECT_THAT(candidates.numbers("workload_id"), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(candidates.numbers("candidate_id"), ElementsAre(0, 1, 2, 0, 1, 2));
  const Table pairs = expand_candidates(tables, candidates).at("workloads");
  EXPECT_THAT(pairs.numbers("memory_gb"), ElementsAre(80, 32, 16, 80, 32, 16));
  EXPECT_FALSE(pairs.has("name")) << "the candidate's name is not the workload's";
  TableBuilder answer;
  answer.add("workload_id", std::vector<std::int64_t>{5, 0}).add("t", std::vector<double>{1, 2});
  const Table back = collapse_candidates(answer.finish(), candidates);
  EXPECT_THAT(back.numbers("workload_id"), ElementsAre(1, 0));
  EXPECT_THAT(back.numbers("candidate_id"), ElementsAre(2, 0));
}

TEST(Candidates, OfAnUnknownWorkloadAreRefused) {
  Tables tables = rows({{"m", "4"}}, 1);
  complete_workloads(tables);
  TableBuilder c;
  c.add("workload_id", std::vector<std::int64_t>{9})
      .add("candidate_id", std::vector<std::int32_t>{0});
  EXPECT_THROW(expand_candidates(tables, c.finish()), Error);
}

TEST(Batches, JoinInputsOfOneKind) {
  std::vector<Lowered> inputs{{"a", "x.f", "ops/1", graphs(1, 2)},
                              {"b", "x.g", "ops/1", graphs(1, 2)},
                              {"c", "x.f", "ops/1", graphs(2, 2)}};
  const auto batches = make_batches(std::move(inputs));
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_THAT(batches[0].inputs, ElementsAre("a", "c"));
  EXPECT_THAT(batches[0].input_of, ElementsAre(0u, 1u, 1u));
  EXPECT_EQ(batches[0].tables.at("workloads").rows(), 3);
}

// ---- predictions

Table answers(std::vector<std::int64_t> ids) {
  std::vector<double> values;
  for (const std::int64_t id : ids) values.push_back(static_cast<double>(id) * 10);
  TableBuilder builder;
  builder.add("workload_id", std::move(ids))
      .add("t", values)
      .add("t.lo", values)
      .add("t.hi", values);
  return builder.finish();
}

TEST(CheckedPredictions, ArePutInOrderAndGetAStatus) {
  Tables tables = rows({{"m", "4"}}, 3);
  complete_workloads(tables);
  const Table checked = checked_predictions(answers({2, 0, 1}), tables.at("workloads"), "p.q");
  EXPECT_THAT(checked.numbers("t"), ElementsAre(0, 10, 20));
  EXPECT_EQ(checked.strings("status")[0], "ok");
  EXPECT_THAT(target_names(checked), ElementsAre("t"));
}

TEST(CheckedPredictions, NameThePluginThatLies) {
  Tables tables = rows({{"m", "4"}}, 2);
  complete_workloads(tables);
  const Table& w = tables.at("workloads");
  EXPECT_THAT(message_of([&] {
                checked_predictions(answers({0, 0}), w, "p.q");
              }),
              HasSubstr("p.q predicted workload 0 twice"));
  EXPECT_THAT(message_of([&] { checked_predictions(answers({0}), w, "p.q"); }),
              HasSubstr("no row for workload 1"));
  EXPECT_THAT(message_of([&] {
                checked_predictions(answers({0, 1, 2}), w, "p.q");
              }),
              HasSubstr("predicted 1 workloads that it was not given"));
  EXPECT_THAT(message_of([&] {
                checked_predictions(answers({10, 11}), w, "p.q");
              }),
              HasSubstr("predicted 2 workloads that it was not given"));
}

TEST(CheckedPredictions, NumbersAreNotWrittenAsText) {
  Tables tables = rows({{"m", "4"}}, 1);
  complete_workloads(tables);
  TableBuilder builder;
  builder.add("workload_id", std::vector<std::int64_t>{0}).add_categories("t", {"a few"});
  const Table texts = builder.finish();
  const Table& w = tables.at("workloads");
  EXPECT_THAT(message_of([&] {
                checked_predictions(texts, w, "p.q", "", {{"t", "ms", "lower", "number"}});
              }),
              HasSubstr("p.q predicted t as text, but it is a number"));
  EXPECT_EQ(checked_predictions(texts, w, "p.q", "", {{"t", "", "", "class"}}).rows(), 1);
}

TEST(CheckedPredictions, AnIntervalUpsideDownIsNoAnswer) {
  Tables tables = rows({{"m", "4"}}, 3);
  complete_workloads(tables);
  TableBuilder builder;
  builder.add("workload_id", std::vector<std::int64_t>{0, 1, 2})
      .add("t", std::vector<double>{1, 1, 1})
      .add("t.lo", std::vector<double>{1, 2, 2})
      .add("t.hi", std::vector<double>{1, 0, 0})
      .add_categories("status", {"ok", "ok", "out of range"});
  const Table checked = checked_predictions(builder.finish(), tables.at("workloads"), "p.q");
  EXPECT_EQ(checked.strings("status")[0], "ok");
  EXPECT_EQ(checked.strings("status")[1], "lower end above upper end");
  EXPECT_TRUE(checked.is_null(checked.index("t"), 1));
  EXPECT_EQ(checked.strings("status")[2], "out of range");
}

TEST(CheckedPredictions, KeepTheRowsBeforeAFailure) {
  Tables tables = rows({{"m", "4"}}, 3);
  complete_workloads(tables);
  const Table checked =
      checked_predictions(answers({0, 2}), tables.at("workloads"), "p.q", "failed: lost");
  EXPECT_EQ(checked.rows(), 3);
  EXPECT_TRUE(checked.is_null(checked.index("t"), 1));
  EXPECT_EQ(checked.strings("status")[1], "failed: lost");
  EXPECT_EQ(checked.numbers("t")[2], 20);
}

TEST(CheckedPredictions, OkBesideNoNumberIsNoAnswer) {
  Tables tables = rows({{"m", "4"}}, 3);
  complete_workloads(tables);
  TableBuilder builder;
  builder.add("workload_id", std::vector<std::int64_t>{0, 1, 2})
      .add("t", std::vector<double>{1, std::nan(""), std::numeric_limits<double>::infinity()})
      .add_categories("status", {"ok", "extrapolating", "out of range"});
  const Table checked = checked_predictions(builder.finish(), tables.at("workloads"), "p.q");
  EXPECT_EQ(checked.strings("status")[0], "ok");
  EXPECT_EQ(checked.strings("status")[1], "no finite answer");
  EXPECT_TRUE(checked.is_null(checked.index("t"), 1));
  EXPECT_EQ(checked.strings("status")[2], "out of range");
}

}  // namespace
}  // namespace omen::host
