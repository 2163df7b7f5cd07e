// SPDX-License-Identifier: Apache-2.0
// Rounds, refills and lists of trainings.
#include "plan/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <omen/learn/random.hpp>

#include "plan/list_schedule.hpp"

namespace omen::ensemble {
namespace {

using Models = std::vector<PlannedModel>;

struct PlannerEntry {
  Planner planner;
  const char* name;
  bool clairvoyant;
};

constexpr PlannerEntry kPlanners[] = {
    {Planner::kHomogeneous, "homogeneous", false}, {Planner::kFleetGlobal, "fleet-g", false},
    {Planner::kFleetLocal, "fleet-l", false},      {Planner::kLongestFirst, "lpt", true},
    {Planner::kMoldable, "moldable", true},
};

// Models that train side by side, each at its own pace.
class Running {
 public:
  Running(const Models& models, Schedule& schedule) : models_(models), schedule_(schedule) {
    for (const PlannedModel& model : models) left_.push_back(model.work);
  }

  void start(const std::vector<Member>& members, double now) {
    for (const Member& member : members) {
      active_.push_back({member, models_[member.model].curve.at(member.accelerators), now});
      busy_ += member.accelerators;
    }
  }
  // Advances to the next end of a training; returns the time.
  double next_end(double now) {
    double step = left_[active_[0].member.model] / active_[0].rate;
    for (const Active& one : active_) step = std::min(step, left_[one.member.model] / one.rate);
    // Models that end together are not told apart by rounding.
    const double slack = 1e-9 * (1 + now + step);
    std::vector<Active> still;
    for (Active& one : active_) {
      double& left = left_[one.member.model];
      left -= step * one.rate;
      if (left > slack * one.rate) {
        still.push_back(one);
        continue;
      }
      left = 0;
      end_span(one, now + step);
      busy_ -= one.member.accelerators;
    }
    active_ = std::move(still);
    return now + step;
  }
  void stop_all(double now) {
    for (const Active& one : active_) end_span(one, now);
    active_.clear();
    busy_ = 0;
  }
  bool idle() const { return active_.empty(); }
  std::int64_t busy() const { return busy_; }
  std::vector<std::size_t> waiting() const {
    std::vector<bool> runs(models_.size(), false);
    for (const Active& one : active_) runs[one.member.model] = true;
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < left_.size(); ++i)
      if (left_[i] > 0 && !runs[i]) list.push_back(i);
    return list;
  }

 private:
  struct Active {
    Member member;
    double rate, begin;
  };
  void end_span(const Active& one, double now) {
    schedule_.spans.push_back({one.member.model, one.member.accelerators, one.begin, now});
    schedule_.busy_s += (now - one.begin) * static_cast<double>(one.member.accelerators);
  }

