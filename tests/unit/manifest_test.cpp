// SPDX-License-Identifier: Apache-2.0
// plugin.json: what is accepted, what is refused and by which words, and drift.
#include "components/manifest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

using nlohmann::json;
using test::error_of;
using test::IsError;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json good() {
  return {{"manifest_version", 1},
          {"id", "driple"},
          {"version", "0.3.0"},
          {"license", "Apache-2.0"},
          {"homepage", "https://example.org"},
          {"abi", {{"major", 0}, {"minor", 1}}},
          {"platforms",
           {{platform_key(),
             {{"library", "libdriple.so"}, {"sha256", std::string(64, 'a')}, {"size", 5}}}}},
          {"requires", {{"libtorch", ">=2.9,<3"}}},
          {"isolation", "worker"},
          {"extensions", {"omen.observe/1"}},
          {"components",
           {{{"kind", "predictor"},
             {"id", "driple.gcn"},
             {"summary", "a predictor"},
             {"caps", {"seeded-repeatable", "from-the-future"}},
             {"reads", {"nodes", "edges"}},
             {"writes", {"time_ms:ms:lower"}},
             {"options",
              {{{"key", "hidden"},
                {"type", "int"},
                {"default", "64"},
                {"min", 1},
                {"max", 4096},
                {"help", "width"}},
               {{"key", "define"}, {"type", "string"}, {"flags", {"repeated"}}}}},
             {"models",
              {{{"name", "a"},
                {"file", "models/a.omen"},
                {"sha256", std::string(64, '0')},
                {"default", true}}}},
             {"examples", {"omen driple gcn --hidden 8"}},
             {"cite", "doi:10.1/x"}}}},
          {"signature", nullptr},
          {"unknown_field", {1, 2, 3}}};
}

Manifest parse(const json& document) {
  return parse_manifest(document.dump(), "/somewhere/driple");
}

// What parsing says once `change` was applied to a good manifest.
template <class Change>
std::optional<Error> complaint(Change&& change) {
  json document = good();
  change(document);
  return error_of([&] { parse(document); });
}

TEST(Manifest, ReadsEveryField) {
  const Manifest m = parse(good());
  EXPECT_EQ(m.id, "driple");
  EXPECT_EQ(m.directory, "/somewhere/driple");
  EXPECT_EQ(m.library, "libdriple.so");
  EXPECT_EQ(m.isolation, Isolation::kWorker);
  EXPECT_EQ(m.requirements.at("libtorch"), ">=2.9,<3");
  ASSERT_EQ(m.components.size(), 1u);
  const ComponentInfo& c = m.components[0];
  EXPECT_EQ(c.caps, std::uint64_t{OMEN_CAP_SEEDED_REPEATABLE})
      << "names of a newer minor are ignored";
  EXPECT_THAT(c.reads, ElementsAre("nodes", "edges"));
  ASSERT_NE(c.option("hidden"), nullptr);
  EXPECT_EQ(c.option("hidden")->max, 4096);
  EXPECT_EQ(c.option("hidden")->default_text, "64");
  EXPECT_TRUE(std::isnan(c.option("define")->min));
  EXPECT_EQ(c.option("define")->flags, std::uint32_t{OMEN_OPTF_REPEATED});
  ASSERT_NE(c.default_model(), nullptr);
  EXPECT_EQ(c.default_model()->file, "models/a.omen");
  EXPECT_EQ(c.option("nothing"), nullptr);
  EXPECT_EQ(m.component(OMEN_SCORER, "driple.gcn"), nullptr);
}

TEST(Manifest, SurvivesWritingAndReading) {
  const Manifest first = parse(good());
  const Manifest second = parse_manifest(to_json(first), first.directory);
  EXPECT_THAT(drift(first, second), IsEmpty());
  EXPECT_EQ(to_json(first), to_json(second));
  EXPECT_EQ(second.components[0].models.size(), 1u);
  EXPECT_THAT(second.components[0].examples, ElementsAre("omen driple gcn --hidden 8"));
}

