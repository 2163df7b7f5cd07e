// SPDX-License-Identifier: Apache-2.0
// `omen compare`: predictors on the same folds of the same tasks, with an answer that holds.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "cli/command_line.hpp"
#include "cli/compare_run.hpp"
#include "cli/completion.hpp"
#include "cli/suggestions.hpp"
#include "cli/verbs.hpp"
#include "report/report.hpp"
#include "text/log.hpp"

namespace omen::host::cli {
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
    usage_error("no task to compare on",
                "give one with --task TASK; see those that came along with: omen task list; "
                "make one with: omen task new");
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
    print(suggested(globals.plugin_path, report_text(comparison, out_terminal(globals))));
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

std::size_t failed_folds(const Comparison& comparison) {
  return static_cast<std::size_t>(
      std::count_if(comparison.jobs.begin(), comparison.jobs.end(),
                    [](const JobRecord& job) { return job.outcome != Outcome::kOk; }));
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
  if (!request.fail_if.empty() && any_worse(comparison)) {
    note(globals, "--fail-if worse: a contestant is worse than the baseline");
    return kFailed;
  }
  // What fell over has no losses that could be worse.
  if (const std::size_t failed = failed_folds(comparison); failed > 0) {
    note(globals, folds_text(failed, comparison.jobs.size()) +
                      " failed; see why with: omen runs show " + comparison.id);
    return kFailed;
  }
  return kOk;
}

}  // namespace

PlanRequest plan_request(const Session& session, const CompareRequest& request) {
  const ComponentSettings& settings = session.components().settings();
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

namespace {

int run_compare(const Globals& globals, const CompareRequest& request) {
  std::unique_ptr<RankLink> link = join_ranks();
  if (link && link->rank() > 0) return follow_compare(globals, request, *link);
  std::optional<RankLeader> ranks;
  if (link) ranks.emplace(std::move(link));
  check_request(request);
  Session session(globals, request.run, request.flags, "compare", "", request.interval_level);
  std::vector<std::string> warnings;
  ComparePlan plan =
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
  const FinishedRun run = compare_in(session, plan, settings, warnings);

  if (!request.html.empty()) write_text(request.html, report_html(run.comparison));
  print_report(globals, request, run.comparison);
  const int code = judge(globals, request, run.comparison);
  if (ranks) {
    flush_stdout();
    ranks->release_launcher();
  }
  return code;
}

void describe_compare(CommandLine& line) {
  auto& r = line.request(run_compare);
  line.word("CONTESTANT", r.contestants,
            "predictors, with options as COMPONENT@KEY=VALUE,...; or model files");
  line.values("--task", "TASK", r.tasks, "file or name of a task; may be repeated");
  line.value("--baseline", "CONTESTANT", r.baseline,
             "what the others are held against; the first one");
  line.value("--rope", "SHARE", r.rope,
             "differences below this share of the baseline's loss do not matter; 0.01 unless "
             "the task says otherwise")
      .range(0.0, 1.0);
  line.value("--references", "WHICH", r.references,
             "constant, 5-NN and boosted trees beside the contestants: all (default) or none")
      .one_of({"all", "none"});
  line.value("--level", "P", r.interval_level, "coverage of intervals, 0.9 by default")
      .range(0.0, 1.0);
  line.toggle("--aa", r.self_check,
              "compare one contestant with itself under another seed, to check the harness");
  line.toggle("--shuffle-labels", r.shuffle_labels,
              "permute the targets: what is left above the constant is a leak");
  line.value("--fail-if", "worse", r.fail_if,
             "exit 1 if a contestant is worse, as it always is where a fold failed; for gates");
  line.value("-j,--jobs", "N", r.jobs, "folds at the same time").range(1, 1024);
  line.toggle("--csv", r.csv, "every loss as CSV on stdout");
  line.toggle("--markdown", r.markdown, "the report as Markdown on stdout");
  line.value("--html", "FILE", r.html, "write the page here too");
  line.value("--runs-dir", "DIR", r.runs_dir, "where runs are kept, ./runs by default");
  line.value("--run-dir", "DIR", r.run_dir, "the directory of this run; otherwise RUNS/ID");
  line.value("--only-jobs", "I/N", r.only_jobs,
             "only share I of N of the folds, into --run-dir, without a report");
  line.value("--emit", "slurm", r.emit, "write a Slurm job array instead of running");
  line.value("--shares", "N", r.shares, "elements of the array; one a fold, up to 64")
      .range(1, 100000);
  line.value("-o,--output", "FILE", r.output, "file for --emit; otherwise stdout");
  line.run_choices(r.run, r.flags);
}

}  // namespace

Verb compare_verb() {
  return {"compare",
          "put predictors on the same data and say which is better, and how sure that is",
          "omen compare baseline.ridge baseline.gbt --task matmul-cpu\n"
          "omen compare baseline.gbt baseline.gbt@depth=4 --task matmul-cpu --baseline "
          "baseline.gbt\n"
          "omen compare mine baseline.gbt --task tasks/*.json --fail-if worse --timeout 5m "
          "--memory 4G\n"
          "omen compare baseline.gbt --aa --task matmul-cpu",
          describe_compare, [](Offers& offers) { offers.components(OMEN_PREDICTOR); }};
}

}  // namespace omen::host::cli
