// SPDX-License-Identifier: Apache-2.0
// Step times of image networks: rows, settings, networks and GPUs held out in turn.
//   driple_steps
// With OMEN_SHOW_BREAK=1 every step is taken for its bound.
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <omen/learn/random.hpp>
#include <set>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "profiled_jobs.hpp"
#include "step/memory.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;
namespace test = omen::test;

using Label = std::function<std::string(std::size_t)>;

struct Outcome {
  std::vector<double> said, half;
};

// Every row answered by a model that saw no row with the same label.
Outcome hold_out(const std::vector<JobRow>& rows, const Label& label, const Label& inner) {
  std::map<std::string, std::vector<std::size_t>> parts;
  for (std::size_t r = 0; r < rows.size(); ++r) parts[label(r)].push_back(r);
  Outcome outcome;
  outcome.said.resize(rows.size());
  outcome.half.resize(rows.size());
  for (const auto& [name, held] : parts) {
    const std::set<std::size_t> out(held.begin(), held.end());
    std::vector<JobRow> train, asked;
    std::map<std::string, std::int32_t> groups;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      JobRow row = rows[r];
      row.group = groups.emplace(inner(r), static_cast<std::int32_t>(groups.size())).first->second;
      (out.count(r) ? asked : train).push_back(row);
    }
    StepModel model;
    model.fit(train, {});
    const std::vector<StepAnswer> answers = model.ask(asked, 0.9);
    for (std::size_t i = 0; i < held.size(); ++i) {
      outcome.said[held[i]] = test::broken() ? asked[i].costs.bound : answers[i].seconds;
      outcome.half[held[i]] = answers[i].half_width;
    }
  }
  return outcome;
}

double percent_off(const std::vector<JobRow>& rows, const Outcome& outcome,
                   const std::function<bool(std::size_t)>& counts) {
  double sum = 0, count = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!counts(r)) continue;
    sum += std::abs(outcome.said[r] / rows[r].seconds - 1), ++count;
  }
  return 100 * sum / count;
}

double coverage(const std::vector<JobRow>& rows, const Outcome& outcome) {
  double inside = 0;
  for (std::size_t r = 0; r < rows.size(); ++r)
    inside += std::abs(std::log(outcome.said[r] / rows[r].seconds)) <= outcome.half[r] ? 1 : 0;
  return 100 * inside / static_cast<double>(rows.size());
}

// Ten measured settings of the held-out GPU correct a model of the others.
double after_ten(const std::vector<JobRow>& rows, const std::vector<ProfiledStep>& steps) {
  double sum = 0, count = 0;
  for (const char* gpu : {"GTX1080", "RTX2070", "TitanX"}) {
    std::vector<JobRow> train, own;
    for (std::size_t r = 0; r < rows.size(); ++r)
      (steps[r].gpu == gpu ? own : train).push_back(rows[r]);
    StepModel base;
    base.fit(train, {});
    omen::learn::MemoryState kept;
    base.save(kept);
    for (std::uint64_t draw = 0; draw < 10; ++draw) {
      StepModel model;
      model.load(kept);
      const auto order =
          omen::learn::Random(1, draw).permutation(static_cast<std::ptrdiff_t>(own.size()));
      std::vector<JobRow> seen, asked;
      for (std::size_t i = 0; i < own.size(); ++i)
        (i < 10 ? seen : asked).push_back(own[static_cast<std::size_t>(order[i])]);
      model.observe(seen);
      const std::vector<StepAnswer> answers = model.ask(asked, 0.9);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const double said = test::broken() ? asked[i].costs.bound : answers[i].seconds;
        sum += std::abs(said / asked[i].seconds - 1), ++count;
      }
    }
  }
  return 100 * sum / count;
}

constexpr const char* kGpus[] = {"GTX1080", "RTX2070", "TitanX"};

// The same job on the other two GPUs, scaled by a published figure; the geometric mean of both.
double scaled_off(const std::vector<ProfiledStep>& steps, const std::string& gpu,
                  double Device::*figure) {
  std::map<std::string, std::vector<double>> logs;
  for (const ProfiledStep& step : steps)
    if (step.gpu != gpu)
      logs[step.setting() + step.dataset].push_back(
          std::log(step.seconds * device_named(step.gpu).*figure / device_named(gpu).*figure));
  double sum = 0, count = 0;
  for (const ProfiledStep& step : steps) {
    const auto others = logs.find(step.setting() + step.dataset);
    if (step.gpu != gpu || others == logs.end()) continue;
    double mean = 0;
    for (const double each : others->second)
      mean += each / static_cast<double>(others->second.size());
    sum += std::abs(std::exp(mean) / step.seconds - 1), ++count;
  }
  return 100 * sum / count;
}

struct Choices {
  double settings = 0, right = 0, regret = 0;
};

// The fastest GPU that the memory gate lets through, against the fastest run that finished.
Choices choose(const std::vector<ProfiledStep>& steps, const std::vector<ProfiledRun>& all_runs,
               const Outcome& outcome) {
  std::map<std::string, std::size_t> step_of;
  for (std::size_t r = 0; r < steps.size(); ++r)
    step_of[steps[r].setting() + steps[r].dataset + steps[r].gpu] = r;
  std::map<std::string, std::vector<const ProfiledRun*>> settings;
  for (const ProfiledRun& run : all_runs)
    settings[run.setting() + run.dataset + std::to_string(run.epochs)].push_back(&run);
  Choices found;
  for (const auto& [name, runs] : settings) {
    const ProfiledRun* chosen = nullptr;
    double least = 1e300, best = 1e300;
    bool crashed = false;
    for (const ProfiledRun* run : runs) {
      const auto at = step_of.find(run->setting() + run->dataset + run->gpu);
      const auto any = step_of.find(run->setting() + run->dataset + "TitanX");
      const bool fits = memory_need(steps[any->second].job).fits(device_named(run->gpu));
      if (run->out_of_memory) {
        crashed |= fits;
        continue;
      }
      best = std::min(best, run->seconds);
      if (!fits || outcome.said[at->second] >= least) continue;
      least = outcome.said[at->second], chosen = run;
    }
    ++found.settings;
    if (!chosen || crashed) continue;
    found.right += chosen->seconds <= best ? 1 : 0;
    found.regret += chosen->seconds / best - 1;
  }
  return found;
}

