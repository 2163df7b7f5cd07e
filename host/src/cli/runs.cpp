// SPDX-License-Identifier: Apache-2.0
// `omen runs`: what earlier comparisons said, and what differs between two.
#include <algorithm>

#include "cli/command_line.hpp"
#include "cli/compare_run.hpp"
#include "cli/completion.hpp"
#include "cli/verbs.hpp"
#include "compare/run_diff.hpp"
#include "omen/join.hpp"
#include "report/report.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace {

struct RunsRequest {
  std::string action = "list", runs_dir = "runs";
  std::vector<std::string> ids;
};

std::vector<std::string> contestant_labels(const RunRecord& run) {
  std::vector<std::string> labels;
  for (const Contestant& contestant : run.contestants)
    if (!contestant.reference) labels.push_back(contestant.label);
  return labels;
}

std::vector<std::string> task_names(const RunRecord& run) {
  std::vector<std::string> names;
  for (const RecordedTask& task : run.tasks) names.push_back(task.name);
  return names;
}

// A run that was killed still says "running" in its record.
std::string status_of(const RunRecord& run) {
  return run.status == RunStatus::kFinished ? word_of(run.status) : "unfinished";
}

int list(const Globals& globals, const RunsRequest& request) {
  const std::vector<RunRecord> runs = list_runs(request.runs_dir);
  if (globals.json) {
    JsonWriter json;
    json.object().field("format_version", 1).key("runs").array();
    for (const RunRecord& run : runs) {
      json.object().field("id", run.id).field("time", run.time).field("status", status_of(run));
      json.strings("contestants", contestant_labels(run)).strings("tasks", task_names(run));
      json.field("seconds", run.seconds).end();
    }
    print(json.end().end().text());
    return kOk;
  }
  if (runs.empty()) {
    note(globals, "no runs in " + request.runs_dir + "; make one with: omen compare A B --task T");
    return kOk;
  }
  TextTable table({{"run"},
                   {"time"},
                   {"status"},
                   {"contestants", false, true},
                   {"tasks", false, true},
                   {"took", true}});
  for (const RunRecord& run : runs) {
    const bool done = run.status == RunStatus::kFinished;
    table.add({{run.id, Style::kStrong},
               run.time,
               {status_of(run), done ? Style::kPlain : Style::kWarn},
               join(contestant_labels(run)),
               join(task_names(run)),
               done ? format_duration(run.seconds) : "-"});
  }
  print_table(globals, table);
  return kOk;
}

TextTable result_table(const RunRecord& run) {
  TextTable table({{"task", false, true},
                   {"target"},
                   {"contestant", false, true},
                   {"answered", true},
                   {"median", true},
                   {"mean", true},
                   {"verdict"}});
  for (const RecordedResult& r : run.results)
    table.add({r.task, r.target, r.contestant,
               std::to_string(r.answered) + "/" + std::to_string(r.workloads),
               format_number(r.median_loss) + " " + r.unit,
               format_number(r.mean_loss) + " " + r.unit,
               r.contestant == run.baseline ? "baseline" : r.verdict});
  return table;
}

int show(const Globals& globals, const RunsRequest& request) {
  const RunRecord run = read_run_record(find_run(request.runs_dir, request.ids.at(0)));
  if (globals.json) {
    print(read_text(run.directory / "run.json"));
    return kOk;
  }
  if (run.verb != "compare")
    throw Error(OMEN_INVALID_DATA,
                request.ids[0] + " is a record of omen " + run.verb + ", not of a comparison",
                "read it with --json");
  print("run " + run.id + ", " + status_of(run) + ", " + run.time + "\n");
  print("  command: omen " + shell_words(run.command) + "\n");
  print("  seed " + std::to_string(run.seed) + ", omen " + run.revision + "\n");
  for (const RecordedTask& task : run.tasks)
    print("  task " + task.name + " (" + task.hash.substr(0, 12) +
          "): " + std::to_string(task.workloads) + " workloads, " + std::to_string(task.folds) +
          " folds, " + task.split + "\n");
  for (const RecordedJob& job : run.jobs)
    if (job.record.outcome != Outcome::kOk)
      print("  " + job.record.contestant + " on " + job.record.task + ", fold " + job.record.fold +
            ": " + word_of(job.record.outcome) + ", " + job.record.message + "\n");
  for (const std::string& warning : run.warnings) print("  warning: " + warning + "\n");
  if (!run.results.empty()) {
    print("\n");
    print_table(globals, result_table(run));
    note(globals, "report: " + (run.directory / kReportPage).string());
  } else {
    note(globals, "go on with: omen " + shell_words(run.command));
  }
  return kOk;
}

