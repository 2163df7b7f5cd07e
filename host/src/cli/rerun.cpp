// SPDX-License-Identifier: Apache-2.0
// `omen rerun`: repeats a comparison and says whether it predicts the same, or why not.
#include <algorithm>

#include "cli/command_line.hpp"
#include "cli/compare_run.hpp"
#include "cli/completion.hpp"
#include "cli/verbs.hpp"
#include "compare/run_diff.hpp"
#include "report/report.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct RerunRequest {
  std::string run, runs_dir = "runs";
};

// One contestant on one task, before and now.
struct Repeat {
  std::string contestant, task, before, now, why;
  bool same = false;     // digests are equal
  bool excused = false;  // not the same, for a reason that was known beforehand
};

const Contestant* find_label(const std::vector<Contestant>& all, const std::string& label) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Contestant& c) { return c.label == label; });
  return at == all.end() ? nullptr : &*at;
}

// Why there is nothing to compare: a fold of this run failed. Empty where none did.
std::string failure_of(const RunRecord& run, const std::string& contestant,
                       const std::string& task) {
  for (const RecordedJob& job : run.jobs)
    if (job.record.contestant == contestant && job.record.task == task &&
        job.record.outcome != Outcome::kOk)
      return std::string(word_of(job.record.outcome)) + " in fold " + job.record.fold + " of run " +
             run.id + ": " + job.record.message;
  return {};
}

Repeat repeat_of(const RunRecord& old, const RunRecord& again, const Contestant& contestant,
                 const std::string& task) {
  Repeat repeat{contestant.label,
                task,
                old.predictions_digest(contestant.label, task),
                again.predictions_digest(contestant.label, task),
                "",
                false,
                false};
  for (const RunRecord* run : {&old, &again})
    if (repeat.why.empty()) repeat.why = failure_of(*run, contestant.label, task);
  if (!repeat.why.empty()) return repeat;
  repeat.same = repeat.before == repeat.now;
  if (repeat.same) return repeat;
  const Contestant* now = find_label(again.contestants, contestant.label);
  if (now && now->library_sha256 != contestant.library_sha256) {
    repeat.why = "its library has changed since (version " + contestant.plugin_version + ", now " +
                 now->plugin_version + ")";
  } else if (contestant.determinism == Determinism::kNone) {
    repeat.why = "it does not claim to be repeatable";
    repeat.excused = true;
  } else if (contestant.determinism == Determinism::kSeeded) {
    constexpr double kTolerance = 1e-4;
    const double difference = largest_difference(old, again, contestant.label, task);
    repeat.excused = difference <= kTolerance;
    repeat.why =
        repeat.excused
            ? "equal within " + format_number(difference) + ", which is what it claims"
            : "it claims to repeat within 1e-4, and is off by " + format_number(difference);
  } else {
    repeat.why = "it claims to repeat to the last bit, and did not";
  }
  return repeat;
}

// What would make a repetition meaningless, before any work is done.
void check_tasks(const RunRecord& old, const ComparePlan& plan) {
  for (const RecordedTask& before : old.tasks)
    for (const PlannedTask& now : plan.tasks) {
      if (now.grouped_of || now.task.name != before.name || now.task.hash == before.hash) continue;
      const bool data = now.task.dataset_digest != before.dataset_digest;
      throw Error(
          OMEN_INVALID_DATA,
          "run " + old.id + " cannot be repeated: task " + before.name +
              (data ? " has other data now (digest " + now.task.dataset_digest.substr(0, 12) +
                          ", then " + before.dataset_digest.substr(0, 12) + ")"
                    : " asks another question now (hash " + now.task.hash.substr(0, 12) +
                          ", then " + before.hash.substr(0, 12) + ")"),
          "restore the task as it was, or compare anew");
    }
}