TEST(Manifest, FamilyEndsAtTheFirstDash) {
  json document = good();
  document["id"] = "driple-llvm";
  EXPECT_EQ(parse(document).family(), "driple");
  document["components"][0]["id"] = "driple-llvm.gcn";
  EXPECT_THAT(error_of([&] { parse(document); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("expected 'driple.<name>'")));
}

TEST(Manifest, NamesTheFieldAtFault) {
  const auto expect = [](auto change, const char* words) {
    EXPECT_THAT(complaint(change), IsError(OMEN_INVALID_DATA, HasSubstr(words)));
  };
  expect([](json& d) { d.erase("id"); }, "field 'id' is missing");
  expect([](json& d) { d["id"] = 3; }, "field 'id' is not a string");
  expect([](json& d) { d["id"] = "../evil"; }, "field 'id' is '../evil'");
  expect([](json& d) { d["id"] = std::string("a\0b", 3); }, "NUL");
  expect([](json& d) { d["abi"] = 1; }, "field 'abi' is not an object");
  expect([](json& d) { d["abi"]["minor"] = -1; }, "field 'abi.minor' is not a natural number");
  expect([](json& d) { d["abi"]["major"] = 1e300; }, "field 'abi.major'");
  expect([](json& d) { d["platforms"][platform_key()]["sha256"] = "abc"; },
         "64 lower-case hexadecimal digits");
  expect([](json& d) { d["platforms"][platform_key()]["library"] = ""; }, "library' is empty");
  expect([](json& d) { d["isolation"] = "sandbox"; }, "known: default, worker");
  expect([](json& d) { d["components"] = json::object(); }, "field 'components' is not a list");
  expect([](json& d) { d["components"][0]["kind"] = "oracle"; },
         "components[0].kind' is 'oracle'; known: profiler");
  expect([](json& d) { d["components"][0]["reads"] = {1}; },
         "components[0].reads[0]' is not a string");
  expect([](json& d) { d["components"].push_back(d["components"][0]); },
         "repeats the predictor 'driple.gcn'");
  expect([](json& d) { d["components"][0]["options"][0]["type"] = "float"; },
         "known: bool, int, real");
  expect([](json& d) { d["components"][0]["options"][0]["key"] = "Hidden-Width"; }, "snake_case");
  expect([](json& d) { d["components"][0]["options"][1]["key"] = "hidden"; }, "repeats 'hidden'");
  expect([](json& d) { d["components"][0]["options"][0]["min"] = "low"; },
         "options[0].min' is not a number");
  expect([](json& d) { d["components"][0]["options"][1]["type"] = "choice"; }, "choice of nothing");
  expect([](json& d) { d["components"][0]["models"][0]["default"] = 1; }, "neither true nor false");
  expect([](json& d) { d["requires"]["cuda"] = 13; }, "field 'requires.cuda'");
}

TEST(Manifest, RefusesAnUnknownVersionWithAHint) {
  EXPECT_THAT(complaint([](json& d) { d["manifest_version"] = 2; }),
              IsError(OMEN_UNSUPPORTED, AllOf(HasSubstr("is 2"), HasSubstr("reads 1")),
                      HasSubstr("omen as new")));
}

TEST(Manifest, AnotherPlatformParsesButHasNoLibrary) {
  json document = good();
  document["platforms"] = {{"plan9_mips", {{"library", "x"}}}};
  const Manifest m = parse(document);
  EXPECT_EQ(m.library, "");
  EXPECT_THAT(m.platforms, ElementsAre("plan9_mips"));
}

TEST(Manifest, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "[]", "{} trailing", "\xff\xfe", "{\"id\": \"\xc3\x28\"}"})
    EXPECT_THAT(error_of([&] { parse_manifest(text, "."); }),
                IsError(OMEN_INVALID_DATA, ::testing::_))
        << text;
  std::string deep(200000, '[');
  EXPECT_THAT(error_of([&] { parse_manifest(deep, "."); }),
              IsError(OMEN_INVALID_DATA, ::testing::_));
}

TEST(Manifest, FileErrorsNameTheFile) {
  const test::TempDir dir;
  EXPECT_THAT(error_of([&] { read_manifest(dir.path() / "plugin.json"); }),
              IsError(OMEN_IO, AllOf(HasSubstr("plugin.json"), HasSubstr("No such file"))));
  const auto file = dir.write("plugin.json", "{}");
  EXPECT_THAT(
      error_of([&] { read_manifest(file); }),
      IsError(OMEN_INVALID_DATA, AllOf(HasSubstr(file.string()), HasSubstr("manifest_version")),
              HasSubstr("omen-manifest")));
  EXPECT_THAT(error_of([&] { read_manifest(dir.path()); }),
              IsError(OMEN_IO, HasSubstr("not a file")));
  dir.write("big.json", std::string((4 << 20) + 1, ' '));
  EXPECT_THAT(error_of([&] { read_manifest(dir.path() / "big.json"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("at most")));
}

TEST(Drift, NamesEachDifferingField) {
  const Manifest file = parse(good());
  Manifest code = file;
  code.version = "0.4.0";
  code.components[0].summary = "another";
  code.components[0].options[0].max = 8;
  // Models and examples come from the build, not from the code.
  code.components[0].models.clear();
  code.components[0].examples.clear();
  EXPECT_THAT(drift(file, code),
              ElementsAre("version", "driple.gcn.summary", "driple.gcn.options"));
  code = file;
  code.components[0].id = "driple.gin";
  EXPECT_THAT(drift(file, code), ElementsAre("components: 'driple.gin' is not in the file",
                                             "components: 'driple.gcn' is not in the library"));
  code = file;
  code.components[0].cite.clear();
  EXPECT_THAT(drift(file, code), ElementsAre("driple.gcn.cite"));
}

TEST(Names, KindsTranslateBothWays) {
  for (const std::uint32_t kind :
       {OMEN_PROFILER, OMEN_GRAPH_FRONTEND, OMEN_PREDICTOR, OMEN_SCORER, OMEN_COMMAND})
    EXPECT_EQ(kind_from_name(kind_name(kind)), kind);
  EXPECT_STREQ(kind_name(99), "unknown");
  EXPECT_THAT(error_of([] { kind_from_name("oracle"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("'oracle'"),
                      HasSubstr("profiler, frontend, predictor")));
}

}  // namespace
}  // namespace omen::host
