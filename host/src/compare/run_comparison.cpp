// SPDX-License-Identifier: Apache-2.0
// Runs the jobs of a comparison in its directory and leaves the reports there.
#include "compare/run_comparison.hpp"

#include <sstream>

#include "compare/assemble.hpp"
#include "compare/run_directory.hpp"
#include "omen/pending_file.hpp"
#include "omen/utc_time.hpp"
#include "pipeline/models.hpp"
#include "report/report.hpp"
#include "text/files.hpp"
#include "text/json_writer.hpp"
#include "text/log.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

void write_record(const CompareFrame& frame, const RunDirectory& run, const RunRecord& record) {
  JsonWriter json;
  frame.begin_record(json);
  write_fields(json, record);
  replace_file(run.path() / "run.json", json.end().text());
}

std::string machine_json() {
  const Machine machine = machine_facts();
  JsonWriter json;
  json.object().field("processor", machine.processor).field("cores", machine.usable_cores);
  json.field("memory_bytes", machine.memory).field("system", machine.system);
  return json.field("kernel", machine.kernel).end().text();
}

void write_reports(const Comparison& comparison) {
  const fs::path& directory = comparison.directory;
  std::ostringstream losses;
  report_csv(losses, comparison);
  write_text(directory / kReportLosses, losses.str());
  write_text(directory / "compare.json", report_json(comparison));
  write_text(directory / kReportPage, report_html(comparison));
}

}  // namespace

std::string folds_text(std::size_t done, std::size_t all) {
  return std::to_string(done) + " of " + std::to_string(all) + " folds";
}

FinishedRun run_comparison(ComparePlan& plan, const CompareSettings& settings,
                           const CompareFrame& frame, const std::vector<std::string>& warnings) {
  const std::size_t baseline =
      settings.baseline.empty() ? 0 : find_contestant(plan, settings.baseline);
  const std::vector<Job> jobs = plan_jobs(plan);
  RunDirectory run = settings.run_dir.empty()
                         ? RunDirectory::open(settings.runs_dir, plan_digest(jobs))
                         : RunDirectory::at(settings.run_dir, plan_digest(jobs), false);
  configure_log({frame.screen_level, run.path() / "log.txt", {}});
  plan.run.state_dir = run.path() / "state";
  FinishedRun out;
  out.record = start_record(plan, jobs);
  out.record.id = run.id();
  out.record.directory = run.path();
  out.record.rope = settings.rope;
  out.record.self_check = settings.self_check;
  out.record.baseline = plan.contestants[baseline].facts.label;
  write_record(frame, run, out.record);
  if (run.resumed()) log(OMEN_LOG_INFO, "omen", "going on with run " + run.id());

  std::size_t finished = 0;
  std::vector<JobResult> results;
  try {
    const JobRunner runner =
        settings.ranks ? settings.ranks->runner(rank_work(plan), {}) : local_runner(plan, {});
    results = run_jobs(plan, jobs, run.results(), runner, [&](std::size_t done, std::size_t all) {
      finished = done;
      frame.progress(done, all);
    });
    if (settings.ranks) settings.ranks->dismiss();
  } catch (const Error& error) {
    frame.end_progress();
    if (error.code() != OMEN_CANCELLED) throw;
    throw Error(OMEN_CANCELLED,
                "interrupted: " + folds_text(finished, jobs.size()) + " are finished and kept in " +
                    run.path().string(),
                "go on with: " + frame.command);
  }
  frame.end_progress();
  std::error_code not_empty;
  fs::remove(plan.run.state_dir, not_empty);

  out.comparison =
      assemble(plan, jobs, results, {baseline, settings.rope, std::max(1u, plan.jobs_at_once)});
  Comparison& comparison = out.comparison;
  comparison.warnings.insert(comparison.warnings.begin(), warnings.begin(), warnings.end());
  comparison.id = run.id();
  comparison.time = utc_now();
  comparison.command_line = frame.command;
  comparison.revision = source_revision();
  comparison.machine_json = machine_json();
  comparison.self_check = settings.self_check;
  comparison.directory = run.path();
  comparison.seconds = frame.elapsed();
  finish_record(out.record, comparison, jobs, results);
  write_reports(comparison);
  write_record(frame, run, out.record);
  run.finish();
  return out;
}

}  // namespace omen::host
