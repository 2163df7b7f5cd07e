// SPDX-License-Identifier: Apache-2.0
// Lowers each distinct job once, and asks the predictor for one kind of GPU after the other.
#include "simulate/queue_forecast.hpp"

#include <omen/tables.h>
#include <algorithm>
#include <limits>
#include <omen/join.hpp>
#include <omen/json_text.hpp>
#include <omen/opgraph/tables.hpp>
#include <omen/registry.hpp>

#include "step/step_rows.hpp"

namespace omen::driple {
namespace {

constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

std::string options_text(const QueueRow& row) {
  return "{" +
         join(row.options, ",",
              [](const auto& option) {
                return json_quote(option.first) + ":" + json_quote(option.second);
              }) +
         "}";
}

opgraph::Job job_of(const QueueRow& row, const Run& run) {
  MemoryDataset tables;
  for (auto& [name, table] : call::lower(run, nullptr, row.network, options_text(row)))
    tables.put(name, std::move(table));
  std::vector<opgraph::Job> jobs = opgraph::read_jobs(tables.view());
  if (jobs.size() != 1)
    throw Error(OMEN_INVALID_DATA,
                row.network + " holds " + std::to_string(jobs.size()) + " jobs, not one",
                "Write one line a job.");
  return std::move(jobs[0]);
}

// Jobs that differ in nothing that a step depends on share a graph.
class Graphs {
 public:
  std::size_t find(const QueueRow& row, const Run& run) {
    const auto [at, fresh] = places_.emplace(row.network + "\n" + options_text(row), jobs_.size());
    if (fresh) jobs_.push_back(job_of(row, run));
    return at->second;
  }
  const std::vector<opgraph::Job>& jobs() const { return jobs_; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<opgraph::Job> jobs_;
};

struct Believed {
  std::vector<double> step_s, use;  // of each graph; NaN where there is no answer
};

Believed ask(const std::vector<opgraph::Job>& jobs, const std::string& gpu, const Forecaster& who,
             const Run& run) {
  MemoryDataset asked;
  asked.put(OMEN_TABLE_WORKLOADS,
            opgraph::workload_columns(jobs)
                .add_categories("gpu", std::vector<std::string>(jobs.size(), gpu))
                .finish());
  asked.put(OMEN_TABLE_NODES, opgraph::node_columns(jobs).finish());
  asked.put(OMEN_TABLE_EDGES, opgraph::edge_columns(jobs).finish());
  const Table said =
      call::predict(run, who.predictor.c_str(), asked.view(), {}, who.model).read_all();
  if (!said.has("step_ms"))
    throw Error(OMEN_INVALID_ARGUMENT, who.predictor + " predicts no step_ms",
                "Name a predictor of step times.");
  const std::vector<double> id = numbers_or(said, OMEN_COLUMN_WORKLOAD_ID, 0),
                            step = numbers_or(said, "step_ms", kNoTime),
                            use = numbers_or(said, "utilisation", 0);
  Believed believed{std::vector<double>(jobs.size(), kNoTime), std::vector<double>(jobs.size())};
  for (std::size_t r = 0; r < id.size(); ++r) {
    const auto job = static_cast<std::size_t>(id[r]);
    if (step[r] > 0) believed.step_s.at(job) = step[r] / 1e3;
    believed.use.at(job) = use[r];
  }
  return believed;
}

double steps_in(const QueueRow& row, const opgraph::StepFacts& facts) {
  const double steps =
      row.steps > 0 ? row.steps : steps_of(facts, row.epochs, row.samples, row.total_tokens);
  if (!(steps > 0))
    throw Error(OMEN_INVALID_DATA, "job '" + row.name + "' does not say how long it is",
                "Give it steps, or epochs and samples, or total_tokens.");
  return steps;
}

// Measured times under another spelling of the same GPU count as well.
double true_seconds(const QueueRow& row, const std::string& gpu, double believed) {
  if (row.measured_s.empty()) return believed;
  for (const auto& [spelling, seconds] : row.measured_s)
    if (devices::find(spelling) == devices::find(gpu)) return seconds;
  throw Error(OMEN_INVALID_DATA, "there is no column time_s." + gpu,
              "Measured times are needed of every GPU that is offered, or of none.");
}

}  // namespace

std::vector<bool> worth_trying(const MemoryNeed& need,
                               const std::vector<std::optional<Device>>& devices) {
  constexpr double kClose = 1.05;
  std::vector<bool> fits, close;
  for (const std::optional<Device>& device : devices) {
    fits.push_back(device && need.fits(*device));
    close.push_back(device && need.total() <= kClose * device->memory);
  }
  return std::find(fits.begin(), fits.end(), true) != fits.end() ? fits : close;
}

std::vector<QueuedJob> forecast(const std::vector<QueueRow>& rows,
                                const std::vector<std::string>& gpus, const Forecaster& who,
                                const Run& run) {
  Graphs graphs;
  std::vector<std::size_t> graph;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    run.step(0.5 * static_cast<double>(r) / static_cast<double>(rows.size()), "graphs");
    graph.push_back(graphs.find(rows[r], run));
  }
  std::vector<std::optional<Device>> devices;
  for (const std::string& gpu : gpus) devices.push_back(registered_device(gpu));
  std::vector<std::vector<bool>> fits;
  for (const opgraph::Job& job : graphs.jobs())
    fits.push_back(worth_trying(memory_need(job), devices));
  std::vector<QueuedJob> jobs(rows.size());
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    run.step(0.5 + 0.5 * static_cast<double>(g) / static_cast<double>(gpus.size()), "predictions");
    const Believed believed = ask(graphs.jobs(), gpus[g], who, run);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::size_t at = graph[r];
      const double steps = steps_in(rows[r], graphs.jobs()[at].facts);
      const double seconds = fits[at][g] ? steps * believed.step_s[at] : kNoTime;
      jobs[r].name = rows[r].name;
      jobs[r].arrival_s = rows[r].arrival_s;
      jobs[r].believed_s.push_back(seconds);
      jobs[r].use.push_back(believed.use[at]);
      jobs[r].true_s.push_back(true_seconds(rows[r], gpus[g], seconds));
    }
  }
  return jobs;
}

}  // namespace omen::driple
