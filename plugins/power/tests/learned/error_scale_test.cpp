// SPDX-License-Identifier: Apache-2.0
// Intervals follow the size of misses, hold on rows that were held back, and survive a file.
#include "learned/error_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <omen/learn/random.hpp>

#include "nets/block_features.hpp"

namespace omen::power {
namespace {

// Misses of rows whose first number is above a half are ten times as large.
Misses drawn(std::size_t rows, std::uint64_t seed) {
  learn::Random random(seed);
  LearnedNet net;
  net.features.assign(kBlockFeatures, 1.0F);
  net.log_share.assign(1, 0.0F);
  Misses made;
  for (std::size_t i = 0; i < rows; ++i) {
    LearnedRow row;
    row.hardware.assign(hardware_width(), 0.0F);
    row.hardware[0] = static_cast<float>(random.uniform());
    made.inputs.push_back(scale_inputs(row, net, {0, 0, 0}));
    made.miss.push_back((row.hardware[0] > 0.5F ? 0.1 : 0.01) * std::abs(random.normal()));
  }
  return made;
}

double covered(const ErrorScale& scale, const Misses& rows) {
  double inside = 0;
  for (std::size_t i = 0; i < rows.miss.size(); ++i)
    inside += rows.miss[i] <= scale.half_width(0.9, rows.inputs[i]);
  return inside / static_cast<double>(rows.miss.size());
}

TEST(ErrorScale, unsure_rows_get_wide_intervals_that_hold) {
  ErrorScale scale;
  scale.fit(drawn(2000, 1), drawn(1000, 2));
  const Misses fresh = drawn(2000, 3);
  EXPECT_NEAR(covered(scale, fresh), 0.9, 0.04);
  double sure = 0, unsure = 0;
  for (const learn::Vector& inputs : fresh.inputs)
    (inputs(0) > 0.5 ? unsure : sure) = scale.half_width(0.9, inputs);
  EXPECT_GT(unsure, 5 * sure);
  EXPECT_GT(scale.half_width(0.99, fresh.inputs[0]), scale.half_width(0.5, fresh.inputs[0]));
}

TEST(ErrorScale, a_file_keeps_it_and_a_broken_one_is_refused) {
  ErrorScale scale, again;
  scale.fit(drawn(500, 1), drawn(300, 2));
  learn::MemoryState state;
  scale.save(state, "misses");
  again.load(state, "misses");
  const Misses asked = drawn(20, 4);
  for (const learn::Vector& inputs : asked.inputs)
    EXPECT_DOUBLE_EQ(scale.half_width(0.9, inputs), again.half_width(0.9, inputs));
  state.put_numbers("misses.ratios", learn::Vector::Zero(1));
  EXPECT_ANY_THROW(again.load(state, "misses"));
}

}  // namespace
}  // namespace omen::power
