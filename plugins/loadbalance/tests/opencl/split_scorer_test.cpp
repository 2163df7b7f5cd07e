// SPDX-License-Identifier: Apache-2.0
// Shares as candidates, ranked by predicted times.
#include "opencl/split_scorer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omen/testing/ready_run.hpp"

namespace omen::loadbalance {
namespace {

Table workloads(const std::string& divisible) {
  return TableBuilder()
      .add("workload_id", std::vector<std::int64_t>{7})
      .add("input_size", std::vector<double>{65536})
      .add("wgsize", std::vector<double>{64})
      .add_strings("divisible", {divisible})
      .finish();
}

// The same predicted times for every candidate.
Table predictions(const Table& candidates, double first, double second) {
  const auto rows = static_cast<std::size_t>(candidates.rows());
  TableBuilder builder;
  builder.add_column(candidates, candidates.index("workload_id"))
      .add_column(candidates, candidates.index("candidate_id"))
      .add("t_cpu_ms", std::vector<double>(rows, first))
      .add("t_gpu_ms", std::vector<double>(rows, second));
  return builder.finish();
}

struct Ranked {
  double share;
  std::string reason;
  bool all_feasible;
};

Ranked best(const std::string& divisible, double first, double second) {
  SplitScorer scorer{SplitScorerOptions{}};
  const test::ReadyRun run;
  MemoryDataset in;
  in.put("workloads", workloads(divisible));
  const Table candidates = scorer.enumerate(in.view(), run).read_all();
  in.put("candidates", candidates);
  in.put("predictions", predictions(candidates, first, second));
  const Table scores = scorer.score(in.view(), run).read_all();
  Ranked found{-1, "", true};
  const auto ids = scores.column<std::int32_t>("candidate_id");
  const auto ranks = scores.column<std::int32_t>("rank");
  for (std::int64_t row = 0; row < scores.rows(); ++row) {
    found.all_feasible &= scores.boolean(scores.index("feasible"), row);
    if (ranks[row] != 1) continue;
    found.share = candidates.numbers("share")[static_cast<std::size_t>(ids[row])];
    found.reason = scores.strings("reason")[row];
  }
  return found;
}

TEST(SplitScorer, BalancesPredictedTimes) {
  const Ranked found = best("yes", 30, 10);
  EXPECT_NEAR(found.share, 25, 0.5);
  EXPECT_EQ(found.reason, "groups 0 to 63 on the first device, 64 to 255 on the second");
  EXPECT_TRUE(found.all_feasible);
}

TEST(SplitScorer, PrefersOneDeviceWhereASplitGainsNothing) {
  EXPECT_EQ(best("yes", 1000, 1).share, 0);
  EXPECT_EQ(best("yes", 1, 1000).reason, "all groups on the first device");
}

TEST(SplitScorer, RefusesToDivideWithTheReason) {
  const Ranked found = best("atomic_inc on 'x'", 10, 9);
  EXPECT_EQ(found.share, 0);
  EXPECT_FALSE(found.all_feasible);
}

// Candidates, and the reason of the best one, of a kernel that may be cut along some dimensions.
struct Cut {
  Table candidates;
  std::string reason;
};

Cut cut(const char* along, const char* global, const char* local) {
  SplitScorerOptions options;
  options.global = global;
  options.local = local;
  SplitScorer scorer{options};
  const test::ReadyRun run;
  MemoryDataset in;
  in.put("workloads", TableBuilder()
                          .add("workload_id", std::vector<std::int64_t>{7})
                          .add_strings("divisible", {"yes"})
                          .add_strings("divisible_along", {along})
                          .finish());
  Cut made{scorer.enumerate(in.view(), run).read_all(), ""};
  in.put("candidates", made.candidates);
  in.put("predictions", predictions(made.candidates, 10, 9));
  const Table scores = scorer.score(in.view(), run).read_all();
  made.reason = scores.strings("reason")[0];
  return made;
}

TEST(SplitScorer, DividesAlongAllowedDimensionsOnly) {
  const Cut free = cut("0,1,2", "1024,2048", "64,1"), held = cut("0", "1024,2048", "64,1");
  EXPECT_EQ(free.candidates.numbers("dimension")[1], 1);
  EXPECT_EQ(held.candidates.numbers("dimension")[1], 0);
}

TEST(SplitScorer, SaysWhyNoDimensionIsLeft) {
  const Cut none = cut("0", "64,2048", "64,1");
  EXPECT_EQ(none.candidates.rows(), 2) << "one device or the other";
  EXPECT_EQ(none.reason,
            "all groups on the second device; cannot be divided: its work-groups may be divided "
            "along dimension 0 only, and the range has one group there");
}

TEST(SplitScorer, TellsThePredictorOfTheLaunch) {
  const Table candidates = cut("0", "1024,2048", "64,2").candidates;
  EXPECT_EQ(candidates.numbers("wgsize")[0], 128);
  EXPECT_EQ(candidates.numbers("input_size")[0], 4 * 1024 * 2048);
}

TEST(SplitScorer, NeedsSharesAndPredictions) {
  SplitScorer scorer{SplitScorerOptions{}};
  const test::ReadyRun run;
  MemoryDataset in;
  in.put("workloads", workloads("yes"));
  const Table candidates = scorer.enumerate(in.view(), run).read_all();
  in.put("candidates", candidates);
  EXPECT_THROW(scorer.score(in.view(), run), Error);
  in.put("candidates", select(candidates, {"workload_id", "candidate_id"}));
  EXPECT_THROW(scorer.score(in.view(), run), Error);
}

TEST(SplitScorer, FewGroupsGiveFewCandidates) {
  SplitScorerOptions options;
  options.global = "256";
  options.local = "64";
  SplitScorer scorer{options};
  const test::ReadyRun run;
  MemoryDataset in;
  in.put("workloads", workloads("yes"));
  EXPECT_EQ(scorer.enumerate(in.view(), run).read_all().rows(), 5);
}

}  // namespace
}  // namespace omen::loadbalance
