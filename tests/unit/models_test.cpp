// SPDX-License-Identifier: Apache-2.0
// Model files: where they are found, which ones are refused and why, and what is written beside the
// tensors.
#include "pipeline/models.hpp"

#include <gtest/gtest.h>

#include "components/loader.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::IsError;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ModelFiles : public ::testing::Test {
 protected:
  ModelFiles() {
    found_.manifest = read_manifest(OMEN_TEST_BUILD_DIR "/fixtures/frozen/plugin.json");
    ref_ = {&found_, found_.manifest.component(OMEN_PREDICTOR, "frozen.ids")};
  }
  PredictorHandle predictor() {
    return PredictorHandle(
        load_plugin(found_.manifest).vtable<omen_predictor_vt>(OMEN_PREDICTOR, "frozen.ids"),
        resolve_options(*ref_.info, {}));
  }
  fs::path saved(TrainingFacts facts = {}) {
    const fs::path file = dir_.path() / "m.omen";
    PredictorHandle handle = predictor();
    save_model(handle, ref_, facts, file);
    return file;
  }
  // A component that has models, for looking names up.
  ComponentInfo& with_models(std::vector<ModelInfo> models) {
    info_ = *ref_.info;
    info_.models = std::move(models);
    ref_.info = &info_;
    return info_;
  }

  FoundPlugin found_;
  ComponentRef ref_;
  ComponentInfo info_;
  test::TempDir dir_;
};

