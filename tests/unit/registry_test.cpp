// SPDX-License-Identifier: Apache-2.0
// Discovery: the order of places, shadowing, broken manifests, and messages that help.
#include "components/registry.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

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

std::string manifest_text(const std::string& id, const std::string& version,
                          const std::string& components) {
  return R"({"manifest_version": 1, "id": ")" + id + R"(", "version": ")" + version +
         R"(", "abi": {"major": 0, "minor": 1}, "platforms": {}, "components": [)" + components +
         "]}";
}

std::string component(const std::string& kind, const std::string& id) {
  return R"({"kind": ")" + kind + R"(", "id": ")" + id + R"("})";
}

class RegistryTest : public ::testing::Test {
 protected:
  // Nothing outside the test may be found.
  void SetUp() override {
    ::setenv("OMEN_PLUGIN_PATH", (dir_.path() / "env").c_str(), 1);
    ::setenv("XDG_DATA_HOME", (dir_.path() / "home").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("OMEN_PLUGIN_PATH");
    ::unsetenv("XDG_DATA_HOME");
  }
  void add(const std::string& place, const std::string& id, const std::string& version = "1",
           const std::string& components = "") {
    dir_.write(place + "/" + id + "/plugin.json", manifest_text(id, version, components));
  }
  Registry discover(std::vector<fs::path> paths = {}) { return Registry::discover(paths); }
  // What the test itself put there; the build tree beside the test program may hold more.
  std::vector<FoundPlugin> mine(const Registry& registry) const {
    std::vector<FoundPlugin> found;
    for (const FoundPlugin& plugin : registry.plugins())
      if (plugin.manifest.directory.string().starts_with(dir_.path().string()))
        found.push_back(plugin);
    return found;
  }

  test::TempDir dir_;
};

TEST_F(RegistryTest, SearchesThePlacesInOrder) {
  const auto places = Registry::search_places({dir_.path() / "flag"});
  std::vector<std::string> origins;
  for (const SearchPlace& place : places) origins.push_back(place.origin);
  EXPECT_THAT(origins, ElementsAre("--plugin-path", "OMEN_PLUGIN_PATH", "beside omen", "installed",
                                   "installed", "user", "user"));
  EXPECT_EQ(places[0].directory, dir_.path() / "flag");
  EXPECT_FALSE(places[0].exists);
  EXPECT_EQ(places[5].directory, dir_.path() / "home/omen/plugins");
  EXPECT_EQ(places[6].directory.filename(), "plugins")
      << "where an install into ~/.local puts them";
}

TEST_F(RegistryTest, FirstIdWinsAndTheOthersAreKeptAsShadowed) {
  add("flag", "oracle", "3");
  add("env", "oracle", "2");
  add("home/omen/plugins", "oracle", "1");
  add("env", "alpha");
  const Registry registry = discover({dir_.path() / "flag"});
  EXPECT_EQ(registry.plugin("oracle").manifest.version, "3");
  std::vector<std::string> shown;
  for (const FoundPlugin& found : mine(registry))
    shown.push_back(found.manifest.id + found.manifest.version +
                    (found.shadowed_by.empty() ? "" : " shadowed"));
  EXPECT_THAT(shown, ElementsAre("alpha1", "oracle3", "oracle2 shadowed", "oracle1 shadowed"));
  EXPECT_EQ(mine(registry)[2].shadowed_by, (dir_.path() / "flag/oracle").string());
}

TEST_F(RegistryTest, PathsMayBeListsAndSinglePlugins) {
  add("a", "one");
  add("b", "two");
  ::setenv("OMEN_PLUGIN_PATH",
           ((dir_.path() / "a").string() + ":" + (dir_.path() / "b/two").string() + "::").c_str(),
           1);
  const Registry registry = discover();
  EXPECT_EQ(registry.plugin("one").manifest.id, "one");
  EXPECT_EQ(registry.plugin("two").manifest.id, "two");
}

TEST_F(RegistryTest, TheSamePlaceTwiceShadowsNothing) {
  add("env", "oracle");
  const Registry registry = discover({dir_.path() / "env", dir_.path() / "env/../env"});
  EXPECT_EQ(mine(registry).size(), 1u);
}

TEST_F(RegistryTest, BrokenManifestsDoNotHideTheOthers) {
  add("env", "good");
  dir_.write("env/bad/plugin.json", "{");
  const Registry registry = discover();
  EXPECT_EQ(mine(registry).size(), 1u);
  ASSERT_EQ(registry.broken().size(), 1u);
  EXPECT_THAT(registry.broken()[0].error.what(), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of([&] { registry.plugin("bad"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("plugin 'bad' cannot be used"),
                      HasSubstr("omen-manifest")));
}

TEST_F(RegistryTest, NotFoundListsThePathsAndNearSpellings) {
  add("env", "oracle");
  const Registry registry = discover({dir_.path() / "flag"});
  EXPECT_THAT(error_of([&] { registry.plugin("oracl"); }),
              IsError(OMEN_NOT_FOUND,
                      AllOf(HasSubstr("plugin 'oracl' not found\nlooked in: "),
                            HasSubstr((dir_.path() / "env").string()),
                            HasSubstr((dir_.path() / "flag").string() + " (absent)")),
                      AllOf(HasSubstr("did you mean 'oracle'?"), HasSubstr("omen list"),
                            HasSubstr("OMEN_PLUGIN_PATH"))));
}

TEST_F(RegistryTest, ComponentsAreFoundByKindAndId) {
  add("env", "oracle", "1",
      component("predictor", "oracle.gcn") + "," + component("scorer", "oracle.gcn") + "," +
          component("predictor", "oracle.gin"));
  const Registry registry = discover();
  EXPECT_EQ(registry.component(OMEN_SCORER, "oracle.gcn").info->kind, std::uint32_t{OMEN_SCORER});
  EXPECT_EQ(registry.component(0, "oracle.gcn").info->kind, std::uint32_t{OMEN_PREDICTOR});
  const auto count = [&](std::uint32_t kind) {
    const auto refs = registry.components(kind);
    return std::count_if(refs.begin(), refs.end(), [](const ComponentRef& ref) {
      return ref.plugin->manifest.id == "oracle";
    });
  };
  EXPECT_EQ(count(OMEN_PREDICTOR), 2);
  EXPECT_EQ(count(0), 3);
  EXPECT_THAT(error_of([&] { registry.component(OMEN_PREDICTOR, "oracle.gnc"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("predictor 'oracle.gnc' not found"),
                      HasSubstr("'oracle.gcn'")));
  EXPECT_THAT(
      error_of([&] { registry.component(OMEN_PREDICTOR, "oracle"); }),
      IsError(OMEN_NOT_FOUND, HasSubstr("not found"), HasSubstr("'oracle.gcn' or 'oracle.gin'")));
  EXPECT_THAT(error_of([&] { registry.component(OMEN_PROFILER, "oracle.gin"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("'oracle.gin' is a predictor, not a profiler"),
                      HasSubstr("omen info")));
}

TEST_F(RegistryTest, OneIdInTwoPluginsIsAnError) {
  add("env", "lb", "1", component("frontend", "lb.cl"));
  add("env", "lb-llvm", "1", component("frontend", "lb.cl"));
  const Registry registry = discover();
  EXPECT_THAT(error_of([&] { registry.component(OMEN_GRAPH_FRONTEND, "lb.cl"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("is in two plugins")));
}

TEST(NearNames, RankByDistance) {
  const std::vector<std::string> names = {"oracle.gcn", "oracle.gin", "baseline.mean",
                                          "power.rails"};
  EXPECT_THAT(near_names("oracle.gcm", names), ElementsAre("oracle.gcn", "oracle.gin"));
  EXPECT_THAT(near_names("roacle.gin", names), ElementsAre("oracle.gin", "oracle.gcn"));
  EXPECT_THAT(near_names("mean", names), ElementsAre("baseline.mean"));
  EXPECT_THAT(near_names("power", names), ElementsAre("power.rails"));
  EXPECT_THAT(near_names("zebra", names), IsEmpty());
  EXPECT_THAT(near_names("", names), IsEmpty());
}

}  // namespace
}  // namespace omen::host
