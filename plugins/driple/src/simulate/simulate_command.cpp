// SPDX-License-Identifier: Apache-2.0
// Runs the queue under each policy and says how they compare.
#include "simulate/simulate_command.hpp"

#include <algorithm>

#include "allocate/offers.hpp"
#include "simulate/queue_forecast.hpp"
#include "simulate/simulation_figures.hpp"

namespace omen::driple {
namespace {

constexpr const char* kSimulateUsage = "Use: omen driple simulate JOBS.csv --gpus v100:2,a100.";
constexpr std::int64_t kMostGpus = 10000;

Fleet fleet_of(const std::vector<Offer>& offers) {
  Fleet fleet;
  for (std::size_t kind = 0; kind < offers.size(); ++kind)
    for (std::int64_t n = 1; n <= offers[kind].most; ++n) {
      fleet.kind.push_back(kind);
      fleet.names.push_back(offers[kind].gpu +
                            (offers[kind].most > 1 ? " " + std::to_string(n) : ""));
    }
  if (static_cast<std::int64_t>(fleet.kind.size()) > kMostGpus)
    throw Error(OMEN_INVALID_ARGUMENT, "more than 10000 GPUs are offered", kSimulateUsage);
  return fleet;
}

// The oracle knows nothing more where no job was measured.
std::vector<Policy> policies_of(const std::string& text, bool measured) {
  const std::optional<Policy> one = policy_of(text);
  if (one == Policy::oracle && !measured)
    throw Error(OMEN_INVALID_ARGUMENT, "the oracle needs measured times, and the queue has none",
                "Give the queue columns time_s.GPU.");
  if (one) return {*one};
  std::vector<Policy> all = {Policy::predicted, Policy::efficiency, Policy::round_robin};
  if (measured) all.push_back(Policy::oracle);
  return all;
}

Table comparison(const std::vector<Policy>& policies, const std::vector<Schedule>& schedules) {
  const auto oracle = std::find(policies.begin(), policies.end(), Policy::oracle);
  const Schedule* best =
      oracle == policies.end() ? nullptr : &schedules[std::size_t(oracle - policies.begin())];
  std::vector<std::string> name;
  std::vector<double> makespan, mean, more_makespan, more_mean;
  std::vector<std::int64_t> ended, failures, refused;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const Schedule& own = schedules[i];
    name.emplace_back(word(policies[i]));
    ended.push_back(static_cast<std::int64_t>(own.placements.size() - own.failures));
    makespan.push_back(own.makespan_s);
    mean.push_back(own.mean_completion_s());
    failures.push_back(static_cast<std::int64_t>(own.failures));
    refused.push_back(static_cast<std::int64_t>(own.refused));
    if (!best) continue;
    more_makespan.push_back(100 * (own.makespan_s / best->makespan_s - 1));
    more_mean.push_back(100 * (own.mean_completion_s() / best->mean_completion_s() - 1));
  }
  const Metadata seconds = {{"omen.unit", "s"}}, percent = {{"omen.unit", "%"}};
  TableBuilder table;
  table.add_strings("policy", name)
      .add("makespan_s", std::move(makespan), seconds)
      .add("mean_completion_s", std::move(mean), seconds);
  if (best)
    table.add("makespan_over_oracle", std::move(more_makespan), percent)
        .add("completion_over_oracle", std::move(more_mean), percent);
  return table.add("ended", std::move(ended))
      .add("failures", std::move(failures))
      .add("refused", std::move(refused))
      .finish();
}

}  // namespace

std::vector<Option<SimulateOptions>> SimulateOptions::spec() {
  using O = SimulateOptions;
  return options(
      opt(&O::gpus, "gpus", "GPUs that there are, with their number: gtx1080,titanx:2"),
      opt(&O::policy, "policy", "who decides; oracle: with the measured times of the queue")
          .choices("all", "predicted", "efficiency", "oracle", "round-robin"),
      opt(&O::failure_s, "failure_s", "that a job holds a GPU before it runs out of memory")
          .unit("s")
          .range(0, 1e9),
      opt(&O::predictor, "predictor", "predictor of step times"),
      opt(&O::model, "model", "its model: a file, or a name; empty: the default one"),
      opt(&O::schedule, "schedule", "also show which job ran where and when"));
}

int SimulateCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                         const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "simulate needs one queue of jobs", kSimulateUsage);
  const std::vector<Offer> offers = parse_offers(options_.gpus);
  const Fleet fleet = fleet_of(offers);
  const std::vector<QueueRow> rows = read_queue(args[0]);
  const bool measured = !rows.front().measured_s.empty();
  const std::vector<Policy> policies = policies_of(options_.policy, measured);
  std::vector<std::string> gpus;
  for (const Offer& offer : offers) gpus.push_back(offer.gpu);
  const std::vector<QueuedJob> jobs =
      forecast(rows, gpus, {options_.predictor, options_.model}, run);
  std::vector<Schedule> schedules;
  for (const Policy policy : policies) {
    schedules.push_back(simulate(jobs, fleet, policy, options_.failure_s));
    put_schedule(run, jobs, fleet, schedules.back(), policy);
  }
  put_completions(run, policies, schedules);
  out.put("policies", comparison(policies, schedules));
  if (options_.schedule)
    for (std::size_t i = 0; i < policies.size(); ++i)
      out.put("schedule", schedule_table(jobs, fleet, schedules[i], policies[i]));
  return 0;
}

Component simulate_component() {
  return command<SimulateCommand, SimulateOptions>(
      "driple.simulate", "run a queue of jobs on several GPUs under different policies");
}

}  // namespace omen::driple
