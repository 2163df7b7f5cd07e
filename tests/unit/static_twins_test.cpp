// SPDX-License-Identifier: Apache-2.0
// Two plugins with different versions of one static library answer side by side in one process.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "components/component.hpp"
#include "components/loader.hpp"
#include "components/run_context.hpp"

namespace {

using omen::host::LoadedPlugin;
using omen::host::OptionSources;
using omen::host::PredictorHandle;

class Twin {
 public:
  explicit Twin(const std::string& id)
      : plugin_(omen::host::load_plugin(omen::host::read_manifest(
            std::filesystem::path(OMEN_TEST_BUILD_DIR) / "fixtures" / id / "plugin.json"))),
        handle_(
            plugin_.vtable<omen_predictor_vt>(OMEN_PREDICTOR, id + ".scale"),
            omen::host::resolve_options(
                *plugin_.manifest().component(OMEN_PREDICTOR, id + ".scale"), OptionSources{})) {}

  omen::Table predict(double size) {
    omen::MemoryDataset in;
    in.put("workloads", omen::TableBuilder()
                            .add("workload_id", std::vector<std::int64_t>{1})
                            .add("size", std::vector<double>{size})
                            .finish());
    omen::host::RunContext run({});
    return handle_.predict(run.c(), in.c()).read_all();
  }
  std::string version() const { return plugin_.descriptor().version; }

 private:
  LoadedPlugin& plugin_;
  PredictorHandle handle_;
};

TEST(StaticTwins, EachPluginKeepsItsOwnCodeAndState) {
  Twin first("twin1");
  // The control run of the acceptance check loads one plugin twice, which must fail below.
  const char* broken = std::getenv("OMEN_SHOW_BREAK");
  Twin second(broken != nullptr && *broken != '\0' ? "twin1" : "twin2");
  EXPECT_EQ(first.version(), "1.0");
  EXPECT_EQ(second.version(), "2.0");
  for (int round = 1; round <= 3; ++round) {
    const omen::Table one = first.predict(10.0);
    const omen::Table two = second.predict(10.0);
    EXPECT_EQ(one.numbers("cost")[0], 10.0);
    EXPECT_EQ(two.numbers("cost")[0], 20.0);
    EXPECT_EQ(one.numbers("calls")[0], round) << "the twins share an inline variable";
    EXPECT_EQ(two.numbers("calls")[0], round) << "the twins share an inline variable";
  }
}

}  // namespace
