// SPDX-License-Identifier: Apache-2.0
// What packing costs and saves, what forbids it, and who is paired with whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <omen/learn/random.hpp>

#include "omen/testing/csv_table.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/temp_dir.hpp"
#include "pack/corun_notes.hpp"
#include "pack/matching.hpp"
#include "pack/pack_scorer.hpp"

namespace omen::interference {
namespace {

using test::csv_table;
using test::error_of;
using test::IsError;
using ::testing::HasSubstr;

TEST(Packing, ClosedFormEqualsItsDefinition) {
  learn::Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const PairTimes alone{1 + 99 * random.uniform(), 1 + 99 * random.uniform()};
    const PairSpeeds speeds{0.05 + 0.95 * random.uniform(), 0.05 + 0.95 * random.uniform()};
    const Packing packed = pack_pair(alone, speeds);
    const std::vector<double> ends =
        run_together({alone.first, alone.second}, [&](const std::vector<std::size_t>& running) {
          if (running.size() == 1) return std::vector<double>{1};
          return std::vector<double>{speeds.first, speeds.second};
        });
    EXPECT_NEAR(packed.together.first, ends[0], 1e-9 * ends[0]);
    EXPECT_NEAR(packed.together.second, ends[1], 1e-9 * ends[1]);
    // Packing pays exactly where the speeds sum to more than one.
    EXPECT_EQ(packed.saving > 1e-12, speeds.first + speeds.second > 1 + 1e-12);
    const bool first_ends = ends[0] <= ends[1];
    const double early = first_ends ? speeds.first : speeds.second;
    const double time = first_ends ? alone.first : alone.second;
    EXPECT_NEAR(packed.saving,
                time / (alone.first + alone.second) * (speeds.first + speeds.second - 1) / early,
                1e-12);
    const PairSpeeds back = speeds_from_times(alone, packed.together);
    EXPECT_NEAR(back.first, speeds.first, 1e-9);
    EXPECT_NEAR(back.second, speeds.second, 1e-9);
  }
}

TEST(Packing, RefusesNegativeTimes) {
  EXPECT_THAT(
      error_of([] {
        pack_pair({-1, 2}, {1, 1});
      }),
      IsError(OMEN_INVALID_ARGUMENT, HasSubstr("times of a pair must be above 0"), ::testing::_));
}

QueuedJob job_named(const char* name) {
  QueuedJob job;
  job.name = name;
  job.solo_s = 100;
  return job;
}
constexpr Speed kGood{0.9, 0.85, 0.95, false}, kBad{0.4, 0.3, 0.5, false};

TEST(Policy, MemoryIsNeverTradedForSpeed) {
  QueuedJob a = job_named("a"), b = job_named("b");
  a.memory_mib = 9000;
  b.memory_mib = 7000;
  for (const PackPolicy policy :
       {PackPolicy::kProtect, PackPolicy::kPack, PackPolicy::kBalanced, PackPolicy::kDeadline}) {
    PackRules rules;
    rules.policy = policy;
    rules.cap = 0.5;
    const PairVerdict verdict = judge_pair(a, b, kGood, kGood, 16000, rules);
    EXPECT_FALSE(verdict.feasible);
    EXPECT_THAT(verdict.reason, HasSubstr("16800 MiB do not fit into 15200 MiB"));
    EXPECT_TRUE(judge_pair(a, b, kGood, kGood, 32000, rules).feasible);
  }
  a.memory_mib = 40000;
  EXPECT_THAT(refuses_alone(a, 16000, {}), HasSubstr("not even alone"));
}

TEST(Policy, ProtectsJobsAndKeepsEnemiesApart) {
  QueuedJob a = job_named("a"), b = job_named("b");
  PackRules rules;
  rules.policy = PackPolicy::kPack;
  EXPECT_TRUE(judge_pair(a, b, kGood, kGood, 0, rules).feasible);
  a.is_protected = true;
  EXPECT_THAT(judge_pair(a, b, kGood, kGood, 0, rules).reason, HasSubstr("the cap is 10.0 %"));
  a.is_protected = false;
  b.never_with = {"a"};
  EXPECT_THAT(judge_pair(a, b, kGood, kGood, 0, rules).reason, HasSubstr("never to share"));
  b.never_with.clear();
  EXPECT_THAT(judge_pair(a, b, {0.55, 0.52, 0.6, false}, {0.45, 0.44, 0.5, false}, 0,
                         [&] {
                           PackRules loose = rules;
                           loose.hard_cap = 10;
                           return loose;
                         }())
                  .reason,
              HasSubstr("gain nothing"));
}

TEST(Policy, DeadlinesDecide) {
  QueuedJob a = job_named("a"), b = job_named("b");
  PackRules rules;
  rules.policy = PackPolicy::kDeadline;
  rules.hard_cap = 10;
  a.deadline_s = 125;
  b.deadline_s = 125;
  // In turn the second job misses its deadline; together both keep theirs.
  EXPECT_GT(judge_pair(a, b, kGood, kGood, 0, rules).score, 1);
  EXPECT_FALSE(judge_pair(a, b, kBad, kBad, 0, rules).feasible);
}

TEST(Policy, AdvisesToUnpackBelowTheInterval) {
  EXPECT_EQ(unpack_advice(0.9, kGood), "");
  EXPECT_THAT(unpack_advice(0.6, kGood), HasSubstr("unpack: runs at 0.60"));
  EXPECT_EQ(unpack_advice(NAN, kGood), "");
}

double total_of(const std::vector<WeightedPair>& pairs, const std::vector<int>& partner) {
  double sum = 0;
  for (const WeightedPair& pair : pairs)
    if (partner[static_cast<std::size_t>(pair.first)] == pair.second) sum += pair.weight;
  return sum;
}

// The best total by trying everything.
double best_total(std::vector<bool> used, const std::vector<WeightedPair>& pairs,
                  std::size_t from) {
  double best = 0;
  for (std::size_t i = from; i < pairs.size(); ++i) {
    const auto a = static_cast<std::size_t>(pairs[i].first),
               b = static_cast<std::size_t>(pairs[i].second);
    if (used[a] || used[b]) continue;
    used[a] = used[b] = true;
    best = std::max(best, pairs[i].weight + best_total(used, pairs, i + 1));
    used[a] = used[b] = false;
  }
  return best;
}

TEST(Matching, IsTheBestOfAll) {
  learn::Random random(9);
  for (int trial = 0; trial < 20; ++trial) {
    const int count = 4 + trial % 4;
    std::vector<WeightedPair> pairs;
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count; ++b) pairs.push_back({a, b, random.uniform() - 0.2});
    const std::vector<int> partner = best_matching(count, pairs);
    for (int a = 0; a < count; ++a)
      if (partner[static_cast<std::size_t>(a)] >= 0) {
        EXPECT_EQ(partner[static_cast<std::size_t>(partner[static_cast<std::size_t>(a)])], a);
      }
    EXPECT_NEAR(total_of(pairs, partner),
                best_total(std::vector<bool>(static_cast<std::size_t>(count), false), pairs, 0),
                1e-6);
  }
}

