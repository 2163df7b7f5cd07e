// SPDX-License-Identifier: Apache-2.0
// Plans of windows, their rates as rows, and loads that stop and go on; no figure depends on the
// clock.
#include "measure/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "measure/corun_table.hpp"
#include "measure/csv_file.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

using test::error_of;
using test::IsError;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

TEST(Campaign, EveryRoundHasEachLoadAndEachPairOnce) {
  CampaignOptions options;
  options.repeats = 3;
  const std::vector<CampaignWindow> plan = plan_campaign(4, options);
  // Four alone, ten pairs in each of two places.
  ASSERT_EQ(plan.size(), 3U * (4 + 2 * 10));
  std::set<std::tuple<int, Place, int, int>> unique;
  for (const CampaignWindow& window : plan)
    unique.insert({window.repeat, window.place, window.load[0], window.load[1]});
  EXPECT_EQ(unique.size(), plan.size());
  EXPECT_THAT(error_of([] { parse_place("alone"); }), IsError(OMEN_INVALID_ARGUMENT, _, _));
}

// Windows whose rates are known become speeds, features and probes.
TEST(Campaign, RatesBecomeDirectedRows) {
  CampaignOptions options;
  options.repeats = 2;
  std::vector<CampaignWindow> windows = plan_campaign(2, options);
  for (CampaignWindow& window : windows) {
    const bool alone = window.place == Place::kAlone;
    window.rate_per_s[0] = alone ? 100 : window.place == Place::kOneCore ? 50 : 90;
    window.rate_per_s[1] = alone ? 0 : window.place == Place::kOneCore ? 40 : 80;
    window.cpu_share[0] = 1;
    window.memory_mib = 10;
  }
  const Table rows = corun_table({{"memory", "loop", true}, {"job", "own", false}}, windows);
  ASSERT_EQ(rows.rows(), 8);
  EXPECT_THAT(rows.numbers("rho"), Each(AllOf(Gt(0.39), Lt(0.91))));
  EXPECT_DOUBLE_EQ(rows.numbers("util_pct")[0], 50);   // one of two cores
  EXPECT_DOUBLE_EQ(rows.numbers("util_pct")[7], 100);  // all of one
  EXPECT_DOUBLE_EQ(rows.numbers("step_ms")[0], 10);
  EXPECT_EQ(rows.strings(rows.index("mode"))[0], "two-cores");
  // The second row is memory beside job, the third job beside memory.
  EXPECT_DOUBLE_EQ(rows.numbers("partner_beside_memory")[1], rows.numbers("rho")[2]);
  EXPECT_DOUBLE_EQ(rows.numbers("partner_slows_memory")[1], rows.numbers("rho")[1]);
}

// A script that marks a step with every turn stands in for a load.
TEST(Campaign, StopsGoesOnAndKeepsAJournal) {
  const test::TempDir directory;
  CampaignOptions options;
  options.directory = directory.path();
  options.journal = directory.path() / "journal";
  options.repeats = 1;
  options.window_s = 0.4;
  options.warmup_s = 0.05;
  options.places = {Place::kOneCore};
  const std::string marker =
      "while :; do read up rest < /proc/uptime; echo \"${up%.*}${up#*.}0000000 step\" >> "
      "\"$OMEN_MARK_FILE\"; sleep 0.01; done";
  const std::vector<CampaignLoad> loads = {{"ticking", {"bash", "-c", marker}}};
  const std::vector<CampaignWindow> first = run_campaign(loads, options, [](double) {});
  ASSERT_EQ(first.size(), 2U);
  for (const CampaignWindow& window : first) EXPECT_GT(window.rate_per_s[0], 0);
  // Everything is in the journal: nothing is measured again.
  const std::vector<CampaignWindow> again = run_campaign(loads, options, [](double) {});
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_DOUBLE_EQ(again[i].rate_per_s[0], first[i].rate_per_s[0]);
}

TEST(Campaign, LoadsThatEndAreNamed) {
  const test::TempDir directory;
  CampaignOptions options;
  options.directory = directory.path();
  options.places = {Place::kOneCore};
  EXPECT_THAT(error_of([&] {
                run_campaign({{"gone", {"sh", "-c", "exit 4"}}}, options, [](double) {});
              }),
              IsError(OMEN_UNAVAILABLE, HasSubstr("'gone' ended with code 4"), _));
}

TEST(CsvFile, QuotesAndLeavesGaps) {
  const test::TempDir directory;
  write_csv(TableBuilder()
                .add_strings("name", {"a,b", "say \"x\""})
                .add("value", std::vector<double>{1.5, 0})
                .valid({true, false})
                .finish(),
            directory.path() / "t.csv");
  EXPECT_EQ(read_bytes((directory.path() / "t.csv").string()),
            "name,value\n\"a,b\",1.5\n\"say \"\"x\"\"\",\n");
}

}  // namespace
}  // namespace omen::interference