  const Models& models_;
  Schedule& schedule_;
  std::vector<double> left_;
  std::vector<Active> active_;
  std::int64_t busy_ = 0;
};

Schedule fleet_global(const Models& models, const Machine& machine, const StopCosts& costs,
                      const PlanRules& rules) {
  Schedule schedule;
  schedule.rounds = 0;
  Running running(models, schedule);
  const double least = rules.alpha * static_cast<double>(machine.accelerators);
  for (auto waiting = running.waiting(); !waiting.empty(); waiting = running.waiting()) {
    if (rules.check) rules.check();
    const auto members = make_flotilla(models, waiting, machine.accelerators, rules.flotilla);
    schedule.placements.push_back(place(members, machine.per_node));
    running.start(members, schedule.total_s);
    ++schedule.rounds;
    do {
      schedule.total_s = running.next_end(schedule.total_s);
    } while (!running.idle() && static_cast<double>(running.busy()) >= least);
    running.stop_all(schedule.total_s);
    schedule.total_s += costs.total();
  }
  return schedule;
}

Schedule fleet_local(const Models& models, const Machine& machine, const PlanRules& rules) {
  Schedule schedule;
  Running running(models, schedule);
  for (auto waiting = running.waiting(); !waiting.empty() || !running.idle();
       waiting = running.waiting()) {
    if (rules.check) rules.check();
    const std::int64_t free = machine.accelerators - running.busy();
    if (free > 0 && !waiting.empty())
      running.start(make_flotilla(models, waiting, free, rules.flotilla), schedule.total_s);
    schedule.total_s = running.next_end(schedule.total_s);
  }
  return schedule;
}

// Rounds in one order; the spans are those of that order.
Schedule rounds_in(const std::vector<std::ptrdiff_t>& order, const Models& models,
                   const Machine& machine) {
  Schedule schedule;
  schedule.rounds = 0;
  const auto width = static_cast<std::size_t>(machine.accelerators);
  for (std::size_t from = 0; from < order.size(); from += width) {
    double longest = 0;
    for (std::size_t i = from; i < std::min(from + width, order.size()); ++i) {
      const auto model = static_cast<std::size_t>(order[i]);
      const double length = models[model].work / models[model].curve.at(1);
      schedule.spans.push_back({model, 1, schedule.total_s, schedule.total_s + length});
      schedule.busy_s += length;
      longest = std::max(longest, length);
    }
    schedule.total_s += longest;
    ++schedule.rounds;
  }
  return schedule;
}

// Nobody orders the models, so the total is the mean over random orders.
Schedule homogeneous(const Models& models, const Machine& machine, const PlanRules& rules) {
  learn::Random random(rules.seed);
  Schedule schedule;
  double sum = 0;
  for (int i = 0; i < rules.orders; ++i) {
    schedule =
        rounds_in(random.permutation(static_cast<std::ptrdiff_t>(models.size())), models, machine);
    sum += schedule.total_s;
  }
  schedule.total_s = sum / rules.orders;
  return schedule;
}

}  // namespace

const std::vector<Planner>& all_planners() {
  static const std::vector<Planner> all = [] {
    std::vector<Planner> list;
    for (const PlannerEntry& entry : kPlanners) list.push_back(entry.planner);
    return list;
  }();
  return all;
}

const char* planner_name(Planner planner) {
  for (const PlannerEntry& entry : kPlanners)
    if (entry.planner == planner) return entry.name;
  return "";
}

std::optional<Planner> parse_planner(std::string_view name) {
  for (const PlannerEntry& entry : kPlanners)
    if (name == entry.name) return entry.planner;
  return {};
}

bool is_clairvoyant(Planner planner) {
  for (const PlannerEntry& entry : kPlanners)
    if (entry.planner == planner) return entry.clairvoyant;
  return false;
}

std::vector<double> true_work(const Models& models) {
  std::vector<double> work;
  for (const PlannedModel& model : models) work.push_back(model.work);
  return work;
}

Schedule simulate(Planner planner, const Models& models, const std::vector<double>& believed,
                  const Machine& machine, const StopCosts& costs, const PlanRules& rules) {
  if (models.empty()) return {};
  switch (planner) {
    case Planner::kHomogeneous:
      return homogeneous(models, machine, rules);
    case Planner::kFleetGlobal:
      return fleet_global(models, machine, costs, rules);
    case Planner::kFleetLocal:
      return fleet_local(models, machine, rules);
    case Planner::kLongestFirst:
      return run_list(models, longest_first(models, believed, ones(models)), machine);
    case Planner::kMoldable:
      return run_list(models, moldable(models, believed, machine), machine);
  }
  return {};
}

double lower_bound(const Models& models, const Machine& machine) {
  double area = 0, longest = 0;
  for (const PlannedModel& model : models) {
    double best = 0;  // images/s of each accelerator
    const std::int64_t most = std::min(machine.accelerators, model.curve.useful());
    for (std::int64_t m = 1; m <= most; ++m)
      best = std::max(best, model.curve.at(m) / static_cast<double>(m));
    area += model.work / best;
    longest = std::max(longest, model.work / model.curve.at(machine.accelerators));
  }
  return std::max(longest, area / static_cast<double>(machine.accelerators));
}

}  // namespace omen::ensemble
