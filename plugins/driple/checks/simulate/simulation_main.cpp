// SPDX-License-Identifier: Apache-2.0
// The 384 profiled jobs as a queue on three GPUs: predictions of networks never seen against the
// oracle.
//   driple_simulation PLUGIN.so
// With OMEN_SHOW_BREAK=1 the predictions of two GPUs are exchanged.
#include <omen/tables.h>
#include <cstdio>
#include <limits>
#include <map>
#include <omen/opgraph/tables.hpp>
#include <set>

#include "omen/testing/plugin_client.hpp"
#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "profiled_jobs.hpp"
#include "simulate/queue_forecast.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;
namespace test = omen::test;
namespace opgraph = omen::opgraph;

const std::vector<std::string> kGpus = {"GTX1080", "RTX2070", "TitanX"};

// Jobs on GPUs, as the plugin reads them: figures, no names.
struct Asked {
  std::vector<opgraph::Job> jobs;
  std::vector<std::string> groups, gpus;
  std::vector<double> step_ms;

  void add(const opgraph::Job& job, const std::string& group, const std::string& gpu, double ms) {
    jobs.push_back(job);
    groups.push_back(group);
    gpus.push_back(gpu);
    step_ms.push_back(ms);
  }
  void put_into(omen::MemoryDataset& data) const {
    omen::TableBuilder table = opgraph::workload_columns(jobs, groups);
    for (const std::string& figure : device_figures()) {
      std::vector<double> values;
      std::vector<bool> known;
      for (const std::string& gpu : gpus) {
        const std::optional<double> value = registered(gpu).figure(figure);
        values.push_back(value.value_or(0));
        known.push_back(value.has_value());
      }
      table.add(figure, std::move(values)).valid(known);
    }
    const omen::Table workloads = table.finish();
    data.put(OMEN_TABLE_TARGETS, omen::TableBuilder()
                                     .add_column(workloads, workloads.index("workload_id"))
                                     .add("step_ms", step_ms)
                                     .finish());
    data.put(OMEN_TABLE_WORKLOADS, workloads);
    data.put(OMEN_TABLE_NODES, opgraph::node_columns(jobs).finish());
    data.put(OMEN_TABLE_EDGES, opgraph::edge_columns(jobs).finish());
  }
};

struct Setting {
  std::string model, optimizer, dataset;
  int batch = 0;
  auto operator<=>(const Setting&) const = default;
};
constexpr int kClasses[] = {11, 1001};  // cifar10, imagenet
opgraph::Job job_of(const Setting& setting) {
  return profiled_job(setting.model, setting.batch, setting.optimizer,
                      kClasses[setting.dataset == "imagenet" ? 1 : 0]);
}

using StepTimes = std::map<Setting, std::vector<double>>;  // seconds by GPU

// The settings of one network, answered by a model that saw the others.
void predict_unseen(const test::PluginClient& plugin, const std::string& model,
                    const std::vector<ProfiledStep>& steps, const std::set<Setting>& settings,
                    StepTimes& said) {
  Asked seen, unseen;
  std::vector<Setting> order;
  for (const ProfiledStep& step : steps)
    if (step.model != model) seen.add(step.job, step.model, step.gpu, 1e3 * step.seconds);
  for (const Setting& setting : settings)
    if (setting.model == model) order.push_back(setting);
  for (const Setting& setting : order)
    for (const std::string& gpu : kGpus) unseen.add(job_of(setting), model, gpu, 0);
  omen::MemoryDataset train, ask;
  seen.put_into(train);
  unseen.put_into(ask);
  ask.withhold(OMEN_TABLE_TARGETS);
  const test::ReadyRun run(1, 1);
  test::PredictorClient predictor(plugin.component("driple.step"));
  predictor.fit(train, run);
  const std::vector<double> ms = predictor.predict(ask, run).numbers("step_ms");
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t g = 0; g < kGpus.size(); ++g)
      said[order[i]].push_back(ms[i * kGpus.size() + g] / 1e3);
}

