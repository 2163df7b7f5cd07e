// SPDX-License-Identifier: Apache-2.0
// Mappings become counts, and counts cycles.
#include <gtest/gtest.h>

#include <cmath>

#include "gemmini/cycle_model.hpp"

namespace omen::power {
namespace {

constexpr const char* kTall = "L3[WIO] K48 - L2[WI] N1 K16X - L1[O] C48 P16 C16X - L0[W] P8";

TEST(GemminiMapping, a_product_of_matrices_is_counted_by_hand) {
  const auto work = tile({768, 768, 128, 1, 1, 1}, 1, kTall);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->tiles, 48);
  EXPECT_EQ(work->full_rows, 48 * 48 * 128.0);    // 48 blocks of depth, 128 rows each
  EXPECT_EQ(work->blocks, 0);                     // 128 rows fill all blocks
  EXPECT_EQ(work->weight_far_parts, 48 * 768.0);  // 16 of 768 bytes a row, one line each
  EXPECT_EQ(work->input_lines, 128 * 12.0);       // stay while filters change
  EXPECT_EQ(work->output_rows, 48 * 128.0);
  EXPECT_EQ(work->sums_moved, 0);
}

TEST(GemminiMapping, blocks_of_products_are_as_wide_as_the_mapping_spreads) {
  const char* narrow = "L3[WIO] C8 K8 - L2[WI] N1 K4X - L1[O] K4 C4 C4X - L0[W] N1";
  const auto work = tile({128, 128, 1, 1, 1, 1}, 1, narrow);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->tiles, 32 * 32.0);             // 16 channels by 16 filters act as 4 by 4
  EXPECT_EQ(work->weight_again, 32 * 32 * 4.0);  // 4 rows each
  EXPECT_EQ(tile({128, 128, 1, 3, 1, 1}, 1,
                 "L3[WIO] C8 K8 Q3 - L2[WI] N1 K4X - L1[O] K4 C4 C4X - L0[W] N1")
                ->tiles,
            192);
}

TEST(GemminiMapping, broken_texts_and_short_mappings_are_refused) {
  EXPECT_FALSE(tile({768, 768, 128, 1, 1, 1}, 1, ""));
  EXPECT_FALSE(tile({768, 768, 128, 1, 1, 1}, 1, "L3[WIO] K48"));
  EXPECT_FALSE(tile({768, 768, 128, 1, 1, 1}, 1, "L3[WIO] Z48 - L2[WI] N1 - L1[O] N1 - L0[W] N1"));
  EXPECT_FALSE(tile({768, 1024, 128, 1, 1, 1}, 1, kTall));  // 768 filters of 1024
}

TEST(GemminiCycles, memory_that_costs_twice_is_learnt) {
  std::vector<MeasuredCycles> rows;
  for (const double outer : {1, 2, 4, 8, 16, 32})
    for (const double rows_inside : {1, 2, 4, 8}) {
      const std::string mapping = "L3[WIO] K" + std::to_string(static_cast<int>(outer)) +
                                  " - L2[WI] N1 K16X - L1[O] C16 C16X - L0[W] P" +
                                  std::to_string(static_cast<int>(rows_inside));
      const auto work = tile({256, 16 * outer, rows_inside, 1, 1, 1}, 1, mapping);
      ASSERT_TRUE(work);
      rows.push_back({*work, 500 + 100 * outer + 40 * 256 * outer, mapping.substr(0, 11)});
    }
  CycleModel model;
  model.fit(rows);
  EXPECT_NEAR(model.cycles(rows[12].work) / rows[12].cycles, 1, 0.2);
  EXPECT_EQ(model.misses().size(), rows.size());
}

}  // namespace
}  // namespace omen::power
