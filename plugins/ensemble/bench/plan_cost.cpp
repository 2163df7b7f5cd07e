// SPDX-License-Identifier: Apache-2.0
// What planning costs from 30 models on 60 accelerators to 1,000 on 10,000, and that the queue of
// offers chooses as a scan over all pairs does.
//   ensemble_plan_cost
// With OMEN_SHOW_BREAK=1 the scan allows half the distance.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "omen/learn/random.hpp"
#include "omen/testing/show.hpp"
#include "plan/schedule.hpp"

namespace {

using namespace omen::ensemble;
namespace test = omen::test;

// Rates spread as 1 to 25, efficiencies of 0.7 to 0.9 on eight accelerators.
std::vector<PlannedModel> random_models(std::size_t count, std::uint64_t seed) {
  omen::learn::Random random(seed);
  std::vector<PlannedModel> models;
  for (std::size_t i = 0; i < count; ++i) {
    const double rate = 20 * std::exp(std::log(25.0) * random.uniform());
    const double decay = std::pow(0.7 + 0.2 * random.uniform(), 1.0 / 7);
    std::vector<double> rates;
    for (int m = 1; m <= 8; ++m) rates.push_back(rate * m * std::pow(decay, m - 1));
    models.push_back({RateCurve(rates), 30000 * (10 + 15 * random.uniform())});
  }
  return models;
}

// The definition: look at every model with every number of accelerators, again for each member.
std::vector<Member> scanned_flotilla(const std::vector<PlannedModel>& models,
                                     std::vector<std::size_t> candidates, std::int64_t free,
                                     const FlotillaRule& rule) {
  std::size_t reference = candidates[0];
  for (const std::size_t i : candidates)
    if (models[i].curve.at(1) > models[reference].curve.at(1)) reference = i;
  const double rate = models[reference].curve.at(1);
  const double distance = std::max(rule.distance, rule.distance_share * rate);
  std::vector<Member> members;
  Member best{reference, 1};
  while (best.accelerators > 0) {
    members.push_back(best);
    free -= best.accelerators;
    std::erase(candidates, best.model);
    best.accelerators = 0;
    double least = distance;
    for (std::int64_t m = 1; m <= free; ++m)
      for (const std::size_t i : candidates) {
        const double gap = std::abs(models[i].curve.at(m) - rate);
        if (gap < least || (best.accelerators == 0 && gap <= least)) {
          least = gap;
          best = {i, m};
        }
      }
  }
  for (; free > 0; --free) {
    Member* slowest = nullptr;
    for (Member& member : members) {
      const RateCurve& curve = models[member.model].curve;
      const auto key = [&](const Member& one) {
        return std::pair(models[one.model].curve.at(one.accelerators), one.model);
      };
      if (curve.at(member.accelerators + 1) > curve.at(member.accelerators) &&
          (!slowest || key(member) < key(*slowest)))
        slowest = &member;
    }
    if (!slowest) break;
    ++slowest->accelerators;
  }
  return members;
}

// Members that differ over flotillas of shrinking sets of models.
int differences(const std::vector<PlannedModel>& models, std::int64_t accelerators) {
  FlotillaRule rule, scanned = {};
  if (test::broken()) scanned = {rule.distance / 2, rule.distance_share / 2};
  int different = 0;
  std::vector<std::size_t> left(models.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (!left.empty()) {
    const auto queued = make_flotilla(models, left, accelerators, rule);
    const auto brute = scanned_flotilla(models, left, accelerators, scanned);
    different += queued.size() != brute.size();
    for (std::size_t i = 0; i < std::min(queued.size(), brute.size()); ++i)
      different +=
          queued[i].model != brute[i].model || queued[i].accelerators != brute[i].accelerators;
    // The first half of a flotilla ends, and the others are planned again.
    for (std::size_t i = 0; i < (queued.size() + 1) / 2; ++i) std::erase(left, queued[i].model);
  }
  return different;
}

double planning_seconds(const std::vector<PlannedModel>& models, std::int64_t accelerators) {
  return test::cpu_seconds_of([&] {
    for (const Planner planner : {Planner::kFleetGlobal, Planner::kMoldable})
      simulate(planner, models, true_work(models), {accelerators, 4}, {34, 0}, {});
  });
}

}  // namespace

int main() {
  int failed = 0, different = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    different += differences(random_models(30, seed), 60);
  failed |= test::show("plan_differs_from_pair_scan", different, "members", "==", 0);
  for (const auto& [models, accelerators] :
       {std::pair(30, 60), std::pair(100, 160), std::pair(300, 1000)})
    test::show("plan_cpu_" + std::to_string(models) + "_on_" + std::to_string(accelerators),
               planning_seconds(random_models(static_cast<std::size_t>(models), 1), accelerators),
               "s");
  failed |= test::show("plan_cpu_1000_on_10000", planning_seconds(random_models(1000, 1), 10000),
                       "s", "<", 10);
  return failed;
}
