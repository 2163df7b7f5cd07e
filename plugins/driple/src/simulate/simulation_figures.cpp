// SPDX-License-Identifier: Apache-2.0
// Rows of a chart are GPUs, bars are jobs.
#include "simulate/simulation_figures.hpp"

#include <algorithm>
#include <omen/figure.hpp>

namespace omen::driple {
namespace {

constexpr std::size_t kRowPixels = 26, kFramePixels = 160;
// Longer schedules are cut in the chart, not in its table.
constexpr std::size_t kMostBars = 4000;

}  // namespace

Table schedule_table(const std::vector<QueuedJob>& jobs, const Fleet& fleet,
                     const Schedule& schedule, Policy policy) {
  std::vector<std::string> job, gpu;
  std::vector<double> begin, end;
  std::vector<bool> failed;
  for (const Placement& placement : schedule.placements) {
    job.push_back(jobs[placement.job].name);
    gpu.push_back(fleet.names[placement.gpu]);
    begin.push_back(placement.begin_s);
    end.push_back(placement.end_s);
    failed.push_back(placement.failed);
  }
  const Metadata seconds = {{"omen.unit", "s"}};
  return TableBuilder()
      .add_categories("policy", std::vector<std::string>(job.size(), std::string(word(policy))))
      .add_strings("job", job)
      .add_categories("gpu", gpu)
      .add("begin_s", std::move(begin), seconds)
      .add("end_s", std::move(end), seconds)
      .add_bools("failed", failed)
      .finish();
}

void put_schedule(const Run& run, const std::vector<QueuedJob>& jobs, const Fleet& fleet,
                  const Schedule& schedule, Policy policy) {
  if (run.output_dir().empty()) return;
  std::vector<FigureSpan> ended, failed;
  // GPUs that stay idle have a row as well.
  for (const std::string& name : fleet.names) ended.push_back({name, 0, 0, ""});
  for (const Placement& placement : schedule.placements) {
    if (ended.size() + failed.size() == kMostBars) break;
    (placement.failed ? failed : ended)
        .push_back({fleet.names[placement.gpu], placement.begin_s, placement.end_s,
                    jobs[placement.job].name});
  }
  const std::string name(word(policy));
  Figure figure("jobs on GPUs, policy " + name);
  figure.x_axis(FigureAxis("time", "s").from_zero()).y_axis(FigureAxis("GPU"));
  figure.height(kFramePixels + kRowPixels * fleet.names.size());
  figure.gantt("ended", ended);
  if (!failed.empty()) figure.gantt("out of memory", failed).colour("firebrick");
  put_figure(run, "schedule-" + name, figure.json(), schedule_table(jobs, fleet, schedule, policy));
}

void put_completions(const Run& run, const std::vector<Policy>& policies,
                     const std::vector<Schedule>& schedules) {
  if (run.output_dir().empty()) return;
  Figure figure("jobs that have ended");
  figure.x_axis(FigureAxis("time", "s").from_zero()).y_axis(FigureAxis("jobs").from_zero());
  figure.shared_hover();
  std::vector<std::string> policy;
  std::vector<double> time, count;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    std::vector<double> ends, numbers;
    for (const Placement& placement : schedules[i].placements)
      if (!placement.failed) ends.push_back(placement.end_s);
    std::sort(ends.begin(), ends.end());
    for (std::size_t n = 0; n < ends.size(); ++n) numbers.push_back(static_cast<double>(n + 1));
    figure.lines(std::string(word(policies[i])), ends, numbers);
    policy.insert(policy.end(), ends.size(), std::string(word(policies[i])));
    time.insert(time.end(), ends.begin(), ends.end());
    count.insert(count.end(), numbers.begin(), numbers.end());
  }
  put_figure(run, "completions", figure.json(),
             TableBuilder()
                 .add_categories("policy", policy)
                 .add("time_s", std::move(time), {{"omen.unit", "s"}})
                 .add("jobs", std::move(count))
                 .finish());
}

}  // namespace omen::driple