// Runs, or settings of a GPU, that crashed and were refused or finished and were refused.
struct Gate {
  double caught = 0, crashed = 0, alarms = 0, finished = 0;
  void add(bool refused, bool ran_out) {
    (ran_out ? crashed : finished) += 1;
    if (refused) (ran_out ? caught : alarms) += 1;
  }
};

// The rule has nothing that is fitted, so that it is the same whatever network is held out.
int show_memory(const std::vector<ProfiledRun>& runs) {
  Gate every, distinct;
  std::map<std::string, MemoryNeed> needs;
  std::set<std::string> seen;
  for (const ProfiledRun& run : runs) {
    const std::string key = run.setting();
    if (!needs.count(key))
      needs[key] = memory_need(profiled_job(run.model, run.batch, run.optimizer, 1001));
    const bool refused = !test::broken() && !needs.at(key).fits(device_named(run.gpu));
    every.add(refused, run.out_of_memory);
    if (seen.insert(key + run.gpu).second) distinct.add(refused, run.out_of_memory);
  }
  int missed = test::show("out_of_memory_caught", every.caught, "runs", ">=", 40);
  test::show("out_of_memory", every.crashed, "runs");
  missed |= test::show("false_alarms", 100 * every.alarms / every.finished, "%", "<=", 1);
  test::show("settings_out_of_memory", distinct.crashed, "settings");
  missed |= test::show("settings_missed", distinct.crashed - distinct.caught, "settings", "==", 0);
  test::show("settings_false_alarms", 100 * distinct.alarms / distinct.finished, "%");
  return missed | test::show("shipped_rule_missed", every.crashed - every.caught, "runs", "==", 0);
}

}  // namespace

int main() {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the step times are absent");
    return test::kSkipped;
  }
  const std::vector<ProfiledStep> steps = read_steps();
  const std::vector<JobRow> rows = job_rows(steps, shipped_operator_model());
  const auto all = [](std::size_t) { return true; };
  const auto setting = [&](std::size_t r) { return steps[r].setting(); };
  const auto model = [&](std::size_t r) { return steps[r].model; };
  const auto gpu = [&](std::size_t r) { return steps[r].gpu; };
  const auto not_lenet = [&](std::size_t r) { return steps[r].model != "lenet"; };
  const auto order = omen::learn::Random(1).permutation(static_cast<std::ptrdiff_t>(rows.size()));
  const auto random = [&](std::size_t r) { return std::to_string(order[r] % 5); };
  omen::learn::Random draw(2);
  std::map<std::string, std::string> fold_of;
  for (const ProfiledStep& step : steps)
    fold_of.emplace(step.setting(), std::to_string(draw.below(5)));
  const auto grouped = [&](std::size_t r) { return fold_of.at(steps[r].setting()); };

  int missed =
      test::show("random", percent_off(rows, hold_out(rows, random, setting), all), "%", "<=", 2.6);
  const Outcome by_setting = hold_out(rows, grouped, setting);
  missed |= test::show("grouped", percent_off(rows, by_setting, all), "%", "<=", 4.5);
  missed |= test::show("grouped_coverage_low", coverage(rows, by_setting), "%", ">=", 87);
  missed |= test::show("grouped_coverage_high", coverage(rows, by_setting), "%", "<=", 93);
  const Outcome by_model = hold_out(rows, model, model);
  missed |= test::show("model_out", percent_off(rows, by_model, all), "%", "<=", 15);
  missed |=
      test::show("model_out_without_lenet", percent_off(rows, by_model, not_lenet), "%", "<=", 8);
  std::set<std::string> names;
  for (const ProfiledStep& step : steps) names.insert(step.model);
  for (const std::string& name : names)
    test::show("model_out_" + name,
               percent_off(rows, by_model, [&](std::size_t r) { return steps[r].model == name; }),
               "%");
  missed |= test::show("model_out_coverage_low", coverage(rows, by_model), "%", ">=", 80);
  missed |= test::show("model_out_coverage_high", coverage(rows, by_model), "%", "<=", 97);
  const Outcome by_gpu = hold_out(rows, gpu, gpu);
  double mean = 0;
  for (const char* name : kGpus) {
    const double own =
        percent_off(rows, by_gpu, [&](std::size_t r) { return steps[r].gpu == name; });
    missed |= test::show(std::string("gpu_out_") + name, own, "%", "<",
                         scaled_off(steps, name, &Device::bandwidth));
    missed |= test::show(std::string("gpu_out_by_rate_") + name, own, "%", "<",
                         scaled_off(steps, name, &Device::fp32));
    mean += own / 3;
  }
  missed |= test::show("gpu_out", mean, "%", "<=", 13);
  const std::vector<ProfiledRun> runs = read_runs();
  const Choices choices = choose(steps, runs, by_model);
  missed |= test::show("fastest_gpu", 100 * choices.right / choices.settings, "%", ">=", 95);
  missed |= test::show("regret", 100 * choices.regret / choices.settings, "%", "<=", 0.15);
  test::show("fastest_gpu_settings", choices.settings, "settings");
  missed |= show_memory(runs);
  missed |= test::show("after_ten", after_ten(rows, steps), "%", "<=", 8);
  return missed;
}
