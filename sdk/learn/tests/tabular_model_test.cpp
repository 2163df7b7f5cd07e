// SPDX-License-Identifier: Apache-2.0
// Working scales, classes, intervals, choices of features and persistence around a learner.
#include "omen/learn/tabular_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "omen/learn/errors.hpp"
#include "omen/learn/knn.hpp"
#include "omen/learn/mean.hpp"
#include "omen/learn/random.hpp"
#include "omen/learn/ridge.hpp"

namespace omen::learn {
namespace {

TabularModel ridge(ModelOptions options = {}) {
  return {[] { return std::make_unique<RidgeLearner>(0); }, options};
}

/// x in 1..10^decades, z in 0..1.
Frame power_frame(Index rows, double decades, std::uint64_t seed) {
  Random random(seed);
  Frame frame;
  frame.rows = rows;
  frame.columns.resize(2);
  frame.columns[0].name = "x";
  frame.columns[1].name = "z";
  for (Index row = 0; row < rows; ++row) {
    frame.columns[0].numbers.push_back(std::pow(10, decades * random.uniform()));
    frame.columns[1].numbers.push_back(random.uniform());
  }
  return frame;
}

Target power_target(const Frame& frame) {
  Target target{"time_ms", {}, {}, {}};
  for (Index row = 0; row < frame.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    target.numbers.push_back(0.5 * std::pow(frame.columns[0].numbers[at], 1.5) *
                             (1 + 0.1 * frame.columns[1].numbers[at]));
  }
  return target;
}

TEST(TabularModel, LearnsAPowerLawThroughLogarithms) {
  const Frame train = power_frame(120, 3, 1), fresh = power_frame(50, 3, 2);
  TabularModel model = ridge();
  const auto reports = model.fit(train, {power_target(train)}, {}, {});
  EXPECT_EQ(reports[0].loss_name, "cv_rmse_log");
  EXPECT_THAT(reports[0].knobs, testing::HasSubstr("log features"));
  const Prediction prediction = model.predict(fresh, 0.9, {});
  const Target truth = power_target(fresh);
  for (Index row = 0; row < 50; ++row) {
    EXPECT_NEAR(prediction.targets[0].value[row] / truth.numbers[static_cast<std::size_t>(row)], 1,
                0.05);
  }
}

TEST(TabularModel, LogTargetFollowsItsOption) {
  const Frame train = power_frame(60, 3, 1);
  EXPECT_EQ(ridge({LogMode::kOff, LogMode::kAuto, 5})
                .fit(train, {power_target(train)}, {}, {})[0]
                .loss_name,
            "cv_rmse");
  const Frame narrow = power_frame(60, 1, 1);
  EXPECT_EQ(ridge().fit(narrow, {power_target(narrow)}, {}, {})[0].loss_name, "cv_rmse");
  EXPECT_EQ(ridge({LogMode::kOn, LogMode::kAuto, 5})
                .fit(narrow, {power_target(narrow)}, {}, {})[0]
                .loss_name,
            "cv_rmse_log");
  Target signed_target = power_target(narrow);
  signed_target.numbers[7] = -1;
  EXPECT_THROW(ridge({LogMode::kOn, LogMode::kAuto, 5}).fit(narrow, {signed_target}, {}, {}),
               Error);
  EXPECT_NO_THROW(ridge().fit(narrow, {signed_target}, {}, {}));
}

TEST(TabularModel, LogFeaturesAreKeptOnlyWhereTheyHelp) {
  const Frame train = power_frame(150, 3, 3);
  Target straight{"y", train.columns[0].numbers, {}, {}};
  straight.numbers[0] = -1;  // not positive, so no logarithm of the target
  EXPECT_THAT(ridge().fit(train, {straight}, {}, {})[0].knobs,
              testing::Not(testing::HasSubstr("log")));
  Target curved = straight;
  for (double& value : curved.numbers) value = std::log(std::abs(value)) - 1;
  EXPECT_THAT(ridge().fit(train, {curved}, {}, {})[0].knobs, testing::HasSubstr("log features"));
}

TEST(TabularModel, IntervalsCoverFreshRowsNearTheirLevel) {
  Random random(5);
  const auto noisy = [&](const Frame& frame) {
    Target target{"y", {}, {}, {}};
    for (const double z : frame.columns[1].numbers)
      target.numbers.push_back(z + random.uniform() - 0.5);
    return target;
  };
  const Frame train = power_frame(300, 1, 6), fresh = power_frame(1000, 1, 7);
  TabularModel model = ridge();
  model.fit(train, {noisy(train)}, {}, {});
  const Target truth = noisy(fresh);
  for (const double level : {0.5, 0.9}) {
    const Prediction prediction = model.predict(fresh, level, {});
    const TargetPrediction& target = prediction.targets[0];
    int covered = 0;
    for (Index row = 0; row < 1000; ++row) {
      const double y = truth.numbers[static_cast<std::size_t>(row)];
      covered += target.lo[row] <= y && y <= target.hi[row] ? 1 : 0;
    }
    EXPECT_NEAR(covered / 1000.0, level, 0.06);
  }
}

TEST(TabularModel, ClassesKeepTheirOrderAndUnseenOnesGetNothing) {
  const Frame train = power_frame(90, 1, 8);
  Target device{"device", {}, {}, {"never", "gpu", "cpu"}};
  for (const double z : train.columns[1].numbers) device.codes.push_back(z > 0.5 ? 1 : 2);
  device.codes[3] = -1;
  TabularModel model = ridge();
  model.fit(train, {device, power_target(train)}, {}, {});
  const Prediction prediction = model.predict(train, 0.9, {});
  const TargetPrediction& answer = prediction.targets[0];
  EXPECT_THAT(answer.classes, testing::ElementsAre("never", "gpu", "cpu"));
  EXPECT_EQ(answer.probability.col(0).maxCoeff(), 0);
  int right = 0;
  for (std::size_t row = 0; row < 90; ++row)
    right += answer.codes[row] == device.codes[row] ? 1 : 0;
  EXPECT_GT(right, 80);
  EXPECT_EQ(prediction.targets[1].name, "time_ms");
}

TEST(TabularModel, ASingleClassIsCertain) {
  const Frame train = power_frame(10, 1, 9);
  TabularModel model = ridge();
  model.fit(train, {{"device", {}, std::vector<std::int32_t>(10, 1), {"a", "b"}}}, {}, {});
  const Prediction prediction = model.predict(train, 0.9, {});
  EXPECT_EQ(prediction.targets[0].codes[4], 1);
  EXPECT_EQ(prediction.targets[0].probability(4, 1), 1);
}

TEST(TabularModel, FarExtrapolationStaysFinite) {
  const Frame train = power_frame(100, 3, 10);
  TabularModel model = ridge({LogMode::kAuto, LogMode::kOff, 5});
  model.fit(train, {power_target(train)}, {}, {});
  Frame far = power_frame(1, 1, 11);
  far.columns[0].numbers[0] = 1e15;
  const Prediction prediction = model.predict(far, 0.9, {});
  EXPECT_TRUE(std::isfinite(prediction.targets[0].value[0]));
  EXPECT_TRUE(std::isfinite(prediction.targets[0].hi[0]));
  EXPECT_TRUE(prediction.extrapolating[0]);
}

TEST(TabularModel, GroupsDecideWhatIsHeldOut) {
  // The target is a property of the group, which a feature gives away: rows of the same group in
  // both parts would make the neighbours look perfect.
  Frame train = power_frame(120, 1, 12);
  Target target{"y", {}, {}, {}};
  std::vector<std::int32_t> groups;
  Random random(13);
  std::vector<double> level;
  for (int group = 0; group < 12; ++group) level.push_back(random.uniform() * 100);
  for (int row = 0; row < 120; ++row) {
    groups.push_back(row % 12);
    train.columns[0].numbers[static_cast<std::size_t>(row)] = row % 12;
    train.columns[1].numbers[static_cast<std::size_t>(row)] = 0;
    target.numbers.push_back(level[static_cast<std::size_t>(row % 12)]);
  }
  const auto knn = [] {
    return TabularModel([] { return std::make_unique<KnnLearner>(KnnOptions{}); }, {});
  };
  EXPECT_LT(knn().fit(train, {target}, {}, {})[0].loss, 1e-9);
  EXPECT_GT(knn().fit(train, {target}, groups, {})[0].loss, 10);
}

TEST(TabularModel, RefusesToLearnFromNothing) {
  const Frame train = power_frame(5, 1, 14);
  EXPECT_THROW(ridge().fit({}, {power_target({})}, {}, {}), Error);
  EXPECT_THROW(ridge().fit(train, {}, {}, {}), Error);
  EXPECT_THROW(ridge().fit(train, {{"y", std::vector<double>(5, kUnknown), {}, {}}}, {}, {}),
               Error);
  EXPECT_THROW(ridge().fit(train, {{"y", {}, std::vector<std::int32_t>(5, -1), {"a"}}}, {}, {}),
               Error);
}

TEST(TabularModel, OneRowIsEnough) {
  const Frame train = power_frame(1, 1, 15);
  TabularModel model = ridge();
  model.fit(train, {{"y", {3.5}, {}, {}}}, {0}, {});
  const Prediction prediction = model.predict(train, 0.9, {});
  EXPECT_DOUBLE_EQ(prediction.targets[0].value[0], 3.5);
  EXPECT_TRUE(std::isnan(prediction.targets[0].lo[0]));
}

TEST(TabularModel, SaveAndLoadGiveTheSamePrediction) {
  const Frame train = power_frame(80, 3, 16);
  Target device{"device", {}, {}, {"gpu", "cpu"}};
  for (const double z : train.columns[1].numbers) device.codes.push_back(z > 0.5 ? 1 : 0);
  TabularModel model = ridge(), loaded = ridge();
  model.fit(train, {power_target(train), device}, {}, {});
  MemoryState state;
  model.save(state);
  loaded.load(state);
  const Prediction a = model.predict(train, 0.8, {}), b = loaded.predict(train, 0.8, {});
  EXPECT_EQ(a.targets[0].value, b.targets[0].value);
  EXPECT_EQ(a.targets[0].lo, b.targets[0].lo);
  EXPECT_EQ(a.targets[1].probability, b.targets[1].probability);
  EXPECT_EQ(b.targets[1].classes, device.classes);
}

TEST(TabularModel, DamagedModelsAreRefused) {
  const Frame train = power_frame(30, 3, 17);
  TabularModel model = ridge();
  model.fit(train, {power_target(train)}, {}, {});
  MemoryState good;
  model.save(good);
  for (const auto& [name, tensor] : good.tensors) {
    MemoryState bad = good;
    bad.tensors.erase(name);
    EXPECT_THROW(ridge().load(bad), Error) << name;
  }
  good.put_integers("target.0.seen", {5});
  EXPECT_THROW(ridge().load(good), Error);
}

}  // namespace
}  // namespace omen::learn
