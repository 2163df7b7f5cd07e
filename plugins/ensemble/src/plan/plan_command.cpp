// SPDX-License-Identifier: Apache-2.0
// Simulates the planners and lays their totals side by side.
#include "plan/plan_command.hpp"

#include <cmath>
#include <map>

#include "plan/gantt.hpp"
#include "plan/wrong_epochs.hpp"
#include "spec/ensemble_spec.hpp"

namespace omen::ensemble {
namespace {

constexpr double kNotAsked = std::numeric_limits<double>::quiet_NaN();

// The totals of one planner.
struct PlannerTotals {
  Planner planner;
  Schedule priced, free;
  WrongEpochs wrong;
};

double tenths(double value) {
  return std::round(value * 10) / 10;
}
double thousandths(double value) {
  return std::round(value * 1000) / 1000;
}

double total_of(const std::vector<PlannerTotals>& all, Planner planner,
                Schedule PlannerTotals::*which) {
  for (const PlannerTotals& one : all)
    if (one.planner == planner) return (one.*which).total_s;
  return kNotAsked;
}

Table totals_table(const std::vector<PlannerTotals>& all, const Machine& machine, bool with_wrong) {
  std::vector<std::string> name, knows;
  std::vector<std::int64_t> rounds;
  std::map<std::string, std::vector<double>> column;
  const double reference = total_of(all, Planner::kFleetGlobal, &PlannerTotals::priced);
  const double free_reference = total_of(all, Planner::kFleetGlobal, &PlannerTotals::free);
  for (const PlannerTotals& one : all) {
    name.emplace_back(planner_name(one.planner));
    knows.emplace_back(is_clairvoyant(one.planner) ? "yes" : "no");
    rounds.push_back(one.priced.rounds);
    const double held = one.priced.total_s * static_cast<double>(machine.accelerators);
    column["total_s"].push_back(tenths(one.priced.total_s));
    column["over fleet-g"].push_back(thousandths(reference / one.priced.total_s));
    column["free_stops_s"].push_back(tenths(one.free.total_s));
    column["free over fleet-g"].push_back(thousandths(free_reference / one.free.total_s));
    column["busy"].push_back(thousandths(one.priced.busy_s / held));
    column["wrong_epochs_mean_s"].push_back(tenths(one.wrong.mean_s));
    column["wrong_epochs_longest_s"].push_back(tenths(one.wrong.longest_s));
  }
  TableBuilder table;
  table.add_strings("planner", name).add_strings("clairvoyant", knows).add("rounds", rounds);
  for (const char* each : {"total_s", "over fleet-g", "free_stops_s", "free over fleet-g", "busy"})
    table.add(each, column[each]);
  if (with_wrong)
    for (const char* each : {"wrong_epochs_mean_s", "wrong_epochs_longest_s"})
      table.add(each, column[each]);
  return table.finish();
}

std::vector<std::string> names_of(const EnsembleSpec& spec) {
  std::vector<std::string> names;
  for (const SpecModel& model : spec.models) names.push_back(model.name);
  return names;
}

}  // namespace

std::vector<Option<PlanCommandOptions>> PlanCommandOptions::spec() {
  using O = PlanCommandOptions;
  return options(
      opt(&O::checkpoint_s, "checkpoint_s", "to stop a flotilla; -1: as described")
          .range(-1, 1e9)
          .unit("s"),
      opt(&O::restart_s, "restart_s", "to start the next one; -1: as described")
          .range(-1, 1e9)
          .unit("s"),
      opt(&O::accelerators, "accelerators", "of the machine; 0: as described").range(0, 1e7),
      opt(&O::epoch_error, "epoch_error",
          "also plan with epochs that are wrong by up to this part either way")
          .range(0, 0.95),
      opt(&O::draws, "draws", "random errors of the epochs that are tried").range(1, 10000),
      opt(&O::distance, "distance", "images/s that members of a flotilla may differ by")
          .range(0, 1e9),
      opt(&O::distance_share, "distance_share",
          "the same as a part of the fastest rate; the larger one counts")
          .range(0, 1),
      opt(&O::alpha, "alpha", "part of the accelerators below which a flotilla stops").range(0, 1));
}

int PlanCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "plan needs the description of an ensemble",
                "Use: omen ensemble plan ENSEMBLE.json, see plugins/ensemble/README.md.");
  const EnsembleSpec spec = read_spec(args[0]);
  const std::vector<PlannedModel> models = planned_models(spec);
  const Machine machine{options_.accelerators > 0 ? options_.accelerators : spec.accelerators(),
                        spec.accelerators_per_node};
  StopCosts costs = spec.costs;
  if (options_.checkpoint_s >= 0) costs.checkpoint_s = options_.checkpoint_s;
  if (options_.restart_s >= 0) costs.restart_s = options_.restart_s;
  PlanRules rules;
  rules.flotilla = {options_.distance, options_.distance_share};
  rules.alpha = options_.alpha;
  rules.seed = run.seed();
  rules.check = [&run] { run.step(-1, "plan"); };
  if (!spec.knows_epochs())
    log(OMEN_LOG_WARN, "ensemble.plan",
        "not every model has epochs: each is planned as if it trained for one");
  std::vector<PlannerTotals> all;
  for (const Planner planner : all_planners()) {
    run.step(-1, planner_name(planner));
    PlannerTotals one{planner, {}, {}, {}};
    one.priced = simulate(planner, models, true_work(models), machine, costs, rules);
    one.free = simulate(planner, models, true_work(models), machine, {}, rules);
    one.wrong = {one.priced.total_s, one.priced.total_s};
    if (options_.epoch_error > 0 && is_clairvoyant(planner))
      one.wrong = simulate_wrong_epochs(planner, models, machine, rules, options_.epoch_error,
                                        options_.draws);
    put_gantt(run, std::string("plan-") + planner_name(planner),
              spec.name + ": " + planner_name(planner), one.priced, names_of(spec));
    all.push_back(std::move(one));
  }
  out.put("planners", totals_table(all, machine, options_.epoch_error > 0));
  return 0;
}

Component plan_command_component() {
  return command<PlanCommand, PlanCommandOptions>(
      "ensemble.plan", "totals of every planner on a described ensemble, and Gantt charts");
}

}  // namespace omen::ensemble
