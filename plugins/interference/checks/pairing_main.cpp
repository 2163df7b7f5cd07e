// SPDX-License-Identifier: Apache-2.0
// Pairs of 14 jobs by matching, with part of Gavel's pairs seen: how much of the best gain is kept.
//   interference_pairing DRAWS MASKS
// With OMEN_SHOW_BREAK=1 pairs are chosen by the negative of what was predicted.
#include <cmath>
#include <cstdio>
#include <functional>
#include <omen/learn/random.hpp>

#include "masked_pairs.hpp"
#include "omen/testing/show.hpp"
#include "pack/matching.hpp"

namespace {

using namespace omen::interference;
using namespace omen::interference::checks;
namespace test = omen::test;

constexpr int kJobs = 14;

struct PairingGoal {
  const char* gpu;
  double at_30, at_60;
};
constexpr PairingGoal kPairingGoals[] = {{"p100", 95, 98}, {"v100", 93.5, 97}, {"k80", 92, 96}};

// rho_A + rho_B - 1 of every unordered pair; NaN for pairs that cannot run, known to all alike.
using Gains = std::vector<std::vector<double>>;

Gains gains_of(const Measured& all, const std::vector<double>& rho) {
  const std::size_t n = all.rows.jobs.size();
  Gains speed(n, std::vector<double>(n, NAN)), gain = speed;
  for (std::size_t i = 0; i < rho.size(); ++i) {
    const PairRow& row = all.rows.rows[i];
    speed[static_cast<std::size_t>(row.victim)][static_cast<std::size_t>(row.partners[0])] = rho[i];
  }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) gain[a][b] = speed[a][b] + speed[b][a] - 1;
  return gain;
}

double matched_gain(const std::vector<std::size_t>& jobs, const Gains& believed,
                    const Gains& truth) {
  std::vector<WeightedPair> pairs;
  for (int a = 0; a < kJobs; ++a)
    for (int b = a + 1; b < kJobs; ++b) {
      const double gain =
          believed[jobs[static_cast<std::size_t>(a)]][jobs[static_cast<std::size_t>(b)]];
      // A gain below 0 is left alone, as 0 is what a job alone gains.
      if (std::isfinite(gain)) pairs.push_back({a, b, gain});
    }
  const std::vector<int> partner = best_matching(kJobs, pairs);
  double sum = 0;
  for (int a = 0; a < kJobs; ++a) {
    const int b = partner[static_cast<std::size_t>(a)];
    if (b > a) sum += truth[jobs[static_cast<std::size_t>(a)]][jobs[static_cast<std::size_t>(b)]];
  }
  return sum;
}

// Pairs in the order of the draw; those that cannot run stay alone.
double random_gain(const std::vector<std::size_t>& jobs, const Gains& truth) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < jobs.size(); i += 2) {
    const double gain = truth[jobs[i]][jobs[i + 1]];
    if (std::isfinite(gain)) sum += gain;
  }
  return sum;
}

// Says the speed of every row when some were seen.
using Forecast = std::function<std::vector<double>(const std::vector<bool>& seen)>;

Forecast forecast_by(const Measured& all, Method method) {
  return [&all, method](const std::vector<bool>& seen) {
    std::vector<double> rho;
    for (const Speed& speed : fitted(taken(all, seen, true), method).ask(all.rows, 0.9))
      rho.push_back(speed.mean);
    return rho;
  };
}

// What was seen is known.
std::vector<double> believed_rho(const Measured& all, const std::vector<bool>& seen,
                                 const Forecast& forecast) {
  std::vector<double> rho = forecast(seen);
  for (std::size_t i = 0; i < rho.size(); ++i) {
    if (seen[i]) rho[i] = all.rho[i];
    if (test::broken()) rho[i] = 1.2 - rho[i];
  }
  return rho;
}

struct Shares {
  double of_oracle = 0, above_random = 0;
};

Shares shares_of(const Measured& all, double share, int draws, int masks,
                 const Forecast& forecast) {
  const Gains truth = gains_of(all, all.rho);
  double gained = 0, oracle = 0, random = 0;
  for (int mask = 0; mask < masks; ++mask) {
    const std::vector<bool> seen = seen_pairs(all, share, static_cast<std::uint64_t>(mask));
    const Gains believed = gains_of(all, believed_rho(all, seen, forecast));
    for (int draw = 0; draw < draws; ++draw) {
      omen::learn::Random dice(static_cast<std::uint64_t>(draw), 200);
      std::vector<std::size_t> jobs;
      for (const std::ptrdiff_t job :
           dice.permutation(static_cast<std::ptrdiff_t>(all.rows.jobs.size())))
        if (jobs.size() < kJobs) jobs.push_back(static_cast<std::size_t>(job));
      gained += matched_gain(jobs, believed, truth);
      oracle += matched_gain(jobs, truth, truth);
      random += random_gain(jobs, truth);
    }
  }
  return {100 * gained / oracle, 100 * (gained - random) / (oracle - random)};
}

}  // namespace

int main(int argc, char** argv) {
  const auto directory = data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the Gavel tables are absent");
    return test::kSkipped;
  }
  const int draws = argc > 1 ? std::atoi(argv[1]) : 200, masks = argc > 2 ? std::atoi(argv[2]) : 8;
  int failed = 0;
  for (const PairingGoal& goal : kPairingGoals) {
    const std::string gpu = goal.gpu;
    const std::vector<DirectedRow> rows =
        read_gavel((*directory / "gavel/gavel_pairs.csv").string(), gpu);
    const Measured all = measured_of(rows);
    for (const bool much : {false, true}) {
      const double share = much ? 0.6 : 0.3;
      const std::string name = gpu + (much ? "_60_pct_seen" : "_30_pct_seen");
      const auto shares_by = [&](const Forecast& forecast) {
        return shares_of(all, share, draws, masks, forecast);
      };
      const Shares process = shares_by(forecast_by(all, Method::kProcess));
      failed |= test::show(name + "_of_oracle", process.of_oracle, "%",
                           ">=", much ? goal.at_60 : goal.at_30);
      const Shares rank_2 = shares_by(forecast_by(all, Method::kLowRank));
      failed |= test::show(name + "_above_random_over_rank_2",
                           process.above_random - rank_2.above_random, "%", ">=", 0);
      const Shares trees = shares_by(forecast_by(all, Method::kTrees));
      test::show(name + "_above_random_over_trees", process.above_random - trees.above_random, "%");
      const Shares gbt =
          shares_by([&](const std::vector<bool>& seen) { return rho_of_gbt(rows, seen); });
      failed |= test::show(name + "_above_random_over_gbt", process.above_random - gbt.above_random,
                           "%", ">=", 0);
      test::show(name + "_above_random", process.above_random, "%");
    }
  }
  return failed;
}