std::vector<QueuedJob> queue_of(const std::vector<ProfiledRun>& runs, const StepTimes& said) {
  constexpr double kNot = std::numeric_limits<double>::quiet_NaN();
  std::map<std::pair<Setting, int>, QueuedJob> jobs;
  for (const ProfiledRun& run : runs) {
    const Setting setting{run.model, run.optimizer, run.dataset, run.batch};
    QueuedJob& job = jobs[{setting, run.epochs}];
    if (job.true_s.empty()) {
      job.name = run.model + " " + std::to_string(run.batch);
      job.true_s.assign(kGpus.size(), kNot);
      job.use.assign(kGpus.size(), 0);
      const std::vector<bool> fits =
          worth_trying(memory_need(job_of(setting)),
                       {device_named(kGpus[0]), device_named(kGpus[1]), device_named(kGpus[2])});
      for (std::size_t g = 0; g < kGpus.size(); ++g) {
        const std::size_t from = test::broken() ? kGpus.size() - 1 - g : g;
        job.believed_s.push_back(fits[g] ? run.steps * said.at(setting)[from] : kNot);
      }
    }
    for (std::size_t g = 0; g < kGpus.size(); ++g)
      if (run.gpu == kGpus[g] && !run.out_of_memory) job.true_s[g] = run.seconds;
  }
  std::vector<QueuedJob> queue;
  for (auto& [key, job] : jobs) queue.push_back(std::move(job));
  return queue;
}

int show_queue(const std::vector<QueuedJob>& queue, const std::string& name) {
  const Fleet fleet{kGpus, {0, 1, 2}};
  const auto over = [](double value, double oracle) { return 100 * (value / oracle - 1); };
  constexpr double kFailure = 60;
  const Schedule oracle = simulate(queue, fleet, Policy::oracle, kFailure),
                 ours = simulate(queue, fleet, Policy::predicted, kFailure),
                 turns = simulate(queue, fleet, Policy::round_robin, kFailure);
  // No schedule can be below either by much: the bounds of the 384 jobs are 213.2 h and 54.8 h.
  test::show(name + "_oracle_makespan", oracle.makespan_s / 3600, "h");
  test::show(name + "_oracle_completion", oracle.mean_completion_s() / 3600, "h");
  int missed = test::show(name + "_makespan_over_oracle", over(ours.makespan_s, oracle.makespan_s),
                          "%", "<=", 3);
  missed |= test::show(name + "_completion_over_oracle",
                       over(ours.mean_completion_s(), oracle.mean_completion_s()), "%", "<=", 3);
  test::show(name + "_round_robin_makespan_over_oracle", over(turns.makespan_s, oracle.makespan_s),
             "%");
  test::show(name + "_round_robin_completion_over_oracle",
             over(turns.mean_completion_s(), oracle.mean_completion_s()), "%");
  test::show(name + "_failures", static_cast<double>(ours.failures), "");
  return missed | test::show(name + "_refused", static_cast<double>(ours.refused), "", "<=", 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the profiled runs are absent");
    return test::kSkipped;
  }
  if (argc != 2) {
    std::puts("usage: driple_simulation PLUGIN.so");
    return 2;
  }
  const test::PluginClient plugin(argv[1]);
  const std::vector<ProfiledStep> steps = read_steps();
  const std::vector<ProfiledRun> runs = read_runs();
  std::set<Setting> settings;
  std::set<std::string> models;
  for (const ProfiledRun& run : runs) {
    settings.insert({run.model, run.optimizer, run.dataset, run.batch});
    models.insert(run.model);
  }
  StepTimes said;
  for (const std::string& model : models) predict_unseen(plugin, model, steps, settings, said);
  const std::vector<QueuedJob> queue = queue_of(runs, said);
  test::show("jobs", static_cast<double>(queue.size()), "", ">=", 384);
  return show_queue(queue, "queue");
}