TEST(PackScorer, ListsAndRanksWholeQueues) {
  MemoryDataset data;
  data.put("workloads", csv_table("workload_id,name,family,device,solo_s,memory_mib\n"
                                  "0,a,x,v100,100,2000\n1,b,x,v100,100,2000\n2,c,y,v100,100,2000\n"
                                  "3,d,y,k80,100,99000\n"));
  PackOptions options;
  options.match = true;
  options.gpus = "";
  PackScorer scorer{options};
  const test::ReadyRun run;
  const Table candidates = scorer.enumerate(data.view(), run).read_all();
  EXPECT_EQ(candidates.rows(), 3 * 3 + 1);  // d names another GPU
  data.put("candidates", candidates);
  std::vector<double> rho;
  for (std::int64_t row = 0; row < candidates.rows(); ++row)
    rho.push_back(candidates.numbers("workload_id")[static_cast<std::size_t>(row)] == 0 &&
                          candidates.strings("partner")[row] == std::string_view("c")
                      ? 0.99
                      : 0.8);
  data.put("predictions", TableBuilder()
                              .add_column(candidates, candidates.index("workload_id"))
                              .add_column(candidates, candidates.index("candidate_id"))
                              .add("rho", rho)
                              .finish());
  const Table scores = scorer.score(data.view(), run).read_all();
  EXPECT_EQ(scores.rows(), candidates.rows());
  EXPECT_THAT(std::string(scores.strings("reason")[0]), HasSubstr("best for the queue"));
}

// Pairs of other names are found by what is known of both jobs; other places are further away.
TEST(CorunNotes, NamesTheNearestPairs) {
  const test::TempDir place;
  place.write("user.csv",
              "job,partner,family,partner_family,util_pct,partner_util_pct,device,mode,rho\n"
              "a,b,x,y,20,80,v100,mps,0.7\n"
              "b,a,y,x,80,20,v100,mps,0.9\n"
              "c,b,x,y,25,80,v100,mps,0.6\n"
              "c,b,x,y,25,80,k80,mps,0.5\n");
  place.write("own.csv", "job,partner,util_pct,partner_util_pct,rho\nloop,loop,50,50,0.5\n");
  const Table jobs = csv_table(
      "workload_id,name,family,util_pct\n0,a,x,20\n1,b,y,80\n2,new,x,30\n3,nameless,,\n4,mid,z,"
      "50\n");
  const Queue queue = read_queue(jobs);
  CorunNotes notes;
  notes.read((place / "user.csv").string(), "");
  notes.read((place / "own.csv").string(), "ours");
  notes.place(jobs, queue);
  const std::string same = notes.about(0, 1, "v100", "mps");
  EXPECT_THAT(same, HasSubstr("; measured: a beside b 0.70 (the same), c beside b 0.60 ("));
  // The nearest of a job that nobody measured is the one that keeps the GPU as busy.
  EXPECT_THAT(notes.about(2, 1, "v100", "mps"), HasSubstr("measured: c beside b 0.60 (0.2 away)"));
  EXPECT_THAT(notes.about(4, 4, "", ""),
              HasSubstr("measured: loop beside loop 0.50 (2.0 away, ours), "));
  EXPECT_EQ(notes.about(3, 1, "", ""), "");  // nothing is known of it
  EXPECT_EQ(CorunNotes().about(0, 1, "", ""), "");
}

TEST(PackScorer, RefusesWhatCannotBe) {
  EXPECT_THAT(error_of([] { read_queue(csv_table("workload_id,solo_s\n0,-3\n")); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("solo_s of row 1 is below 0"), ::testing::_));
  EXPECT_THAT(error_of([] { parse_gpus("v100:lots"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("v100:lots"), HasSubstr("NAME:MIB")));
}

}  // namespace
}  // namespace omen::interference
