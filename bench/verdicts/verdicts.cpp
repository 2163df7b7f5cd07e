// SPDX-License-Identifier: Apache-2.0
// How often verdicts are right: simulated comparisons of known outcome, 50 groups of 10 rows.
//   verdicts --equal-skill  two predictors of equal skill; OMEN_SHOW_BREAK=1 ignores the groups
//   verdicts --planted      one is 3 % better; OMEN_SHOW_BREAK=1 loses the pairing of rows
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <omen/learn/random.hpp>
#include <utility>

#include "omen/testing/show.hpp"
#include "stats/paired.hpp"

namespace omen::host::stats {
namespace {

using learn::Random;

constexpr int kSeeds = 200, kGroups = 50, kRows = 10;

struct Losses {
  std::vector<double> baseline, challenger;
  std::vector<std::int32_t> group;
};

double normal(Random& random) {
  return boost::math::quantile(boost::math::normal(), random.uniform());
}

// Each predictor has an error of its own in every group, twice as large as in a row.
Losses equal_skill(std::uint64_t seed) {
  Random random(seed);
  Losses losses;
  for (std::int32_t g = 0; g < kGroups; ++g) {
    const double a = 2 * normal(random), b = 2 * normal(random);
    for (int row = 0; row < kRows; ++row) {
      losses.baseline.push_back(std::abs(a + normal(random)));
      losses.challenger.push_back(std::abs(b + normal(random)));
      losses.group.push_back(g);
    }
  }
  return losses;
}

// Losses over a decade; the challenger's is 3 % smaller, give or take 3 % by group and 10 % by row.
Losses planted(std::uint64_t seed) {
  Random random(seed);
  Losses losses;
  for (std::int32_t g = 0; g < kGroups; ++g) {
    const double of_group = 0.97 + 0.03 * normal(random);
    for (int row = 0; row < kRows; ++row) {
      losses.baseline.push_back(std::exp(0.5 * normal(random)));
      losses.challenger.push_back(losses.baseline.back() * (of_group + 0.10 * normal(random)));
      losses.group.push_back(g);
    }
  }
  return losses;
}

Verdict verdict(const Losses& losses, std::uint64_t seed) {
  PairedSettings settings;
  settings.seed = seed;
  return compare_paired(losses.baseline, losses.challenger, losses.group, settings).verdict;
}

int show_equal_skill(bool broken) {
  constexpr int kGoal = 18;
  int called = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Losses losses = equal_skill(seed);
    if (broken) std::iota(losses.group.begin(), losses.group.end(), 0);
    const Verdict v = verdict(losses, seed);
    called += v == Verdict::kBetter || v == Verdict::kWorse;
  }
  return test::show("equal_skill_false_verdicts", called, "of_" + std::to_string(kSeeds),
                    "<=", kGoal);
}

void shuffle(std::vector<double>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

int show_planted(bool broken) {
  constexpr double kGoal = 95;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Losses losses = planted(seed);
    Random random(seed, 1);
    if (broken) shuffle(losses.challenger, random);
    found += verdict(losses, seed) == Verdict::kBetter;
  }
  const double percent = 100.0 * found / kSeeds;
  return test::show("planted_improvement_found", percent, "%", ">=", kGoal);
}

}  // namespace
}  // namespace omen::host::stats

int main(int argc, char** argv) {
  const bool broken = omen::test::broken();
  if (argc == 2 && std::strcmp(argv[1], "--equal-skill") == 0)
    return omen::host::stats::show_equal_skill(broken);
  if (argc == 2 && std::strcmp(argv[1], "--planted") == 0)
    return omen::host::stats::show_planted(broken);
  std::fputs("usage: verdicts --equal-skill | --planted\n", stderr);
  return 2;
}
