// SPDX-License-Identifier: Apache-2.0
// Ranks candidates by predicted power times predicted time.
#include "energy/energy_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <omen/optional_columns.hpp>
#include <omen/registry.hpp>
#include <omen/score_rows.hpp>
#include <tuple>

#include "energy/node_plan.hpp"

namespace omen::power {
namespace {

constexpr double kJoulesInKwh = 3.6e6;

struct Judged {
  std::int64_t workload = 0;
  std::int32_t candidate = 0;
  JobChoice cost;  // power and time stay 0 where energy alone is predicted
  double joules = 0;
  std::string status, blocked;
  bool front = false, planned = false;

  bool timed() const { return cost.watts > 0 && cost.seconds > 0; }
  bool known() const { return joules > 0; }
};

std::string digits(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.4g %s", value, unit);
  return text;
}

// Watts of all GPUs of a job: power_w is of one where the choice or its workload counts them.
std::map<std::int64_t, std::vector<Judged>> read_judged(const Dataset& in) {
  if (!in.has("predictions"))
    throw Error(OMEN_UNAVAILABLE, "power.energy ranks by predictions, and there are none",
                "Name a predictor with --predictor, and its model with --model.");
  const Table table = in.table("predictions");
  const NumberColumn workload(table, "workload_id"), candidate(table, "candidate_id"),
      watts(table, "power_w"), time(table, "time_s"), epoch(table, "epoch_s"),
      energy(table, "energy_j");
  const TextColumn status(table, "status");
  std::map<std::int64_t, std::vector<Judged>> rows;
  for (std::int64_t r = 0; r < table.rows(); ++r) {
    Judged made;
    made.workload = static_cast<std::int64_t>(workload.at(r, 0));
    made.candidate = static_cast<std::int32_t>(candidate.at(r, 0));
    made.cost.seconds = time.at(r, epoch.at(r, 0));
    // Energy counts all GPUs, so that power times time must give it back.
    const double joules = energy.at(r, 0);
    made.cost.watts =
        joules > 0 && made.cost.seconds > 0 ? joules / made.cost.seconds : watts.at(r, 0);
    made.joules = joules > 0 ? joules : made.cost.joules();
    made.status = status.at(r);
    rows[made.workload].push_back(std::move(made));
  }
  return rows;
}

void block(Judged& one, const EnergyOptions& o) {
  if (!one.known())
    one.blocked = "no prediction: " + one.status;
  else if (!one.timed() &&
           (o.most_w > 0 || o.most_s > 0 || o.node_w > 0 || o.objective != "energy"))
    one.blocked = "its power and time are not predicted";
  else if (o.most_w > 0 && one.cost.watts > o.most_w)
    one.blocked = digits(one.cost.watts, "W") + " above " + digits(o.most_w, "W");
  else if (o.most_s > 0 && one.cost.seconds > o.most_s)
    one.blocked = digits(one.cost.seconds, "s") + " above " + digits(o.most_s, "s");
}

double cost_of(const Judged& one, const std::string& objective) {
  if (objective == "time") return one.cost.seconds;
  if (objective == "edp") return one.joules * one.cost.seconds;
  return one.joules;
}

// Marks the choices of all jobs that fit under the node's limit together.
void plan_jobs(std::map<std::int64_t, std::vector<Judged>>& rows, double limit_w) {
  std::vector<std::vector<JobChoice>> jobs;
  std::vector<std::vector<Judged*>> allowed;
  for (auto& [id, choices] : rows) {
    jobs.emplace_back();
    allowed.emplace_back();
    for (Judged& one : choices)
      if (one.blocked.empty()) {
        jobs.back().push_back(one.cost);
        allowed.back().push_back(&one);
      }
  }
  const auto plan = plan_node(jobs, limit_w);
  if (plan)
    for (std::size_t j = 0; j < plan->size(); ++j) allowed[j][(*plan)[j]]->planned = true;
  for (const auto& choices : allowed)
    for (Judged* one : choices)
      if (!one->planned)
        one->blocked = plan
                           ? "another limit leaves more of " + digits(limit_w, "W") + " to the rest"
                           : "the jobs do not fit under " + digits(limit_w, "W") + " together";
}

std::string reason_of(const Judged& one, const EnergyOptions& o) {
  std::string text = digits(one.joules, "J");
  if (one.timed()) text += ", " + digits(one.cost.watts, "W for ") + digits(one.cost.seconds, "s");
  if (o.gco2_per_kwh > 0)
    text += ", " + digits(one.joules / kJoulesInKwh * o.gco2_per_kwh, "g CO2");
  if (one.front) text += "; no other is faster and cheaper";
  if (!one.status.empty() && one.status != "ok") text += "; " + one.status;
  return text;
}

}  // namespace

TableStream EnergyScorer::enumerate(const Dataset& in, const Run& run) {
  const Table workloads = in.table("workloads");
  const NumberColumn id(workloads, "workload_id"), tdp(workloads, "tdp_w");
  const TextColumn gpu(workloads, "gpu");
  std::vector<std::int64_t> workload;
  std::vector<std::int32_t> candidate;
  std::vector<std::string> name;
  std::vector<double> cap;
  for (std::int64_t r = 0; r < workloads.rows(); ++r) {
    run.step(-1, "power limits");
    double most = tdp.at(r, 0);
    if (!(most > 0) && !gpu.at(r).empty())
      if (const auto found = devices::figure(gpu.at(r), "tdp_w")) most = found->value;
    if (!(most > 0))
      throw Error(OMEN_INVALID_DATA, "the highest power limit of '" + gpu.at(r) + "' is not known",
                  "Give it as tdp_w, or write the candidates yourself.");
    std::int32_t next = 0;
    for (double part = 1; part > 0.33; part -= 0.0625) {
      workload.push_back(static_cast<std::int64_t>(id.at(r, static_cast<double>(r))));
      candidate.push_back(next++);
      cap.push_back(std::round(most * part));
      name.push_back(digits(cap.back(), "W"));
    }
  }
  return TableBuilder()
      .add("workload_id", std::move(workload))
      .add("candidate_id", std::move(candidate))
      .add_strings("name", name)
      .add("power_cap_w", std::move(cap), {{"omen.unit", "W"}})
      .finish();
}

TableStream EnergyScorer::score(const Dataset& in, const Run& run) {
  std::map<std::int64_t, std::vector<Judged>> rows = read_judged(in);
  for (auto& [id, choices] : rows) {
    run.step(-1, "joules");
    std::vector<JobChoice> costs;
    for (Judged& one : choices) {
      block(one, options_);
      // What is not known beats nothing.
      costs.push_back(one.timed() ? one.cost : JobChoice{INFINITY, INFINITY});
    }
    const std::vector<bool> front = pareto_front(costs);
    for (std::size_t i = 0; i < choices.size(); ++i)
      choices[i].front = front[i] && choices[i].timed();
  }
  if (options_.node_w > 0) plan_jobs(rows, options_.node_w);
  ScoreRows scores;
  for (auto& [id, choices] : rows) {
    double worst = 0;
    for (const Judged& one : choices)
      if (one.known()) worst = std::max(worst, cost_of(one, options_.objective));
    std::stable_sort(choices.begin(), choices.end(), [&](const Judged& a, const Judged& b) {
      const auto key = [&](const Judged& one) {
        return std::tuple(!one.blocked.empty(), !one.known(),
                          one.known() ? cost_of(one, options_.objective) : 0, one.candidate);
      };
      return key(a) < key(b);
    });
    for (const Judged& one : choices)
      scores.add(id, one.candidate,
                 one.known() ? -cost_of(one, options_.objective) : -2 * worst - 1,
                 one.blocked.empty(), one.blocked.empty() ? reason_of(one, options_) : one.blocked);
  }
  return scores.finish();
}

Component energy_component() {
  return scorer<EnergyScorer, EnergyOptions>(
             "power.energy", "which power limit or placement costs the fewest joules")
      .reads("predictions.power_w:optional", "predictions.time_s:optional",
             "predictions.epoch_s:optional", "predictions.energy_j:optional",
             "candidates.power_cap_w:optional", "workloads.gpu:optional",
             "workloads.tdp_w:optional")
      .caps(OMEN_CAP_BITWISE_REPEATABLE)
      .cite("Zeus, NSDI 2023");
}

}  // namespace omen::power
