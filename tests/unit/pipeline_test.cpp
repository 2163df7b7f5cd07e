// SPDX-License-Identifier: Apache-2.0
// The way from inputs to a predictor: assembling datasets, sharing flags, choosing predictor and
// model.
#include "pipeline/pipeline.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "omen/container.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Tables rows(const TextPairs& columns, int count) {
  Tables tables = one_row(columns);
  tables["workloads"] =
      take(tables["workloads"], std::vector<std::int64_t>(static_cast<std::size_t>(count), 0));
  return tables;
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return std::string(e.what()) + " | " + e.hint();
  }
  return "no error";
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

Tables graphs(std::int64_t count, std::int64_t nodes_each) {
  std::vector<std::int64_t> ids, graph;
  std::vector<std::int32_t> node, src, dst;
  std::vector<std::string> op;
  for (std::int64_t g = 0; g < count; ++g) {
    ids.push_back(g);
    for (std::int64_t n = 0; n < nodes_each; ++n) {
      graph.push_back(g);
      node.push_back(static_cast<std::int32_t>(n));
      op.push_back(n % 2 ? "add" : "load");
    }
  }
  TableBuilder w, nodes, edges;
  w.add("workload_id", ids).add_categories("group", std::vector<std::string>(ids.size(), "g"));
  nodes.metadata("omen.dialect", "ops/1")
      .add("graph_id", graph)
      .add("node_id", node)
      .add_categories("op", op);
  edges.add("graph_id", std::vector<std::int64_t>{0})
      .add("src", std::vector<std::int32_t>{0})
      .add("dst", std::vector<std::int32_t>{1});
  return {{"workloads", w.finish()}, {"nodes", nodes.finish()}, {"edges", edges.finish()}};
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

// ---- flags

OptionInfo option(const std::string& key) {
  OptionInfo info{};
  info.key = key;
  info.type = OMEN_OPT_STRING;
  info.min = info.max = std::nan("");
  return info;
}

ComponentInfo component(const std::string& id, const std::vector<std::string>& keys) {
  ComponentInfo info;
  info.id = id;
  info.kind = OMEN_PREDICTOR;
  for (const std::string& key : keys) info.options.push_back(option(key));
  return info;
}

TEST(FlagBook, GivesEachComponentItsOwn) {
  FlagBook book({{"hidden-width", "64"}, {"front.opt", "2"}, {"batch", "32"}}, "");
  const auto front = book.sources_for(component("front.cl", {"opt"}));
  ASSERT_EQ(front.flags.size(), 1u);
  EXPECT_EQ(front.flags[0].first, "opt");
  const auto back = book.sources_for(component("net.gcn", {"hidden_width"}));
  EXPECT_EQ(back.flags[0].second, "64");
  EXPECT_THAT(book.unused(), ElementsAre("batch"));
  EXPECT_EQ(book.features({"batch"}).at(0).second, "32");
  EXPECT_NO_THROW(book.finish());
}

TEST(FlagBook, RefusesWhatNobodyTakes) {
  FlagBook book({{"hiden", "64"}}, "");
  book.sources_for(component("net.gcn", {"hidden"}));
  EXPECT_THAT(message_of([&] { book.finish(); }),
              AllOf(HasSubstr("--hiden"), HasSubstr("net.gcn"), HasSubstr("--hidden")));
}

TEST(FlagBook, RefusesWhatTwoCouldTake) {
  FlagBook book({{"opt", "2"}}, "");
  book.sources_for(component("front.cl", {"opt"}));
  book.sources_for(component("net.gcn", {"opt"}));
  EXPECT_THAT(message_of([&] { book.finish(); }),
              AllOf(HasSubstr("--front.cl.opt"), HasSubstr("--net.gcn.opt")));
}

TEST(FlagBook, SharesTheConfigurationFile) {
  FlagBook book({}, R"({"hidden": 8, "front.cl": {"opt": "3"}})");
  EXPECT_THAT(book.sources_for(component("front.cl", {"opt"})).config_json, HasSubstr("\"opt\""));
  EXPECT_THAT(book.sources_for(component("net.gcn", {"hidden"})).config_json, HasSubstr("hidden"));
  EXPECT_NO_THROW(book.finish());
  FlagBook wrong({}, R"({"hiden": 8})");
  wrong.sources_for(component("net.gcn", {"hidden"}));
  EXPECT_THAT(message_of([&] { wrong.finish(); }), HasSubstr("hiden"));
  EXPECT_THROW(FlagBook({}, "[1]"), Error);
}

// ---- choosing a predictor

class ChoosePredictor : public testing::Test {
 protected:
  // A plugin on disk: its manifest, and models that say which columns they were trained on. No
  // library is ever opened.
  void add_plugin(const std::string& id, std::vector<ComponentInfo> components,
                  const std::vector<std::string>& schema) {
    const fs::path directory = directory_.path() / id;
    fs::create_directories(directory / "models");
    Manifest manifest;
    manifest.id = id;
    manifest.version = "1.0.0";
    manifest.license = "MIT";
    manifest.library = "lib" + id + ".so";
    manifest.sha256 = std::string(64, 'a');
    manifest.size = 1;
    manifest.abi_major = OMEN_ABI_MAJOR;
    manifest.abi_minor = OMEN_ABI_MINOR;
    for (ComponentInfo& info : components) {
      const std::string file = "models/" + info.id + ".omen";
      info.summary = "test";
      info.models = {{info.id, file, std::string(64, 'b'), "", true}};
      write_model(directory / file, id, info.id, schema);
    }
    manifest.components = std::move(components);
    std::ofstream(directory / "plugin.json") << to_json(manifest);
  }
  static void write_model(const fs::path& path, const std::string& plugin,
                          const std::string& component, const std::vector<std::string>& schema) {
    std::string list;
    for (const std::string& column : schema) list += (list.empty() ? "\"" : ",\"") + column + "\"";
    container::Writer writer;
    writer.put_meta("omen.format", "model/1");
    writer.put_meta("omen.plugin", plugin);
    writer.put_meta("omen.component", component);
    writer.put_meta("omen.schema", "[" + list + "]");
    writer.write(path);
  }
  static ComponentInfo reader(const std::string& id, std::vector<std::string> reads,
                              std::uint64_t caps = 0) {
    ComponentInfo info = component(id, {});
    info.reads = std::move(reads);
    info.writes = {"t:ms:lower"};
    info.caps = caps;
    return info;
  }
  Choice choose(const Tables& tables, const std::string& dialect = "", const std::string& id = "",
                const std::string& model = "") {
    registry_ = Registry::discover({directory_.path()});
    Models models;
    return choose_predictor(registry_, models, tables, dialect, id, model);
  }
  static Tables table(const TextPairs& columns) {
    Tables tables = one_row(columns);
    complete_workloads(tables);
    return tables;
  }

  omen::test::TempDir directory_;
  Registry registry_;
};

TEST_F(ChoosePredictor, ByColumnsOfItsModel) {
  add_plugin("apple", {reader("apple.one", {"workloads.*"})}, {"workloads.m:int64"});
  add_plugin("pear", {reader("pear.one", {"workloads.*"})}, {"workloads.k:int64"});
  EXPECT_EQ(choose(table({{"k", "1"}, {"extra", "2"}})).predictor.info->id, "pear.one");
  EXPECT_EQ(choose(table({{"m", "1"}})).predictor.info->id, "apple.one");
}

TEST_F(ChoosePredictor, WithinAPluginTheDefault) {
  add_plugin(
      "apple",
      {reader("apple.a", {"workloads.*"}), reader("apple.b", {"workloads.*"}, OMEN_CAP_DEFAULT)},
      {"workloads.m:int64"});
  EXPECT_EQ(choose(table({{"m", "1"}})).predictor.info->id, "apple.b");
}

TEST_F(ChoosePredictor, AmongPluginsOfAFamilyTheDefault) {
  add_plugin("apple", {reader("apple.a", {"workloads.*"}, OMEN_CAP_DEFAULT)},
             {"workloads.m:int64"});
  add_plugin("apple-nets", {reader("apple.net", {"workloads.*"})}, {"workloads.m:int64"});
  EXPECT_EQ(choose(table({{"m", "1"}})).predictor.info->id, "apple.a");
  add_plugin("pear", {reader("pear.a", {"workloads.*"})}, {"workloads.m:int64"});
  EXPECT_THAT(message_of([&] {
                choose(table({{"m", "1"}}));
              }),
              HasSubstr("apple.a, apple.net, pear.a"));
}

TEST_F(ChoosePredictor, BetweenPluginsItAsks) {
  add_plugin("apple", {reader("apple.a", {"workloads.*"})}, {"workloads.m:int64"});
  add_plugin("pear", {reader("pear.a", {"workloads.*"})}, {"workloads.m:int64"});
  EXPECT_THAT(message_of([&] {
                choose(table({{"m", "1"}}));
              }),
              AllOf(HasSubstr("apple.a, pear.a"), HasSubstr("--with apple.a")));
}

TEST_F(ChoosePredictor, NamedColumnsBeatWildcards) {
  add_plugin("apple", {reader("apple.a", {"workloads.*"})}, {"workloads.m:int64"});
  add_plugin("pear", {reader("pear.a", {"workloads.m"})}, {"workloads.m:int64"});
  EXPECT_EQ(choose(table({{"m", "1"}})).predictor.info->id, "pear.a");
}

TEST_F(ChoosePredictor, ByDialect) {
  add_plugin("apple", {reader("apple.a", {"nodes@ops/1", "edges"})}, {});
  add_plugin("pear", {reader("pear.a", {"nodes@programl/1", "edges"})}, {});
  add_plugin("plum", {reader("plum.a", {"workloads.*", "nodes:optional"})}, {});
  EXPECT_EQ(choose(graphs(1, 2), "ops/1").predictor.info->id, "apple.a");
  EXPECT_EQ(choose(graphs(1, 2), "programl/1").predictor.info->id, "pear.a");
  EXPECT_EQ(choose(graphs(1, 2), "other/1").predictor.info->id, "plum.a");
}

TEST_F(ChoosePredictor, SaysWhatIsMissing) {
  add_plugin("apple", {reader("apple.a", {"workloads.*"})}, {"workloads.m:int64"});
  EXPECT_THAT(message_of([&] {
                choose(table({{"z", "1"}}));
              }),
              AllOf(HasSubstr("columns z"), HasSubstr("apple.a"), HasSubstr("omen train")));
}

TEST_F(ChoosePredictor, AModelFileKnowsItsComponent) {
  add_plugin("apple", {reader("apple.a", {"workloads.*"})}, {"workloads.m:int64"});
  const fs::path model = directory_.path() / "mine.omen";
  write_model(model, "apple", "apple.a", {"workloads.q:float64"});
  const Choice choice = choose(table({{"q", "1"}}), "", "", model.string());
  EXPECT_EQ(choice.predictor.info->id, "apple.a");
  EXPECT_EQ(choice.model.file(), model);
  EXPECT_THAT(feature_names(choice), ElementsAre("q"));
}

TEST_F(ChoosePredictor, FlagsHoldForEveryRowAndCountInUnits) {
  Tables tables = table({{"m", "1"}, {"size", "5"}});
  FlagBook flags({{"size", "2Ki"}, {"name", "1M"}, {"other", "3"}}, "");
  add_flag_features(tables, flags, {"size", "name"}, {"workloads.name:string"});
  const Table& workloads = tables.at("workloads");
  EXPECT_EQ(workloads.numbers("size")[0], 2048);
  EXPECT_EQ(workloads.strings("name")[0], "1M");
  EXPECT_EQ(workloads.numbers("m")[0], 1);
  EXPECT_THAT(flags.unused(), ElementsAre("other"));
}

TEST_F(ChoosePredictor, WrongNamesGetNearSpellings) {
  add_plugin("apple", {reader("apple.alpha", {"workloads.*"})}, {});
  EXPECT_THAT(message_of([&] {
                choose(table({{"m", "1"}}), "", "apple.alpa");
              }),
              AllOf(HasSubstr("looked in"), HasSubstr("apple.alpha"),
                    HasSubstr(directory_.path().string())));
}

}  // namespace
}  // namespace omen::host
