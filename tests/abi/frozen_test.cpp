// SPDX-License-Identifier: Apache-2.0
// A plugin built against the frozen header of ABI 0.1 loads and runs; other versions are refused by
// name.
#include <gtest/gtest.h>

#include "components/component.hpp"
#include "components/loader.hpp"
#include "components/registry.hpp"
#include "components/run_context.hpp"
#include "omen/container.hpp"
#include "omen/dataset.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

using test::error_of;
using test::IsError;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::filesystem::path kFixtures = OMEN_TEST_BUILD_DIR "/fixtures";

LoadedPlugin& frozen() {
  static LoadedPlugin& plugin = load_plugin(read_manifest(kFixtures / "frozen/plugin.json"));
  return plugin;
}

PredictorHandle make_predictor(const char* scale) {
  OptionSources sources;
  sources.flags = {{"scale", scale}};
  const ComponentInfo& info = *frozen().manifest().component(OMEN_PREDICTOR, "frozen.ids");
  return PredictorHandle(frozen().vtable<omen_predictor_vt>(OMEN_PREDICTOR, "frozen.ids"),
                         resolve_options(info, sources));
}

void expect_costs(PredictorHandle& predictor, const std::vector<double>& wanted) {
  MemoryDataset data;
  data.put("workloads", TableBuilder().add<std::int64_t>("workload_id", {1, 2, 30}).finish());
  data.set_batch_rows(2);
  const RunContext run(RunSettings{});
  const Table rows = predictor.predict(run.c(), data.c()).read_all();
  rows.validate();
  EXPECT_EQ(rows.numbers("cost_ms"), wanted);
  EXPECT_EQ(rows.strings("status")[2], "ok");
}

TEST(FrozenPlugin, PredictsThroughTheCurrentHost) {
  PredictorHandle predictor = make_predictor("3");
  expect_costs(predictor, {3, 6, 90});
}

TEST(FrozenPlugin, SavesAndLoads) {
  PredictorHandle trained = make_predictor("7");
  container::Writer writer;
  trained.save(writer.sink());
  const test::TempDir dir;
  writer.write(dir.path() / "m.omen");
  const auto reader = container::Reader::open(dir.path() / "m.omen");
  PredictorHandle fresh = make_predictor("1");
  fresh.load(reader.source());
  expect_costs(fresh, {7, 14, 210});
}

TEST(FrozenPlugin, ReportsErrorsAcrossTheBoundary) {
  PredictorHandle predictor = make_predictor("1");
  MemoryDataset data;
  data.put("workloads", TableBuilder().add<double>("x", {1}).finish());
  const RunContext run(RunSettings{});
  EXPECT_THAT(error_of([&] { predictor.predict(run.c(), data.c()); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("no int64 column workload_id"), "Add one."));
}

// A manifest for a library that omen-manifest itself would refuse.
Manifest claim(const std::string& id, std::uint32_t major, std::uint32_t minor) {
  Manifest manifest = frozen().manifest();
  manifest.directory = kFixtures / id;
  manifest.library = "lib" + id + ".so";
  manifest.id = id;
  manifest.sha256 = container::sha256_file(manifest.directory / manifest.library);
  manifest.abi_major = major;
  manifest.abi_minor = minor;
  return manifest;
}

TEST(OtherVersions, NewerMinorIsRefusedFromItsManifest) {
  EXPECT_THAT(error_of([] { load_plugin(claim("newerminor", 0, OMEN_ABI_MINOR + 1)); }),
              IsError(OMEN_UNSUPPORTED,
                      AllOf(HasSubstr("ABI 0.2"), HasSubstr("newer than this host's 0.1")),
                      HasSubstr("omen as new as the plugin")));
}

TEST(OtherVersions, NewerMinorIsRefusedByTheLibraryWhereTheManifestLies) {
  EXPECT_THAT(error_of([] { load_plugin(claim("newerminor", 0, OMEN_ABI_MINOR)); }),
              IsError(OMEN_UNSUPPORTED, HasSubstr("ABI 0.2")));
}

TEST(OtherVersions, OtherMajorIsRefusedNamingBoth) {
  EXPECT_THAT(
      error_of([] { load_plugin(claim("othermajor", 1, 1)); }),
      IsError(OMEN_UNSUPPORTED, AllOf(HasSubstr("ABI 1.1"), HasSubstr("this host has 0.1"))));
  EXPECT_THAT(
      error_of([] { load_plugin(claim("othermajor", 0, 1)); }),
      IsError(OMEN_UNSUPPORTED, AllOf(HasSubstr("ABI 1.1"), HasSubstr("this host has 0.1"))));
}

TEST(OtherVersions, ManifestToolRefusesThemToo) {
  EXPECT_THAT(error_of([] { describe_library(kFixtures / "newerminor/libnewerminor.so"); }),
              IsError(OMEN_UNSUPPORTED, HasSubstr("0.2")));
}

}  // namespace
}  // namespace omen::host
