// SPDX-License-Identifier: Apache-2.0
// The way from inputs to a predictor: sharing flags, choosing predictor and model.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "omen/container.hpp"
#include "omen/testing/temp_dir.hpp"
#include "pipeline/pipeline.hpp"
#include "support/message_of.hpp"
#include "support/small_graphs.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::graphs;
using test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

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
