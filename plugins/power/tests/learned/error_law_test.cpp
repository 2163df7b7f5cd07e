// SPDX-License-Identifier: Apache-2.0
// Curves of errors over data come back, and parts of a dataset keep networks whole.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "learned/error_law.hpp"
#include "learned/trial_rows.hpp"
#include "omen/testing/errors.hpp"

namespace omen::power {
namespace {

TEST(ErrorLaw, a_curve_comes_back) {
  const std::vector<double> amount = {0.125, 0.25, 0.5, 1};
  std::vector<double> error;
  for (const double n : amount) error.push_back(1.5 + 2 * std::pow(n, -0.6));
  const ErrorLaw law = fit_error_law(amount, error);
  EXPECT_NEAR(law.at(1), 3.5, 0.01);
  EXPECT_NEAR(law.at(2), 1.5 + 2 * std::pow(2, -0.6), 0.03);
}

TEST(ErrorLaw, flat_errors_promise_nothing) {
  const ErrorLaw law = fit_error_law({0.25, 0.5, 1}, {2, 2, 2});
  EXPECT_NEAR(law.at(2), law.at(1), 1e-6);
}

TEST(ErrorLaw, one_amount_is_too_little) {
  EXPECT_THAT(test::error_of([] {
                fit_error_law({1, 1}, {2, 3});
              }),
              test::IsError(OMEN_INVALID_DATA, testing::HasSubstr("one amount"), testing::_));
}

// Ten rows of each network; all costs are known.
LearnedRows made_rows(int networks) {
  LearnedRows rows;
  for (int net = 0; net < networks; ++net) {
    rows.nets.emplace_back();
    for (int i = 0; i < 10; ++i) {
      LearnedRow row;
      row.workload_id = 10 * net + i;
      row.net = net;
      row.group = "net" + std::to_string(net);
      rows.rows.push_back(row);
    }
  }
  return rows;
}

TEST(Trials, networks_are_held_out_whole) {
  const TrialRows parts = split_trials(made_rows(20), 0.25, 1);
  EXPECT_EQ(networks_in(parts.held), 5);
  EXPECT_EQ(networks_in(parts.seen), 15);
  EXPECT_EQ(parts.held.rows.size(), 50);
  EXPECT_EQ(parts.seen.rows.size(), 150);
}

TEST(Trials, parts_grow_by_networks_or_by_rows) {
  const LearnedRows rows = made_rows(16);
  const LearnedRows few = part_of_networks(rows, 0.25, 3), more = part_of_networks(rows, 0.5, 3);
  EXPECT_EQ(networks_in(few), 4);
  std::set<std::string> kept;
  for (const LearnedRow& row : more.rows) kept.insert(row.group);
  for (const LearnedRow& row : few.rows) EXPECT_TRUE(kept.count(row.group));
  const LearnedRows thin = part_of_rows(rows, 0.2, 3);
  EXPECT_EQ(networks_in(thin), 16);
  EXPECT_EQ(thin.rows.size(), 32);
}

TEST(Trials, too_few_networks_are_refused) {
  EXPECT_THAT(
      test::error_of([] { split_trials(made_rows(3), 0.2, 1); }),
      test::IsError(OMEN_INVALID_DATA, testing::HasSubstr("at least 4 networks"), testing::_));
}

}  // namespace
}  // namespace omen::power
