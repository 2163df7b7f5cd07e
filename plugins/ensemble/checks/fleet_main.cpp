// SPDX-License-Identifier: Apache-2.0
// Planners on the hundred published networks: totals beside the paper's, and each planner alone.
//   ensemble_fleet totals|planners
// With OMEN_SHOW_BREAK=1 networks train for half as long again (totals), and the clairvoyant
// planner takes the shortest training for the longest (planners).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "figure_data.hpp"
#include "omen/testing/show.hpp"
#include "plan/wrong_epochs.hpp"

namespace {

using namespace omen::ensemble;
using namespace omen::ensemble::checks;
namespace test = omen::test;

constexpr double kKappa = 1.115;    // mean length of Table 3
constexpr double kCheckpoint = 34;  // s; 748 s for 22 flotillas, 680 s for 20
constexpr double kRestart = 116;    // s; the one constant fitted to the totals
constexpr std::int64_t kPerNode = 4;
constexpr double kEpochError = 0.3;
constexpr int kDraws = 20;

std::string named(std::string what, std::int64_t accelerators) {
  std::replace(what.begin(), what.end(), '-', '_');
  return what + "_" + std::to_string(accelerators);
}

double total(Planner planner, const std::vector<PlannedModel>& models, std::int64_t accelerators,
             const StopCosts& costs) {
  return simulate(planner, models, true_work(models), {accelerators, kPerNode}, costs, {}).total_s;
}

// How far a simulated total is from the paper's, in %.
int show_total(const std::string& name, std::int64_t accelerators, double simulated,
               double published) {
  const double off = 100 * std::abs(simulated / published - 1);
  if (accelerators < 60) {
    test::show(name, off, "%");
    return 0;
  }
  return test::show(name, off, "%", "<=", accelerators == 60 ? 15 : 10);
}

int show_totals(const std::string& directory) {
  const auto models = fleet_networks(directory, test::broken() ? 1.5 * kKappa : kKappa);
  test::show("restart_s", kRestart, "s");
  int failed = 0;
  for (const FleetTotals& published : fleet_totals(directory)) {
    const std::int64_t m = published.accelerators;
    const StopCosts costs{kCheckpoint, kRestart};
    failed |= show_total(named("homogeneous_off", m), m,
                         total(Planner::kHomogeneous, models, m, costs), published.homogeneous);
    const double fleet_g = total(Planner::kFleetGlobal, models, m, costs);
    failed |= show_total(named("fleet_g_off", m), m, fleet_g, published.fleet_g);
    test::show(named("fleet_g_total", m), fleet_g, "s");
    test::show(
        named("fleet_l_off", m),
        100 * std::abs(total(Planner::kFleetLocal, models, m, costs) / published.fleet_l - 1), "%");
  }
  return failed;
}

// A planner that believes the reverse of what is true.
double misled_total(const std::vector<PlannedModel>& models, const Machine& machine) {
  std::vector<double> believed = true_work(models);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const double rate = models[i].curve.at(1);
    believed[i] = rate * rate / believed[i];
  }
  return simulate(Planner::kMoldable, models, believed, machine, {}, {}).total_s;
}

int show_planners(const std::string& directory) {
  const auto models = fleet_networks(directory, kKappa);
  int failed = 0;
  for (const FleetTotals& published : fleet_totals(directory)) {
    const std::int64_t m = published.accelerators;
    const Machine machine{m, kPerNode};
    struct Priced {
      const char* name;
      StopCosts costs;
    };
    for (const Priced& priced :
         {Priced{"free", {0, 0}}, Priced{"with_stops", {kCheckpoint, kRestart}}})
      for (const Planner planner : {Planner::kFleetGlobal, Planner::kFleetLocal,
                                    Planner::kLongestFirst, Planner::kMoldable})
        test::show(named(std::string(planner_name(planner)) + "_" + priced.name, m),
                   total(planner, models, m, priced.costs), "s");
    const double checkpointed = total(Planner::kFleetGlobal, models, m, {kCheckpoint, 0});
    const double moldable =
        test::broken() ? misled_total(models, machine) : total(Planner::kMoldable, models, m, {});
    const double gain = checkpointed / moldable;
    const WrongEpochs wrong =
        simulate_wrong_epochs(Planner::kMoldable, models, machine, {}, kEpochError, kDraws);
    const std::string gain_name = named("moldable_over_fleet_g", m);
    const std::string wrong_name = named("moldable_wrong_epochs_least", m);
    test::show(named("moldable_wrong_epochs_mean", m), checkpointed / wrong.mean_s, "x");
    if (m <= 60) {
      failed |= test::show(gain_name, gain, "x", ">=", 1.10);
      failed |= test::show(wrong_name, checkpointed / wrong.longest_s, "x", ">=", 0.95);
    } else {
      test::show(gain_name, gain, "x");
      test::show(wrong_name, checkpointed / wrong.longest_s, "x");
    }
  }
  return failed;
}

}  // namespace

int main(int count, char** arguments) {
  const auto directory = data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the digitised figures are absent");
    return test::kSkipped;
  }
  const bool totals = count > 1 && std::string(arguments[1]) == "totals";
  return totals ? show_totals(*directory) : show_planners(*directory);
}
