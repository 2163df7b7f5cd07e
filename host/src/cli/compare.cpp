// SPDX-License-Identifier: Apache-2.0
// `omen compare`: predictors on the same folds of the same tasks, with an answer that holds.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "cli/compare_run.hpp"
#include "cli/verbs.hpp"
#include "report/report.hpp"
#include "text/log.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

// A shell turns `--task tasks/*.json` into one task and several words behind it.
bool is_task(const std::string& word) {
  return word.ends_with(".json");
}

std::vector<std::string> given_contestants(const CompareRequest& request) {
  std::vector<std::string> words = request.contestants;
  std::erase_if(words, is_task);
  return words;
}

std::vector<std::string> given_tasks(const CompareRequest& request) {
  std::vector<std::string> words = request.tasks;
  std::copy_if(request.contestants.begin(), request.contestants.end(), std::back_inserter(words),
               is_task);
  return words;
}

void check_request(const CompareRequest& request) {
  if (given_contestants(request).empty())
    usage_error("nothing to compare", "name two predictors; see them with: omen list");
  if (given_tasks(request).empty())
    usage_error("no task to compare on", "give one with --task FILE; make one with: omen task new");
  if (!request.fail_if.empty() && request.fail_if != "worse")
    usage_error("--fail-if is '" + request.fail_if + "', which is not known",
                "write --fail-if worse");
  if (int{request.csv} + int{request.markdown} > 1)
    usage_error("--csv and --markdown exclude each other");
  if (!request.emit.empty() && request.emit != "slurm")
    usage_error("--emit is '" + request.emit + "', which is not known", "write --emit slurm");
  if (request.emit.empty() && !request.output.empty())
    usage_error("-o names the file for --emit slurm", "write the page with --html FILE");
  if (!request.only_jobs.empty() && request.run_dir.empty())
    usage_error("--only-jobs needs a directory that all shares have in common",
                "name it with --run-dir DIR");
}

void print_report(const Globals& globals, const CompareRequest& request,
                  const Comparison& comparison) {
  if (globals.json) {
    print(report_json(comparison));
  } else if (request.csv) {
    std::ostringstream out;
    report_csv(out, comparison);
    print(out.str());
  } else if (request.markdown) {
    print(report_markdown(comparison));
  } else {
    print(report_text(comparison, out_terminal(globals)));
  }
}

// What a gate is about: contestants, not references.
bool any_worse(const Comparison& comparison) {
  for (const TaskResult& task : comparison.tasks)
    for (const TargetResult& target : task.targets)
      for (std::size_t c = 0; c < target.contestants.size(); ++c)
        if (!comparison.contestants[c].reference &&
            target.contestants[c].versus_baseline.verdict == stats::Verdict::kWorse)
          return true;
  return false;
}

// A contestant that fell over has no losses that could be worse.
bool any_failed(const Comparison& comparison) {
  for (const JobRecord& job : comparison.jobs)
    for (const Contestant& contestant : comparison.contestants)
      if (contestant.label == job.contestant && !contestant.reference && job.outcome != "OK")
        return true;
  return false;
}

bool claims_difference(const Comparison& comparison) {
  for (const TaskResult& task : comparison.tasks)
    for (const TargetResult& target : task.targets)
      for (const ContestantResult& contestant : target.contestants) {
        const stats::Verdict verdict = contestant.versus_baseline.verdict;
        if (verdict == stats::Verdict::kBetter || verdict == stats::Verdict::kWorse) return true;
      }
  return false;
}

int judge(const Globals& globals, const CompareRequest& request, const Comparison& comparison) {
  if (request.self_check && claims_difference(comparison)) {
    note(globals, "the self-check failed: a contestant differs from itself under another seed");
    return kFailed;
  }
  if (request.fail_if.empty()) return kOk;
  if (any_worse(comparison)) {
    note(globals, "--fail-if worse: a contestant is worse than the baseline");
    return kFailed;
  }
  if (any_failed(comparison)) {
    note(globals, "--fail-if worse: a contestant failed in a fold");
    return kFailed;
  }
  return kOk;
}

}  // namespace

PlanRequest plan_request(const Session& session, const CompareRequest& request) {
  const PipelineSettings& settings = session.components().settings();
  PlanRequest plan;
  plan.contestants = given_contestants(request);
  plan.tasks = given_tasks(request);
  plan.references = request.references == "all";
  plan.self_check = request.self_check;
  plan.shuffle_labels = request.shuffle_labels;
  plan.run = settings.run;
  plan.limits = settings.limits;
  plan.jobs = request.jobs;
  return plan;
}

int run_compare(const Globals& globals, const CompareRequest& request) {
  std::unique_ptr<RankLink> link = join_ranks();
  if (link && link->rank() > 0) return follow_compare(globals, request, *link);
  std::optional<RankLeader> ranks;
  if (link) ranks.emplace(std::move(link));
  check_request(request);
  Session session(globals, request.run, request.flags, "compare", "", request.interval_level);
  std::vector<std::string> warnings;
  const ComparePlan plan =
      make_plan(session.registry(), session.flags(), plan_request(session, request), warnings);
  // Only now are the names known to be right: a misspelt one deserves its own answer.
  if (given_contestants(request).size() < 2 && !request.self_check)
    usage_error("one contestant alone cannot be compared",
                "name another one, or check the harness with --aa");
  if (!request.emit.empty()) return emit_array(session, plan, request);
  if (!request.only_jobs.empty()) return run_share(session, plan, request);
  CompareSettings settings;
  settings.run_dir = request.run_dir;
  settings.ranks = ranks ? &*ranks : nullptr;
  settings.runs_dir = request.runs_dir;
  settings.baseline = request.baseline;
  if (request.rope >= 0) settings.rope = request.rope;
  settings.self_check = request.self_check;
  const FinishedRun run = run_comparison(session, plan, settings, std::move(warnings));

  if (!request.html.empty()) write_text(request.html, report_html(run.comparison));
  print_report(globals, request, run.comparison);
  const int code = judge(globals, request, run.comparison);
  if (ranks) {
    flush_stdout();
    ranks->release_launcher();
  }
  return code;
}

}  // namespace omen::host::cli
