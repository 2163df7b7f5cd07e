// SPDX-License-Identifier: Apache-2.0
// Loads by name; trainings that learn something.
#include "work/work_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "omen/testing/errors.hpp"
#if OMEN_INTERFERENCE_NETWORKS
#include "work/device_loops.hpp"
#endif

namespace omen::interference {
namespace {

using test::error_of;
using test::IsError;
using ::testing::_;
using ::testing::HasSubstr;

double mean_loss(Load& load, int steps) {
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    load.step();
    sum += load.loss();
  }
  return sum / steps;
}

TEST(Work, BatchSizesStandBehindAColon) {
  EXPECT_EQ(parse_load("memory").batch, 0);
  const auto message = [](const std::string& name) { return error_of([&] { parse_load(name); }); };
  EXPECT_THAT(message("memory:3"), IsError(OMEN_INVALID_ARGUMENT, HasSubstr("no batch"), _));
  EXPECT_THAT(message("nothing"), IsError(OMEN_INVALID_ARGUMENT, _, HasSubstr("compute, memory")));
  for (const LoadKind& kind : all_loads()) {
    if (kind.batch == 0) continue;
    EXPECT_EQ(parse_load(std::string(kind.name) + ":7").batch, 7);
    for (const char* bad : {":", ":0", ":x", ":-1", ":99999999", ":3x"})
      EXPECT_THAT(message(std::string(kind.name) + bad), IsError(OMEN_INVALID_ARGUMENT, _, _));
  }
}

#if OMEN_INTERFERENCE_NETWORKS
TEST(Work, LoopsRunAsTensorsToo) {
  DeviceLoopSizes small;
  small.side = 16;
  small.memory_words = small.cache_words = 256;
  small.rounds = 2;
  for (const LoopKind kind :
       {LoopKind::kCompute, LoopKind::kMemory, LoopKind::kCache, LoopKind::kIdle}) {
    const std::unique_ptr<Load> load = make_device_loop(kind, c10::Device(c10::kCPU), 1, small);
    for (int i = 0; i < 3; ++i) load->step();
    EXPECT_TRUE(std::isnan(load->loss())) << loop_name(kind);
  }
}
#endif

TEST(Work, TrainingsLearn) {
  // A pole to balance, two networks against each other and a warm-up have no loss that falls.
  const std::vector<std::string> falling = {"classify", "segment"};
  for (const LoadKind& kind : all_loads()) {
    if (kind.batch == 0) continue;
    const std::unique_ptr<Load> load = kind.make(kind.batch, 1);
    const bool falls = std::find(falling.begin(), falling.end(), kind.name) != falling.end();
    const double first = mean_loss(*load, 3);
    if (falls) mean_loss(*load, 40);
    const double last = mean_loss(*load, falls ? 10 : 3);
    EXPECT_TRUE(std::isfinite(last)) << kind.name;
    if (falls) {
      EXPECT_LT(last, 0.95 * first) << kind.name;
    }
  }
}

}  // namespace
}  // namespace omen::interference