ComparePlan recorded_plan(const Session& session, const RunRecord& old,
                          std::vector<std::string>& warnings) {
  ComparePlan plan;
  plan.run = session.components().settings().run;
  plan.limits = session.components().settings().limits;
  plan.run.seed = old.seed;
  plan.run.devices = old.devices;
  plan.run.interval_level = old.interval_level;
  if (plan.run.threads == 0) plan.run.threads = old.threads;
  if (plan.limits.timeout_s == 0) plan.limits.timeout_s = old.timeout_s;
  if (plan.limits.memory_bytes == 0) plan.limits.memory_bytes = old.memory_bytes;
  plan.shuffle_labels = old.shuffled_labels;
  for (const Contestant& contestant : old.contestants)
    plan.contestants.push_back(recorded_contestant(session.registry(), contestant));
  std::vector<std::string> tasks;
  for (const RecordedTask& task : old.tasks) tasks.push_back(task.file);
  plan_tasks(plan, session.registry(), tasks, warnings);
  plan.jobs_at_once = jobs_at_once(plan, plan.run.threads);
  check_tasks(old, plan);
  return plan;
}

void print_repeats(const Globals& globals, const RunRecord& old, const RunRecord& again,
                   const std::vector<Repeat>& repeats) {
  if (globals.json) {
    JsonWriter json;
    json.object().field("format_version", 1).field("run", old.id).field("again", again.id);
    json.key("repeats").array();
    for (const Repeat& r : repeats) {
      json.object().field("contestant", r.contestant).field("task", r.task);
      json.field("before", r.before).field("now", r.now).field("same", r.same);
      json.field("why", r.why).end();
    }
    print(json.end().end().text());
    return;
  }
  TextTable table(
      {{"contestant", false, true}, {"task", false, true}, {"predictions"}, {"why", false, true}});
  for (const Repeat& r : repeats)
    table.add({r.contestant,
               r.task,
               {r.same ? "same" : "differ", r.same      ? Style::kGood
                                            : r.excused ? Style::kWarn
                                                        : Style::kBad},
               r.same ? "sha256 " + (r.now.empty() ? "-" : r.now.substr(0, 12)) : r.why});
  print_table(globals, table);
}

int run_rerun(const Globals& globals, const RerunRequest& request) {
  const fs::path place = find_run(request.runs_dir, request.run);
  const RunRecord old = read_run_record(place);
  if (old.verb != "compare")
    throw Error(OMEN_INVALID_DATA,
                request.run + " is a record of omen " + old.verb + ", which rerun does not repeat",
                "repeat it with: omen " + shell_words(old.command));
  if (old.status != RunStatus::kFinished)
    throw Error(OMEN_INVALID_DATA, "run " + old.id + " is not finished",
                "finish it with: omen " + shell_words(old.command));
  Session session(globals, {}, {}, "rerun " + old.id, "");
  std::vector<std::string> warnings;
  ComparePlan plan = recorded_plan(session, old, warnings);
  CompareSettings settings;
  settings.runs_dir = request.runs_dir;
  settings.baseline = old.baseline;
  settings.rope = old.rope;
  settings.self_check = old.self_check;
  const FinishedRun again = compare_in(session, plan, settings, warnings);

  std::vector<Repeat> repeats;
  for (const RecordedTask& task : old.tasks)
    for (const Contestant& contestant : old.contestants)
      repeats.push_back(repeat_of(old, again.record, contestant, task.name));
  print_repeats(globals, old, again.record, repeats);
  const bool failed = std::any_of(repeats.begin(), repeats.end(),
                                  [](const Repeat& r) { return !r.same && !r.excused; });
  note(globals,
       (failed ? "not reproduced; see " : "reproduced as run ") +
           (failed ? (again.comparison.directory / kReportPage).string() : again.record.id));
  return failed ? kFailed : kOk;
}

void describe_rerun(CommandLine& line) {
  auto& r = line.request(run_rerun);
  line.word("RUN", r.run, "an id, a directory of a run, or its run.json").required();
  line.value("--runs-dir", "DIR", r.runs_dir, "where runs are kept, ./runs by default");
}

}  // namespace

Verb rerun_verb() {
  return {"rerun", "repeat a comparison and check that it predicts the same, or say why not",
          "omen rerun 41c09a2e\nomen rerun runs/41c09a2e/run.json", describe_rerun,
          [](Offers& offers) { offers.runs(); }};
}

}  // namespace omen::host::cli
