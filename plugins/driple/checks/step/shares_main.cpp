// SPDX-License-Identifier: Apache-2.0
// Shares of a job in which its GPU idles and has no pause, of networks and GPUs that were left out,
// beside the median of the others; and the same form for resources that have no head.
//   driple_shares
// With OMEN_SHOW_BREAK=1 every step takes a microsecond.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "profiled_jobs.hpp"
#include "profiled_use.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;
namespace test = omen::test;

constexpr double kLevel = 0.9;
// Intervals of steps are not asked for here.
constexpr StepOptions kFewFolds = {2, 1};

// A step as it was measured, and as it is said where its network or GPU is left out.
struct Step {
  JobRow job;
  double said = 0;
};
using Label = std::function<std::string(const ProfiledStep&)>;

std::map<std::string, Step> steps_without(const std::vector<ProfiledStep>& steps,
                                          const std::vector<JobRow>& rows, const Label& part) {
  std::map<std::string, Step> found;
  std::set<std::string> parts;
  for (const ProfiledStep& step : steps) parts.insert(part(step));
  for (const std::string& held : parts) {
    std::vector<JobRow> train, asked;
    for (std::size_t r = 0; r < rows.size(); ++r)
      (part(steps[r]) == held ? asked : train).push_back(rows[r]);
    StepModel model;
    model.fit(train, kFewFolds);
    const std::vector<StepAnswer> answers = model.ask(asked, kLevel);
    std::size_t next = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (part(steps[r]) != held) continue;
      const double said = test::broken() ? 1e-6 : answers[next].seconds;
      found[word_of(steps[r])] = {rows[r], said};
      ++next;
    }
  }
  return found;
}

struct Off {
  double idle = 0, peak = 0, idle_constant = 0, peak_constant = 0, count = 0;
  double idle_covered = 0, peak_covered = 0;
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// By the part that was left out.
std::map<std::string, Off> judge(const std::vector<ProfiledUse>& all,
                                 const std::map<std::string, Step>& steps,
                                 const std::function<std::string(const ProfiledUse&)>& part) {
  std::map<std::string, Off> found;
  std::set<std::string> parts;
  for (const ProfiledUse& use : all) parts.insert(part(use));
  for (const std::string& held : parts) {
    std::vector<UseRow> train;
    std::vector<double> idle, peak;
    for (const ProfiledUse& use : all) {
      if (part(use) == held) continue;
      const Step& step = steps.at(use.step());
      train.push_back(use.row(step.job, step.job.seconds));
      idle.push_back(use.idle), peak.push_back(use.peak);
    }
    UseModel model;
    model.fit(train);
    const double usual_idle = median_of(idle), usual_peak = median_of(peak);
    Off& off = found[held];
    for (const ProfiledUse& use : all) {
      if (part(use) != held) continue;
      const Step& step = steps.at(use.step());
      const UseShares said = model.ask(use.row(step.job, step.said), kLevel).value();
      off.idle += std::abs(said.idle - use.idle), off.peak += std::abs(said.peak - use.peak);
      off.idle_covered += std::abs(said.idle - use.idle) <= said.idle_off;
      off.peak_covered += std::abs(said.peak - use.peak) <= said.peak_off;
      off.idle_constant += std::abs(usual_idle - use.idle);
      off.peak_constant += std::abs(usual_peak - use.peak);
      ++off.count;
    }
  }
  return found;
}

Off pooled(const std::map<std::string, Off>& parts) {
  Off sum;
  for (const auto& [name, off] : parts) {
    sum.idle += off.idle, sum.peak += off.peak, sum.count += off.count;
    sum.idle_covered += off.idle_covered, sum.peak_covered += off.peak_covered;
    sum.idle_constant += off.idle_constant, sum.peak_constant += off.peak_constant;
  }
  return sum;
}

int show_parts(const std::string& what, const std::map<std::string, Off>& parts) {
  for (const auto& [name, off] : parts) {
    test::show(what + "_idle_" + name, 100 * off.idle / off.count, "%");
    test::show(what + "_idle_constant_" + name, 100 * off.idle_constant / off.count, "%");
    test::show(what + "_peak_" + name, 100 * off.peak / off.count, "%");
    test::show(what + "_peak_constant_" + name, 100 * off.peak_constant / off.count, "%");
  }
  const Off all = pooled(parts);
  test::show(what + "_idle_covered", 100 * all.idle_covered / all.count, "%");
  test::show(what + "_peak_covered", 100 * all.peak_covered / all.count, "%");
  int missed = test::show(what + "_idle", 100 * all.idle / all.count, "%", "<",
                          100 * all.idle_constant / all.count);
  return missed | test::show(what + "_peak", 100 * all.peak / all.count, "%", "<",
                             100 * all.peak_constant / all.count);
}

void show_idle(const std::string& what, const std::map<std::string, Off>& parts) {
  const Off off = pooled(parts);
  test::show(what + "_idle", 100 * off.idle / off.count, "%");
  test::show(what + "_idle_constant", 100 * off.idle_constant / off.count, "%");
}

}  // namespace

int main() {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the perf table is absent");
    return test::kSkipped;
  }
  const std::vector<ProfiledStep> steps = read_steps();
  const std::vector<JobRow> rows = job_rows(steps, shipped_operator_model());
  const auto model = [](const ProfiledUse& use) { return use.model; };
  const auto gpu = [](const ProfiledUse& use) { return use.gpu; };
  const auto by_model = steps_without(steps, rows, [](const auto& step) { return step.model; });
  const auto by_gpu = steps_without(steps, rows, [](const auto& step) { return step.gpu; });
  const std::vector<ProfiledUse> use = read_use(Resource::gpu_util);
  int missed = show_parts("shares_network_out", judge(use, by_model, model));
  missed |= show_parts("shares_gpu_out", judge(use, by_gpu, gpu));
  // Resources without a head: the order of their two clusters is mostly a guess.
  const std::pair<const char*, Resource> others[] = {{"memory_traffic", Resource::gpu_mem_util},
                                                     {"cpu", Resource::cpu_util}};
  for (const auto& [name, resource] : others) {
    const std::vector<ProfiledUse> rows_of = read_use(resource);
    show_idle(std::string("shares_of_") + name + "_network_out", judge(rows_of, by_model, model));
    show_idle(std::string("shares_of_") + name + "_gpu_out", judge(rows_of, by_gpu, gpu));
  }
  return missed;
}
