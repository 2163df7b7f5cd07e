// SPDX-License-Identifier: Apache-2.0
// Runs the jobs of a comparison in its directory and leaves the reports there.
#include "cli/compare_run.hpp"

#include <atomic>
#include <sstream>

#include "compare/assemble.hpp"
#include "compare/run_directory.hpp"
#include "omen/pending_file.hpp"
#include "pipeline/models.hpp"
#include "report/report.hpp"
#include "text/json_writer.hpp"
#include "text/log.hpp"
#include "worker/machine.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

void write_record(const Session& session, const RunDirectory& run, const RunRecord& record) {
  JsonWriter json;
  session.begin_record(json, "compare");
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

std::int32_t screen_level(const Globals& globals) {
  if (globals.quiet) return OMEN_LOG_ERROR;
  return globals.verbose > 1 ? OMEN_LOG_DEBUG : globals.verbose ? OMEN_LOG_INFO : OMEN_LOG_WARN;
}

std::string folds_text(std::size_t done, std::size_t all) {
  return std::to_string(done) + " of " + std::to_string(all) + " folds";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-./=@,:+%") == std::string::npos;
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return line;
}

FinishedRun run_comparison(Session& session, const ComparePlan& plan,
                           const CompareSettings& settings, std::vector<std::string> warnings) {
  const std::size_t baseline =
      settings.baseline.empty() ? 0 : find_contestant(plan, settings.baseline);
  const std::vector<Job> jobs = plan_jobs(plan);
  RunDirectory run = settings.run_dir.empty()
                         ? RunDirectory::open(settings.runs_dir, plan_digest(jobs))
                         : RunDirectory::at(settings.run_dir, plan_digest(jobs), false);
  configure_log({screen_level(session.globals()), run.path() / "log.txt", {}});
  FinishedRun out;
  out.record = start_record(plan, jobs);
  out.record.id = run.id();
  out.record.directory = run.path();
  out.record.rope = settings.rope;
  out.record.self_check = settings.self_check;
  out.record.baseline = plan.contestants[baseline].facts.label;
  write_record(session, run, out.record);
  if (run.resumed()) log(OMEN_LOG_INFO, "omen", "going on with run " + run.id());

  std::size_t finished = 0;
  std::vector<JobResult> results;
  try {
    const JobRunner runner =
        settings.ranks ? settings.ranks->runner(rank_work(plan), {}) : local_runner(plan, {});
    results = run_jobs(plan, jobs, run.results(), runner, [&](std::size_t done, std::size_t all) {
      finished = done;
      session.progress().update(static_cast<double>(done) / static_cast<double>(all),
                                folds_text(done, all).c_str());
    });
    if (settings.ranks) settings.ranks->dismiss();
  } catch (const Error& error) {
    session.progress().finish();
    if (error.code() != OMEN_CANCELLED) throw;
    throw Error(OMEN_CANCELLED,
                "interrupted: " + folds_text(finished, jobs.size()) + " are finished and kept in " +
                    run.path().string(),
                "go on with: omen " + shell_words(session.globals().command_line));
  }
  session.progress().finish();

  out.comparison =
      assemble(plan, jobs, results, {baseline, settings.rope, std::max(1u, plan.jobs_at_once)});
  Comparison& comparison = out.comparison;
  comparison.warnings.insert(comparison.warnings.begin(), warnings.begin(), warnings.end());
  comparison.id = run.id();
  comparison.time = utc_now();
  comparison.command_line = "omen " + shell_words(session.globals().command_line);
  comparison.revision = source_revision();
  comparison.machine_json = machine_json();
  comparison.self_check = settings.self_check;
  comparison.directory = run.path();
  comparison.seconds = session.elapsed();
  finish_record(out.record, comparison, jobs, results);
  write_reports(comparison);
  write_record(session, run, out.record);
  run.finish();
  return out;
}

}  // namespace omen::host::cli