TEST_F(ModelFiles, ResolveByNameDefaultAndFile) {
  EXPECT_EQ(resolve_model(ref_, ""), "") << "a component without models needs none";
  with_models({{"small", "models/small.omen", "", "", false},
               {"large", "models/large.omen", "", "", true}});
  EXPECT_EQ(resolve_model(ref_, ""), found_.manifest.directory / "models/large.omen");
  EXPECT_EQ(resolve_model(ref_, "small"), found_.manifest.directory / "models/small.omen");
  const fs::path file = dir_.write("own.omen", "x");
  EXPECT_EQ(resolve_model(ref_, file.string()), file);
  EXPECT_THAT(error_of([&] { resolve_model(ref_, "smal"); }),
              IsError(OMEN_NOT_FOUND,
                      AllOf(HasSubstr("model 'smal' is neither a file"), HasSubstr("small, large")),
                      "Did you mean 'small'?"));
  with_models({{"evil", "../../etc/passwd", "", "", true}});
  EXPECT_THAT(error_of([&] { resolve_model(ref_, ""); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("outside its plugin")));
}

TEST_F(ModelFiles, SaveWritesEveryMetadataKey) {
  TrainingFacts facts;
  facts.options_json = R"({"scale":2.0})";
  facts.task_hash = "abc";
  facts.split = "fold 1 of 5";
  facts.seed = 7;
  facts.schema = {"workloads.a:float64"};
  facts.targets = {{"time_ms", "ms", "lower", "number"}};
  facts.losses_json = R"({"mape": 0.1})";
  facts.summary = "a model";
  const fs::path file = saved(facts);
  const auto reader = container::Reader::open(file);
  for (const char* key : {"omen.format", "omen.plugin", "omen.plugin_version", "omen.component",
                          "omen.abi", "omen.options", "omen.task_hash", "omen.split", "omen.seed",
                          "omen.schema", "omen.schema_hash", "omen.targets", "omen.losses",
                          "omen.libraries", "omen.revision", "omen.time", "omen.digest", "summary"})
    EXPECT_EQ(reader.metadata().count(key), 1u) << key;
  const ModelCard card = read_model_card(file);
  EXPECT_EQ(card.component, "frozen.ids");
  EXPECT_EQ(card.plugin, "frozen");
  EXPECT_EQ(card.abi, "0.1");
  EXPECT_EQ(card.seed, "7");
  EXPECT_EQ(card.schema_hash, schema_hash(facts.schema));
  EXPECT_THAT(card.schema, ElementsAre("workloads.a:float64"));
  ASSERT_EQ(card.targets.size(), 1u);
  EXPECT_EQ(card.targets[0].unit, "ms");
  EXPECT_THAT(card.time, ::testing::MatchesRegex("....-..-..T..:..:..Z"));
  EXPECT_THAT(card.revision, Not(IsEmpty()));
}

TEST_F(ModelFiles, LoadRestoresAndVerifies) {
  const fs::path file = saved();
  PredictorHandle handle = predictor();
  EXPECT_EQ(load_model(handle, ref_, file).component, "frozen.ids");
  std::FILE* raw = std::fopen(file.c_str(), "r+b");
  ASSERT_NE(raw, nullptr);
  std::fseek(raw, -1, SEEK_END);
  std::fputc(0x11, raw);
  std::fclose(raw);
  EXPECT_THAT(error_of([&] { load_model(handle, ref_, file); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("was changed")));
}

TEST_F(ModelFiles, RefuseAModelOfAnotherComponent) {
  const fs::path file = saved();
  ComponentInfo& info = with_models({});
  info.id = "frozen.other";
  PredictorHandle handle = predictor();
  EXPECT_THAT(error_of([&] { load_model(handle, ref_, file); }),
              IsError(OMEN_INVALID_DATA, "m.omen is a model of frozen.ids, not of frozen.other",
                      HasSubstr("frozen.ids")));
}

TEST_F(ModelFiles, RefuseAContainerThatIsNoModel) {
  container::Writer writer;
  writer.put_meta("hello", "world");
  writer.write(dir_.path() / "t.omt");
  EXPECT_THAT(error_of([&] { read_model_card(dir_.path() / "t.omt"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("no omen.format"), HasSubstr("omen train")));
  writer.put_meta("omen.format", "model/9");
  writer.write(dir_.path() / "n.omen");
  EXPECT_THAT(error_of([&] { read_model_card(dir_.path() / "n.omen"); }),
              IsError(OMEN_INVALID_DATA, AllOf(HasSubstr("model/9"), HasSubstr("reads model/1"))));
}

TEST_F(ModelFiles, ReportWhichModelTheComponentRefused) {
  container::Writer writer;
  const float wrong = 1;
  writer.put_tensor("scale", "F32", {1}, &wrong, sizeof wrong);
  writer.put_meta("omen.format", "model/1");
  writer.put_meta("omen.component", "frozen.ids");
  writer.write(dir_.path() / "w.omen");
  PredictorHandle handle = predictor();
  EXPECT_THAT(error_of([&] { load_model(handle, ref_, dir_.path() / "w.omen"); }),
              IsError(OMEN_INVALID_DATA,
                      HasSubstr("frozen.ids cannot load w.omen: tensor 'scale' is not one double"),
                      "Train again."));
}

MemoryDataset& fill(MemoryDataset& data, const Table& workloads) {
  data.put("workloads", workloads);
  return data;
}

class Schema : public ::testing::Test {
 protected:
  Schema() {
    info_.id = "x.y";
    info_.reads = {"workloads.*", "nodes@ops/1", "edges:optional", "targets"};
    ref_ = {&found_, &info_};
    trained_.file = "model.omen";
    trained_.component = "x.y";
    trained_.schema = {"workloads.a:float64", "workloads.kind:dictionary"};
    trained_.schema_hash = schema_hash(trained_.schema);
  }
  std::optional<Error> check(const Table& workloads, std::vector<TargetFacts> wanted = {}) {
    MemoryDataset data;
    fill(data, workloads);
    return error_of([&] { check_artifact(trained_, ref_, data.view(), wanted); });
  }
  FoundPlugin found_;
  ComponentInfo info_;
  ComponentRef ref_;
  ModelCard trained_;
};

TEST_F(Schema, ListsFeatureColumnsWithoutKeys) {
  MemoryDataset data;
  data.put("workloads", TableBuilder()
                            .add<std::int64_t>("workload_id", {0})
                            .add_categories("group", {"g"})
                            .add_strings("name", {"n"})
                            .add<std::int64_t>("graph_id", {0})
                            .add<std::int64_t>("graph_id.1", {0})
                            .add<double>("b", {1})
                            .add<std::int32_t>("a", {1})
                            .finish());
  data.put("nodes", TableBuilder()
                        .add<std::int64_t>("graph_id", {0})
                        .add<std::int32_t>("node_id", {0})
                        .add_categories("op", {"add"})
                        .add_list<float>("feat", 3, {1, 2, 3})
                        .finish());
  data.put("targets", TableBuilder().add<double>("time", {1}).finish());
  EXPECT_THAT(feature_schema(info_, data.view()),
              ElementsAre("nodes.feat:float32 list[3]", "nodes.op:dictionary", "workloads.a:int32",
                          "workloads.b:float64"));
  EXPECT_EQ(schema_hash({"a"}).size(), 64u);
  EXPECT_NE(schema_hash({"a"}), schema_hash({"b"}));
}

TEST_F(Schema, AcceptsTheSameMoreAndWhatServesAsWell) {
  EXPECT_EQ(check(TableBuilder().add<double>("a", {1}).add_categories("kind", {"k"}).finish()),
            std::nullopt);
  EXPECT_EQ(check(TableBuilder()
                      .add<double>("a", {1})
                      .add_categories("kind", {"k"})
                      .add<double>("more", {1})
                      .finish()),
            std::nullopt);
  EXPECT_EQ(check(TableBuilder().add<std::int64_t>("a", {1}).add_strings("kind", {"k"}).finish()),
            std::nullopt);
}

TEST_F(Schema, RefusesMissingColumnsWithBothHashes) {
  const auto error = check(
      TableBuilder().add<double>("a", {1}).add<double>("c", {1}).add<double>("d", {1}).finish());
  EXPECT_THAT(error, IsError(OMEN_INVALID_DATA,
                             AllOf(HasSubstr("model.omen was trained on feature schema " +
                                             trained_.schema_hash.substr(0, 4) + " (2 columns)"),
                                   HasSubstr("(3 columns)"),
                                   HasSubstr("missing: workloads.kind:dictionary")),
                             HasSubstr("omen train x.y")));
  EXPECT_THAT(
      check(TableBuilder().add_strings("a", {"text"}).add_categories("kind", {"k"}).finish()),
      IsError(OMEN_INVALID_DATA, HasSubstr("missing: workloads.a:float64")));
}

TEST_F(Schema, RefusesOtherUnitsKindsAndTargets) {
  trained_.schema.clear();
  trained_.targets = {{"time", "ms", "lower", "number"}};
  const Table none = TableBuilder().add<double>("a", {1}).finish();
  EXPECT_EQ(check(none, {{"time", "ms", "lower", "number"}}), std::nullopt);
  EXPECT_EQ(check(none, {{"time", "", "lower", "number"}}), std::nullopt);
  EXPECT_THAT(
      check(none, {{"time", "s", "lower", "number"}}),
      IsError(OMEN_INVALID_DATA, "model.omen predicts 'time' in ms but the task has it in s",
              HasSubstr("Convert")));
  EXPECT_THAT(check(none, {{"time", "ms", "lower", "class"}}),
              IsError(OMEN_INVALID_DATA, HasSubstr("as a number")));
  EXPECT_THAT(check(none, {{"energy", "J", "lower", "number"}}),
              IsError(OMEN_INVALID_DATA, HasSubstr("does not predict 'energy'; it predicts time")));
}

TEST(Targets, FactsComeFromFieldMetadata) {
  const Table targets =
      TableBuilder()
          .add<std::int64_t>("workload_id", {0})
          .add<double>("rate", {1}, {{"omen.unit", "1/s"}, {"omen.direction", "higher"}})
          .add_categories("kind", {"a"})
          .finish();
  const auto facts = target_facts(targets);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].direction, "higher");
  EXPECT_EQ(facts[0].unit, "1/s");
  EXPECT_EQ(facts[1].kind, "class");
  EXPECT_EQ(facts[1].direction, "lower");
}

}  // namespace
}  // namespace omen::host
