// SPDX-License-Identifier: Apache-2.0
// Reads the tables of the profiled grid.
#include "profiled_jobs.hpp"

#include <cstdlib>
#include <map>
#include <omen/container.hpp>
#include <omen/learn/artifact_state.hpp>
#include <omen/opgraph/zoo.hpp>

#include "operator_tables.hpp"

namespace omen::driple::checks {
namespace {

double number_in(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}
int count_in(const std::string& text) {
  return static_cast<int>(number_in(text));
}

}  // namespace

opgraph::Job profiled_job(const std::string& model, int batch, const std::string& optimizer,
                          int classes) {
  opgraph::ZooRun run;
  run.batch = batch;
  run.classes = classes;
  run.optimizer = opgraph::optimizer_of(optimizer).value();
  return opgraph::zoo_job(model, run);
}

std::vector<ProfiledStep> read_steps() {
  std::vector<ProfiledStep> steps;
  for_each_row("../step_times.csv",
               {"gpu", "model", "batch", "optimizer", "dataset", "num_classes", "step_ms"},
               [&](const TextRow& r) {
                 ProfiledStep step;
                 step.gpu = r[0], step.model = r[1], step.optimizer = r[3], step.dataset = r[4];
                 step.batch = count_in(r[2]);
                 step.seconds = 1e-3 * number_in(r[6]);
                 step.job = profiled_job(r[1], step.batch, r[3], count_in(r[5]));
                 steps.push_back(std::move(step));
               });
  return steps;
}

std::vector<ProfiledRun> read_runs() {
  std::vector<ProfiledRun> runs;
  for_each_row(
      "../jobs_clean.csv",
      {"gpu", "model", "batch", "optimizer", "epochs", "dataset", "exec_s", "steps", "oom"},
      [&](const TextRow& r) {
        ProfiledRun run;
        run.gpu = r[0], run.model = r[1], run.optimizer = r[3], run.dataset = r[5];
        run.batch = count_in(r[2]), run.epochs = count_in(r[4]);
        run.seconds = number_in(r[6]), run.steps = number_in(r[7]);
        run.out_of_memory = r[8] == "1";
        runs.push_back(std::move(run));
      });
  return runs;
}

OperatorModel shipped_operator_model() {
  const container::Reader reader = container::Reader::open(OMEN_DRIPLE_OPERATORS);
  OperatorModel operators;
  operators.load(learn::ArtifactSource(ArtifactReader(reader.source())));
  return operators;
}

std::vector<JobRow> job_rows(const std::vector<ProfiledStep>& steps,
                             const OperatorModel& operators) {
  std::vector<JobRow> rows;
  std::map<std::string, std::int32_t> groups;
  for (const ProfiledStep& step : steps) {
    JobRow row;
    row.device = device_named(step.gpu);
    row.costs = job_costs(step.job, row.device, operators);
    row.seconds = step.seconds;
    row.group = groups.emplace(step.model, static_cast<std::int32_t>(groups.size())).first->second;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace omen::driple::checks
