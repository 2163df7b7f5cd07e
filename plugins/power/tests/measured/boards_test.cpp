// SPDX-License-Identifier: Apache-2.0
// Names of networks and systems, and a model that learns a new board from some rows.
#include <gtest/gtest.h>

#include <cmath>

#include "measured/board_model.hpp"

namespace omen::power {
namespace {

TEST(NetName, both_spellings_and_precisions_are_one_net) {
  const auto plain = parse_net("mobilenet-v2-0.75-192-non-quantized"),
             narrow = parse_net("mobilenet-v2-0.75-192-quantized"),
             other = parse_net("mobilenet-v2-precision_uint8-0.75-192");
  ASSERT_TRUE(plain && narrow && other);
  EXPECT_EQ(plain->net, narrow->net);
  EXPECT_EQ(plain->net, other->net);
  EXPECT_FALSE(plain->name.whole);
  EXPECT_TRUE(narrow->name.whole && other->name.whole);
  EXPECT_FALSE(parse_net("ssd-mobilenet"));
  EXPECT_FALSE(parse_net("resnet50"));
}

TEST(BoardModel, ten_rows_teach_a_new_board) {
  std::vector<MeasuredBoard> rows, own;
  const auto row_of = [](const char* system, double speed, double width, double pixels) {
    char name[64];
    std::snprintf(name, sizeof name, "mobilenet-v1-%.2f-%g-quantized", width, pixels);
    const NamedNet net = *parse_net(name);
    return MeasuredBoard{
        {net, system, board_of(system), runtime_of(system)}, 5, std::exp(net.sizes[0]) / speed};
  };
  for (const double width : {0.25, 0.5, 0.75, 1.0})
    for (const double pixels : {128.0, 160.0, 192.0, 224.0}) {
      rows.push_back(row_of("rpi4-tflite", 1e4, width, pixels));
      own.push_back(row_of("vim4-tflite", 4e4, width, pixels));
    }
  BoardModel model;
  model.fit(rows);
  EXPECT_FALSE(model.knows(own[0].row));
  const double before = model.ask(own[15].row).spread;
  std::vector<MeasuredBoard> seen(own.begin(), own.begin() + 9);
  seen.push_back(own[14]);
  model.observe(seen);
  EXPECT_TRUE(model.knows(own[0].row));
  EXPECT_LT(model.ask(own[15].row).spread, before);
  EXPECT_NEAR(model.ask(own[15].row).joules() / (own[15].watts * own[15].seconds), 1, 0.25);
}

}  // namespace
}  // namespace omen::power