void print_diff_json(const RunRecord& a, const RunRecord& b, const RunDiff& diff) {
  JsonWriter json;
  json.object().field("format_version", 1).field("a", a.id).field("b", b.id);
  const auto differences = [&](const char* key, const std::vector<Difference>& all) {
    json.key(key).array();
    for (const Difference& d : all)
      json.object().field("what", d.what).field("a", d.a).field("b", d.b).end();
    json.end();
  };
  differences("settings", diff.settings);
  differences("tasks", diff.tasks);
  json.strings("only_a", diff.only_a).strings("only_b", diff.only_b).key("results").array();
  for (const ResultPair& pair : diff.results) {
    json.object().field("task", pair.a.task).field("target", pair.a.target);
    json.field("contestant", pair.a.contestant).field("unit", pair.a.unit);
    json.field("same_predictions", pair.same_predictions);
    json.field("median_a", pair.a.median_loss).field("median_b", pair.b.median_loss);
    json.field("mean_a", pair.a.mean_loss).field("mean_b", pair.b.mean_loss);
    json.field("verdict_a", pair.a.verdict).field("verdict_b", pair.b.verdict).end();
  }
  print(json.end().end().text());
}

std::string short_text(const std::string& text) {
  const bool digest = text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
  return text.empty() ? "-" : digest ? text.substr(0, 12) : text;
}

int diff(const Globals& globals, const RunsRequest& request) {
  const RunRecord a = read_run_record(find_run(request.runs_dir, request.ids.at(0))),
                  b = read_run_record(find_run(request.runs_dir, request.ids.at(1)));
  for (const RunRecord* run : {&a, &b})
    if (run->verb != "compare" || run->status != RunStatus::kFinished)
      throw Error(OMEN_INVALID_DATA,
                  "run '" + request.ids[run == &b] + "' is not a finished comparison",
                  "see them with: omen runs list");
  const RunDiff found = diff_runs(a, b);
  if (globals.json) {
    print_diff_json(a, b, found);
    return kOk;
  }
  TextTable settings({{"differs", false, true}, {a.id, false, true}, {b.id, false, true}});
  for (const Difference& d : found.settings)
    settings.add({d.what, short_text(d.a), short_text(d.b)});
  for (const Difference& d : found.tasks) settings.add({d.what, short_text(d.a), short_text(d.b)});
  for (const std::string& label : found.only_a) settings.add({"contestant " + label, "yes", "-"});
  for (const std::string& label : found.only_b) settings.add({"contestant " + label, "-", "yes"});
  if (settings.empty())
    note(globals, "settings, options and tasks are the same");
  else
    print_table(globals, settings);
  for (const Difference& d : found.tasks)
    if (!d.a.empty() && !d.b.empty())
      note(globals, d.what + " is another question in each run: its results are not compared");
  print("\n");
  TextTable results({{"task", false, true},
                     {"target"},
                     {"contestant", false, true},
                     {"median " + a.id, true},
                     {"median " + b.id, true},
                     {"predictions"},
                     {"verdict"}});
  for (const ResultPair& pair : found.results)
    results.add({pair.a.task, pair.a.target, pair.a.contestant,
                 format_number(pair.a.median_loss) + " " + pair.a.unit,
                 format_number(pair.b.median_loss) + " " + pair.b.unit,
                 pair.same_predictions ? "same" : "differ",
                 pair.a.verdict == pair.b.verdict ? pair.a.verdict
                                                  : pair.a.verdict + " -> " + pair.b.verdict});
  print_table(globals, results);
  return kOk;
}

int run_runs(const Globals& globals, const RunsRequest& request) {
  const std::size_t wanted = request.action == "list" ? 0 : request.action == "show" ? 1 : 2;
  if (request.ids.size() != wanted)
    usage_error("omen runs " + request.action + " takes " +
                    (wanted == 0   ? "no run"
                     : wanted == 1 ? "one run"
                                   : "two runs") +
                    ", not " + std::to_string(request.ids.size()),
                "see the runs that are kept with: omen runs list");
  if (request.action == "list") return list(globals, request);
  return request.action == "show" ? show(globals, request) : diff(globals, request);
}

void complete_runs(Offers& offers) {
  if (offers.at_first())
    offers.words({"list", "show", "diff"});
  else
    offers.runs();
}

void describe_runs(CommandLine& line) {
  auto& r = line.request(run_runs);
  line.word("ACTION", r.action, "list, show RUN, or diff RUN RUN").one_of({"list", "show", "diff"});
  line.word("RUN", r.ids, "an id, the start of one, or a directory");
  line.value("--runs-dir", "DIR", r.runs_dir, "where runs are kept, ./runs by default");
}

}  // namespace

Verb runs_verb() {
  return {"runs", "list the comparisons that are kept, show one, or diff two",
          "omen runs list\nomen runs show 41c09a2e\nomen runs diff 41c09a2e 7be0", describe_runs,
          complete_runs};
}

}  // namespace omen::host::cli
