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
  add("flag", "driple", "3");
  add("env", "driple", "2");
  add("home/omen/plugins", "driple", "1");
  add("env", "alpha");
  const Registry registry = discover({dir_.path() / "flag"});
  EXPECT_EQ(registry.plugin("driple").manifest.version, "3");
  std::vector<std::string> shown;
  for (const FoundPlugin& found : mine(registry))
    shown.push_back(found.manifest.id + found.manifest.version +
                    (found.shadowed_by.empty() ? "" : " shadowed"));
  EXPECT_THAT(shown, ElementsAre("alpha1", "driple3", "driple2 shadowed", "driple1 shadowed"));
  EXPECT_EQ(mine(registry)[2].shadowed_by, (dir_.path() / "flag/driple").string());
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
  add("env", "driple");
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
  add("env", "driple");
  const Registry registry = discover({dir_.path() / "flag"});
  EXPECT_THAT(error_of([&] { registry.plugin("dripl"); }),
              IsError(OMEN_NOT_FOUND,
                      AllOf(HasSubstr("plugin 'dripl' not found\nlooked in: "),
                            HasSubstr((dir_.path() / "env").string()),
                            HasSubstr((dir_.path() / "flag").string() + " (absent)")),
                      AllOf(HasSubstr("did you mean 'driple'?"), HasSubstr("omen list"),
                            HasSubstr("OMEN_PLUGIN_PATH"))));
}

TEST_F(RegistryTest, ComponentsAreFoundByKindAndId) {
  add("env", "driple", "1",
      component("predictor", "driple.gcn") + "," + component("scorer", "driple.gcn") + "," +
          component("predictor", "driple.gin"));
  const Registry registry = discover();
  EXPECT_EQ(registry.component(OMEN_SCORER, "driple.gcn").info->kind, std::uint32_t{OMEN_SCORER});
  EXPECT_EQ(registry.component(0, "driple.gcn").info->kind, std::uint32_t{OMEN_PREDICTOR});
  const auto count = [&](std::uint32_t kind) {
    const auto refs = registry.components(kind);
    return std::count_if(refs.begin(), refs.end(), [](const ComponentRef& ref) {
      return ref.plugin->manifest.id == "driple";
    });
  };
  EXPECT_EQ(count(OMEN_PREDICTOR), 2);
  EXPECT_EQ(count(0), 3);
  EXPECT_THAT(error_of([&] { registry.component(OMEN_PREDICTOR, "driple.gnc"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("predictor 'driple.gnc' not found"),
                      HasSubstr("'driple.gcn'")));
  EXPECT_THAT(
      error_of([&] { registry.component(OMEN_PREDICTOR, "driple"); }),
      IsError(OMEN_NOT_FOUND, HasSubstr("not found"), HasSubstr("'driple.gcn' or 'driple.gin'")));
  EXPECT_THAT(error_of([&] { registry.component(OMEN_PROFILER, "driple.gin"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("'driple.gin' is a predictor, not a profiler"),
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
  const std::vector<std::string> names = {"driple.gcn", "driple.gin", "baseline.mean",
                                          "power.rails"};
  EXPECT_THAT(near_names("driple.gcm", names), ElementsAre("driple.gcn", "driple.gin"));
  EXPECT_THAT(near_names("dirple.gin", names), ElementsAre("driple.gin", "driple.gcn"));
  EXPECT_THAT(near_names("mean", names), ElementsAre("baseline.mean"));
  EXPECT_THAT(near_names("power", names), ElementsAre("power.rails"));
  EXPECT_THAT(near_names("zebra", names), IsEmpty());
  EXPECT_THAT(near_names("", names), IsEmpty());
}

}  // namespace
}  // namespace omen::host
