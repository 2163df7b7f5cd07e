// SPDX-License-Identifier: Apache-2.0
// The only file that knows CLI11: builds the parser of one verb, fills its request and runs it.
#include "cli.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <memory>

#include "cli/component_flags.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "components/registry.hpp"
#include "components/run_context.hpp"
#include "text/log.hpp"

namespace omen::host::cli {
namespace {

using Words = std::vector<std::string>;

// The parser of one verb while it is being filled.
struct Line {
  CLI::App app;
  Globals globals;
  std::string timeout, memory;
  RunChoices* run_choices = nullptr;
  Flags* flags = nullptr;            // set where the verb takes options of components
  Words* after_dashes = nullptr;     // set where the verb takes a command behind `--`
  std::string* component = nullptr;  // whose options the help shows
  std::vector<std::string> options;  // -O key=value
  std::function<int()> run;
};

template <class Request>
Request& request_of(Line& line, int (*verb)(const Globals&, const Request&)) {
  auto request = std::make_shared<Request>();
  line.run = [&line, request, verb] { return verb(line.globals, *request); };
  return *request;
}

void add_globals(Line& line) {
  CLI::App& app = line.app;
  Globals& g = line.globals;
  const char* group = "Everywhere";
  app.add_option("--plugin-path", g.plugin_path, "look for plugins here first; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--config", g.config_file, "JSON file with options of components")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--seed", g.seed, "source of randomness, 1 by default")
      ->type_name("N")
      ->group(group);
  app.add_option("--threads", g.threads, "thread budget; 0 lets the plugin decide")
      ->type_name("N")
      ->group(group);
  // The doctor has a switch of this name.
  if (!app.get_option_no_throw("--devices"))
    app.add_option("--devices", g.devices, "devices to use, such as cpu or cuda:0")
        ->type_name("LIST")
        ->group(group);
  app.add_flag("--json", g.json, "one JSON document on stdout")->group(group);
  app.add_flag("--plain", g.plain, "rows only: no header, no colour, no clipping")->group(group);
  app.add_flag("-q,--quiet", g.quiet, "no remarks and no progress on stderr")->group(group);
  app.add_flag("-v,--verbose", g.verbose, "log more; twice for debugging")->group(group);
}

double parse_time(const char* flag, const std::string& text) {
  std::size_t used = 0;
  double seconds = -1;
  try {
    seconds = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  const std::string suffix = text.substr(used);
  const double factor = suffix.empty() || suffix == "s" ? 1
                        : suffix == "ms"                ? 1e-3
                        : suffix == "m"                 ? 60
                        : suffix == "h"                 ? 3600
                                                        : -1;
  if (seconds <= 0 || factor < 0)
    usage_error(std::string(flag) + " is '" + text + "', which is no time",
                "give a number with ms, s, m or h, such as 30s");
  return seconds * factor;
}

void add_run_choices(Line& line, RunChoices& choices, Flags& flags) {
  line.run_choices = &choices;
  line.flags = &flags;
  const char* group = "Components";
  line.app.add_flag("--isolate", choices.isolate, "run plugins in worker processes")->group(group);
  line.app
      .add_option(
          "--timeout", line.timeout,
          "give up after this long, e.g. 30s or 10m; implies --isolate. To read one file in a "
          "worker may take 5m by default")
      ->type_name("TIME")
      ->group(group);
  line.app
      .add_option("--memory", line.memory,
                  "end a worker above this size, e.g. 2G; implies --isolate")
      ->type_name("SIZE")
      ->group(group);
  line.app
      .add_option("-O", line.options,
                  "option of a component; also --KEY VALUE and --COMPONENT.KEY VALUE")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->group(group);
}

void build_list(Line& line) {
  auto& r = request_of(line, run_list);
  line.app.add_flag("--all", r.all, "also plugins that another one of the same id hides");
}

void build_info(Line& line) {
  auto& r = request_of(line, run_info);
  line.app.add_option("ID", r.id, "a plugin or a component")->required();
  line.app.add_flag("--all", r.advanced, "also advanced and deprecated options");
}

void build_doctor(Line& line) {
  auto& r = request_of(line, run_doctor);
  line.app.add_flag("--devices", r.devices, "also measure what the devices can do");
}

void build_new(Line& line) {
  auto& r = request_of(line, run_new);
  line.app.add_option("NAME", r.name, "id of the plugin: lower case, digits and _")->required();
  line.app.add_option("--kind", r.kind, "predictor, frontend, profiler or scorer")
      ->type_name("KIND");
  line.app.add_option("--lang", r.language, "c++ or c")->type_name("LANGUAGE");
  line.app.add_option("--dir", r.directory, "where to write it, ./NAME by default")
      ->type_name("DIR");
}

void build_verify(Line& line) {
  auto& r = request_of(line, run_verify_verb);
  line.app.add_option("PLUGIN", r.plugin, "a plugin, its directory or its plugin.json")->required();
  line.app.add_option("--level", r.level, "1 load and describe, 2 contract, 3 stress")
      ->type_name("1..3")
      ->check(CLI::Range(1, 3));
  line.app.add_option("--include", r.include, "only tests whose name matches")->type_name("REGEX");
  line.app.add_option("--exclude", r.exclude, "no tests whose name matches")->type_name("REGEX");
  line.app.add_option("-j,--jobs", r.jobs, "tests at the same time")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  line.app
      .add_option_function<std::string>(
          "--timeout",
          [&r](const std::string& text) { r.timeout_seconds = parse_time("--timeout", text); },
          "for each test, instead of its own limit")
      ->type_name("TIME");
  line.app.add_flag("--in-process", r.in_process, "without workers, for a debugger");
  line.app.add_flag("--markdown", r.markdown, "print the feature matrix for a README");
}

void build_graph(Line& line) {
  auto& r = request_of(line, run_graph);
  line.app.add_option("FILE", r.inputs,
                      "sources, modules, networks, directories of them, or names that a front end "
                      "knows");
  line.app
      .add_option(
          "-o,--output", r.output,
          "write .omt, .json, .dot, .svg or a plugin's format; FILE with % for one file each")
      ->type_name("FILE");
  line.app.add_option("--with", r.component, "front end to use; otherwise found from the file")
      ->type_name("COMPONENT");
  line.app.add_option("-j,--jobs", r.jobs, "files at the same time")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  line.app.add_option("--max-nodes", r.max_nodes, "draw at most this many nodes, 400 by default")
      ->type_name("N");
  line.app.add_flag("--resume", r.resume,
                    "go on with a run that was stopped: keep files that it wrote, with % in -o");
  line.app.add_flag("--generate", r.generate, "let the front end make its own workloads");
  line.component = &r.component;
  add_run_choices(line, r.run, r.flags);
}

void build_profile(Line& line) {
  auto& r = request_of(line, run_profile);
  line.app.add_option("ACTION", r.words,
                      "diff A B: compare two traces; stats TRACE: phases, energy, time of a step "
                      "and how it ended; failures TABLE: runs that cannot have finished");
  line.app.add_option("--with", r.component, "profiler to use")->type_name("COMPONENT");
  line.app
      .add_option("-o,--output", r.output,
                  "write the trace: .omt, .csv, .jsonl, .json or a directory; otherwise a new "
                  "directory profile-TIME")
      ->type_name("FILE");
  line.app.add_option("--pid", r.pid, "watch a running process instead of starting one")
      ->type_name("PID");
  line.app
      .add_option_function<std::string>(
          "--duration", [&r](const std::string& t) { r.duration_s = parse_time("--duration", t); },
          "stop after this long, e.g. 30s or 5m; alone it watches the machine")
      ->type_name("TIME");
  line.app.add_option("--repeat", r.repeat, "run the command so many times")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  line.app
      .add_option("--recover", r.recover,
                  "finish a recording that was killed, by the name of its output")
      ->type_name("FILE");
  line.app.add_flag("--all", r.all, "show every series, not only the first to look at");
  line.app.add_flag("--no-plot", r.no_plot, "write no HTML plot");
  line.app.add_flag("--probe", r.probe, "only say which devices are seen");
  line.app.add_option("--metric", r.metrics, "stats: look at this metric; may be repeated")
      ->type_name("METRIC")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  line.app
      .add_option_function<std::string>(
          "--period", [&r](const std::string& t) { r.period_s = parse_time("--period", t); },
          "stats: time between samples of a trace without times")
      ->type_name("TIME");
  line.app.add_flag("--legacy", r.legacy,
                    "stats: shares of two clusters, as earlier work has them");
  line.app
      .add_option("--column", r.columns,
                  "failures: which column is what; KEY is size, time, work or group")
      ->type_name("KEY=NAME")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  line.component = &r.component;
  line.after_dashes = &r.command;
  add_run_choices(line, r.run, r.flags);
}

void build_mark(Line& line) {
  auto& r = request_of(line, run_mark);
  line.app.add_option("NAME", r.name, "what happens now")->required();
}

void build_train(Line& line) {
  auto& r = request_of(line, run_train);
  line.app.add_option("COMPONENT", r.component, "predictor to train")->required();
  line.app.add_option("--data", r.data, "table to learn from: .csv, .jsonl or .omt")
      ->type_name("FILE")
      ->required();
  line.app
      .add_option("--target", r.targets,
                  "column to predict, its unit, and what is better; may be repeated")
      ->type_name("NAME[:UNIT[:lower|higher]]")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  line.app.add_option("--group", r.group, "column whose rows stay together when data is split")
      ->type_name("COLUMN");
  line.app.add_option("--valid", r.valid, "table to validate on; otherwise 10 % of the groups")
      ->type_name("FILE");
  line.app.add_option("--from", r.from, "model to continue from")->type_name("MODEL");
  line.app.add_option("--summary", r.summary, "one line that the model keeps")->type_name("TEXT");
  line.app.add_option("-o,--output", r.output, "model to write; a directory also gets run.json")
      ->type_name("OUT.omen");
  line.component = &r.component;
  add_run_choices(line, r.run, r.flags);
}

void build_predict(Line& line) {
  auto& r = request_of(line, run_predict);
  line.app.add_option(
      "INPUT", r.inputs,
      "files, tables, names, - for JSON lines on stdin; a predictor may come first");
  line.app.add_option("--with", r.component, "predictor to use; otherwise found from the input")
      ->type_name("COMPONENT");
  line.app.add_option("--frontend", r.frontend, "front end to use; otherwise found from the file")
      ->type_name("COMPONENT");
  line.app.add_option("-m,--model", r.model, "model file or name; otherwise the bundled default")
      ->type_name("MODEL");
  line.app
      .add_option("-o,--output", r.output,
                  "write .csv, .jsonl, .json or .omt; a directory also gets run.json")
      ->type_name("FILE");
  line.app.add_flag("--csv", r.csv, "CSV on stdout");
  line.app.add_option("--level", r.interval_level, "coverage of intervals, 0.9 by default")
      ->type_name("P")
      ->check(CLI::Range(0.0, 1.0));
  line.component = &r.component;
  add_run_choices(line, r.run, r.flags);
}

void build_score(Line& line) {
  auto& r = request_of(line, run_score);
  line.app.add_option("INPUT", r.inputs,
                      "workloads: files, tables, names or -; a scorer may come first");
  line.app.add_option("--with", r.component, "scorer to use")->type_name("COMPONENT");
  line.app
      .add_option("--candidates", r.candidates, "table of options; otherwise the scorer lists them")
      ->type_name("FILE");
  line.app.add_option("--predictor", r.predictor, "predictor that gives the costs")
      ->type_name("COMPONENT");
  line.app.add_option("-m,--model", r.model, "model of the predictor")->type_name("MODEL");
  line.app.add_option("--policy", r.policy, "model of the scorer")->type_name("MODEL");
  line.app.add_option("--top", r.top, "show only the best N of each workload")->type_name("N");
  line.app
      .add_option("-o,--output", r.output,
                  "write .csv, .jsonl, .json or .omt; a directory also gets run.json")
      ->type_name("FILE");
  line.app.add_flag("--csv", r.csv, "CSV on stdout");
  line.component = &r.component;
  add_run_choices(line, r.run, r.flags);
}

void add_runs_dir(Line& line, std::string& runs_dir) {
  line.app.add_option("--runs-dir", runs_dir, "where runs are kept, ./runs by default")
      ->type_name("DIR");
}

void build_compare(Line& line) {
  auto& r = request_of(line, run_compare);
  line.app.add_option("CONTESTANT", r.contestants,
                      "predictors, with options as COMPONENT@KEY=VALUE,...; or model files");
  line.app.add_option("--task", r.tasks, "file or name of a task; may be repeated")
      ->type_name("TASK")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  line.app.add_option("--baseline", r.baseline, "what the others are held against; the first one")
      ->type_name("CONTESTANT");
  line.app
      .add_option("--rope", r.rope,
                  "differences below this share of the baseline's loss do not matter; 0.01 unless "
                  "the task says otherwise")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0));
  line.app
      .add_option("--references", r.references,
                  "constant, 5-NN and boosted trees beside the contestants: all (default) or none")
      ->type_name("WHICH")
      ->check(CLI::IsMember({"all", "none"}));
  line.app.add_option("--level", r.interval_level, "coverage of intervals, 0.9 by default")
      ->type_name("P")
      ->check(CLI::Range(0.0, 1.0));
  line.app.add_flag("--aa", r.self_check,
                    "compare one contestant with itself under another seed, to check the harness");
  line.app.add_flag("--shuffle-labels", r.shuffle_labels,
                    "permute the targets: what is left above the constant is a leak");
  line.app
      .add_option("--fail-if", r.fail_if, "exit 1 if a contestant is worse, or failed; for gates")
      ->type_name("worse");
  line.app.add_option("-j,--jobs", r.jobs, "folds at the same time")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  line.app.add_flag("--csv", r.csv, "every loss as CSV on stdout");
  line.app.add_flag("--markdown", r.markdown, "the report as Markdown on stdout");
  line.app.add_option("--html", r.html, "write the page here too")->type_name("FILE");
  add_runs_dir(line, r.runs_dir);
  line.app.add_option("--run-dir", r.run_dir, "the directory of this run; otherwise RUNS/ID")
      ->type_name("DIR");
  line.app
      .add_option("--only-jobs", r.only_jobs,
                  "only share I of N of the folds, into --run-dir, without a report")
      ->type_name("I/N");
  line.app.add_option("--emit", r.emit, "write a Slurm job array instead of running")
      ->type_name("slurm");
  line.app.add_option("--shares", r.shares, "elements of the array; one a fold, up to 64")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  line.app.add_option("-o,--output", r.output, "file for --emit; otherwise stdout")
      ->type_name("FILE");
  auto component = std::make_shared<std::string>();
  line.component = component.get();
  line.run = [component, run = line.run] { return run(); };
  add_run_choices(line, r.run, r.flags);
}

void build_runs(Line& line) {
  auto& r = request_of(line, run_runs);
  line.app.add_option("ACTION", r.action, "list, show RUN, or diff RUN RUN")
      ->check(CLI::IsMember({"list", "show", "diff"}));
  line.app.add_option("RUN", r.ids, "an id, the start of one, or a directory");
  add_runs_dir(line, r.runs_dir);
}

void build_rerun(Line& line) {
  auto& r = request_of(line, run_rerun);
  line.app.add_option("RUN", r.run, "an id, a directory of a run, or its run.json")->required();
  add_runs_dir(line, r.runs_dir);
}

void build_models(Line& line) {
  auto& r = request_of(line, run_models);
  auto action = std::make_shared<std::string>("list");
  line.app.add_option("ACTION", *action, "list")->check(CLI::IsMember({"list"}));
  line.app.add_option("COMPONENT", r.component, "only models of this component");
  line.run = [&line, &r, action, run = line.run] { return run_models(line.globals, r); };
}

// An option that may be given several times, one value each.
CLI::Option* add_repeated(Line& line, const char* flag, Words& values, const char* help,
                          const char* type) {
  return line.app.add_option(flag, values, help)
      ->type_name(type)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void build_data(Line& line) {
  auto& r = request_of(line, run_data);
  line.app.add_option("ACTION", r.action, "list, info, import, make, check or fetch")
      ->check(CLI::IsMember({"list", "info", "import", "make", "check", "fetch"}));
  line.app.add_option("WORD", r.words,
                      "datasets, files to import (- for standard input), or an address to fetch");
  line.app.add_option("--name", r.name, "import: name of the dataset, by default that of the file")
      ->type_name("NAME");
  line.app
      .add_option("-o,--output", r.output,
                  "import, make: directory of the dataset, by default in the cache; fetch: file")
      ->type_name("PATH");
  line.app.add_option("--format", r.format, "import: csv, tsv or jsonl, by default by the suffix")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"csv", "tsv", "jsonl"}));
  line.app
      .add_option("--with", r.component,
                  "import: front end that reads the files; make: one that generates workloads")
      ->type_name("COMPONENT");
  add_repeated(line, "--target", r.targets, "import: column that was measured; may be repeated",
               "NAME[:UNIT[:lower|higher]]");
  line.app.add_option("--group", r.group, "import: column whose rows belong together")
      ->type_name("COLUMN");
  add_repeated(line, "--key", r.key, "import: columns that together differ in every row", "COLUMN");
  add_repeated(line, "--text", r.text, "import: read this column as text", "COLUMN");
  add_repeated(line, "--number", r.numbers, "import: read this column as floating point", "COLUMN");
  add_repeated(line, "--unit", r.units, "import: unit of a column", "COLUMN=UNIT");
  add_repeated(line, "--rename", r.renames, "import: call a column of the file otherwise",
               "OLD=NEW");
  line.app.add_option("--summary", r.summary, "import: one line about the data")->type_name("TEXT");
  line.app.add_option("--origin", r.origin, "import: where the data come from")->type_name("TEXT");
  line.app.add_option("--license", r.license, "import: licence of the data")->type_name("TEXT");
  line.app.add_option("--sha256", r.sha256, "fetch: digest that the file must have")
      ->type_name("HEX");
  line.app.add_flag("--force", r.force, "replace a dataset that exists");
  line.component = &r.component;
  add_run_choices(line, r.run, r.flags);
}

void build_task(Line& line) {
  auto& r = request_of(line, run_task);
  line.app.add_option("ACTION", r.action, "new, show or check")
      ->check(CLI::IsMember({"new", "show", "check"}));
  line.app.add_option("TASK", r.words, "task files, or names of installed tasks");
  line.app.add_option("-o,--output", r.output, "new: file to write; the folds go beside it")
      ->type_name("FILE.json");
  line.app.add_option("--data", r.dataset, "new: dataset, by name or directory")
      ->type_name("DATASET");
  add_repeated(line, "--target", r.targets,
               "new: what is predicted, by default as the dataset says",
               "NAME[:UNIT[:lower|higher]][=LOSS]");
  add_repeated(line, "--input", r.inputs,
               "new: table, or table.column, by default every column of workloads that was not "
               "measured",
               "INPUT");
  line.app
      .add_option("--loss", r.loss,
                  "new: absolute, squared, absolute-percent; for classes zero-one, log-loss")
      ->type_name("LOSS")
      ->check(CLI::IsMember({"absolute", "squared", "absolute-percent", "zero-one", "log-loss"}));
  line.app.add_option("--group", r.group, "new: column of the groups that are resampled")
      ->type_name("COLUMN");
  line.app
      .add_option("--split", r.split,
                  "new: k-fold, grouped-k-fold (default), leave-one-group-out or fixed")
      ->type_name("KIND")
      ->check(CLI::IsMember({"k-fold", "grouped-k-fold", "leave-one-group-out", "fixed"}));
  line.app
      .add_option("--split-column", r.column,
                  "new: column that keeps rows in one fold, by default that of --group; for a "
                  "fixed split the name of the fold, or train, valid and test")
      ->type_name("COLUMN");
  line.app.add_option("--folds", r.folds, "new: number of folds, 5 by default")
      ->type_name("N")
      ->check(CLI::Range(2, 100000));
  line.app.add_option("--repeats", r.repeats, "new: the whole split again with the next seed")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  line.app
      .add_option("--assignment", r.assignment,
                  "new: groups to folds balanced by rows (default), or shuffled")
      ->type_name("RULE")
      ->check(CLI::IsMember({"balanced", "shuffled"}));
  line.app.add_option("--average", r.average, "new: mean over every row (default) or group")
      ->type_name("BY")
      ->check(CLI::IsMember({"row", "group"}));
  line.app.add_option("--estimate", r.estimate, "new: median or mean paired difference")
      ->type_name("KIND")
      ->check(CLI::IsMember({"median", "mean"}));
  line.app.add_option("--rope", r.rope, "new: what counts as equivalent, 0.01 by default")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0));
  line.app.add_option("--threads-per-fold", r.threads_per_fold, "new: threads of one fold")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  line.app.add_flag("--per-node", r.per_node, "new: targets are columns of node_targets");
  line.app.add_option("--cost", r.cost, "new: a decision, judged by this true cost of candidates")
      ->type_name("COLUMN");
  line.app.add_option("--cost-direction", r.cost_direction, "new: lower (default) or higher wins")
      ->type_name("DIRECTION")
      ->check(CLI::IsMember({"lower", "higher"}));
  line.app.add_option("--scorer", r.scorer, "new: component that decides")->type_name("COMPONENT");
  line.app
      .add_option("--default-candidate", r.default_candidate,
                  "new: what one takes without a predictor")
      ->type_name("NAME");
  line.app.add_option("--name", r.name, "new: name, by default that of the file")
      ->type_name("NAME");
  line.app.add_option("--track", r.track, "new: track it belongs to")->type_name("TEXT");
  line.app.add_option("--summary", r.summary, "new: one line about the question")
      ->type_name("TEXT");
  line.app.add_flag("--force", r.force, "new: replace a task that exists");
}

void build_completion(Line& line) {
  auto& r = request_of(line, run_completion);
  line.app.add_option("SHELL", r.shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
}

void build_plugin_command(Line& line) {
  auto& r = request_of(line, run_plugin_command);
  line.app.add_option("PLUGIN", r.plugin, "a plugin")->required();
  line.app.add_option("VERB", r.verb, "one of its commands");
  line.app.add_option("ARGUMENT", r.arguments, "words for the command");
  line.app.add_option("-o,--output", r.output, "directory for files that the command writes")
      ->type_name("DIR");
  line.component = &r.verb;
  line.after_dashes = &r.arguments;
  add_run_choices(line, r.run, r.flags);
}

struct Builder {
  const char* verb;
  void (*build)(Line&);
};
constexpr Builder kBuilders[] = {
    {"list", build_list},       {"info", build_info},     {"doctor", build_doctor},
    {"new", build_new},         {"verify", build_verify}, {"graph", build_graph},
    {"profile", build_profile}, {"mark", build_mark},     {"train", build_train},
    {"predict", build_predict}, {"score", build_score},   {"compare", build_compare},
    {"runs", build_runs},       {"rerun", build_rerun},   {"models", build_models},
    {"data", build_data},       {"task", build_task},     {"completion", build_completion},
};

void (*builder_of(std::string_view verb))(Line&) {
  for (const Builder& b : kBuilders)
    if (verb == b.verb) return b.build;
  return nullptr;
}

// Help is laid out here rather than by CLI11, so that it reads the same as the rest of omen.
std::string option_lines(const CLI::App& app, const char* group) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != group || option->get_positional()) continue;
    std::string name = option->get_name(false, true);
    for (std::size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2)
      name.replace(at, 1, ", ");
    if (option->get_type_size() > 0 && !option->get_type_name().empty())
      name += " " + option->get_type_name();
    if (name.starts_with("--")) name = "    " + name;
    text += "  " + name;
    const int width = display_width(name);
    text += width < 26 ? std::string(static_cast<std::size_t>(28 - width), ' ')
                       : "\n" + std::string(30, ' ');
    text += wrap(option->get_description(), 100, 30) + "\n";
  }
  return text;
}

std::string usage_line(const CLI::App& app, const Line& line) {
  std::string text = "usage: omen " + app.get_name();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    std::string name = option->get_name(true, false);
    if (option->get_expected_max() > 1) name += "...";
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  text += " [options]";
  if (line.after_dashes) text += " [-- COMMAND...]";
  return text + "\n";
}

Words lines_of(std::string_view text) {
  Words lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Flags of a verb in their groups; `first` stands before its own.
std::string flag_sections(const CLI::App& app, const std::string& first = {}) {
  std::string text;
  const std::string own = first + option_lines(app, "Options");
  if (!own.empty()) text += "\noptions:\n" + own;
  const std::string components = option_lines(app, "Components");
  if (!components.empty()) text += "\nrunning plugins:\n" + components;
  return text + "\neverywhere:\n" + option_lines(app, "Everywhere");
}

std::string verb_help(const Line& line, const VerbText& verb) {
  std::string text =
      std::string("omen ") + verb.name + ": " + verb.summary + "\n\n" + usage_line(line.app, line);
  for (const CLI::Option* option : line.app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true, false);
    text += "  " + name + std::string(name.size() < 26 ? 28 - name.size() : 1, ' ') +
            wrap(option->get_description(), 100, 30) + "\n";
  }
  return text + flag_sections(line.app) + example_lines(lines_of(verb.examples));
}

std::string command_help(const Line& line, const std::string& plugin, const std::string& verb) {
  const Registry registry = Registry::discover(line.globals.plugin_path);
  const ComponentInfo& command = *find_command(registry, plugin, verb).info;
  const std::string name = "omen " + plugin + " " + verb;
  return name + ": " + command.summary + "\n\nusage: " + name + " [ARGUMENT...] [options]\n" +
         flag_sections(line.app, option_help(command, false, 100)) +
         example_lines(command.examples);
}

bool takes_value_before_verb(std::string_view flag) {
  for (const char* name : {"--plugin-path", "--config", "--seed", "--threads", "--devices"})
    if (flag == name) return true;
  return false;
}

// Index of the first word that is neither a flag nor the value of one; words.size() if there is
// none.
std::size_t verb_index(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (takes_value_before_verb(words[i]))
      ++i;
    else if (words[i].empty() || words[i][0] != '-')
      return i;
  }
  return words.size();
}

std::uint64_t parse_size(const std::string& text) {
  std::size_t used = 0;
  double bytes = -1;
  try {
    bytes = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  std::string suffix = text.substr(used);
  if (!suffix.empty() && suffix.back() == 'B') suffix.pop_back();
  static constexpr std::pair<const char*, double> kFactors[] = {
      {"", 1},       {"k", 1e3},       {"M", 1e6},         {"G", 1e9},
      {"Ki", 1024.}, {"Mi", 1048576.}, {"Gi", 1073741824.}};
  for (const auto& [name, factor] : kFactors)
    if (suffix == name && bytes > 0) return static_cast<std::uint64_t>(bytes * factor);
  usage_error("--memory is '" + text + "', which is no size",
              "give a number with k, M or G, such as 2G");
}

Words known_flags(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Takes flags that the verb itself does not have out of `words`: they belong to components.
void take_component_flags(Line& line, Words& words) {
  ComponentFlags known(line.globals);
  Words kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool ours = !name.starts_with("--") || line.app.get_option_no_throw(name);
    if (ours) {
      kept.push_back(words[i]);
      continue;
    }
    if (!line.flags) {
      const auto near = near_names(name, known_flags(line.app));
      usage_error("unknown option " + name + " of omen " + line.app.get_name(),
                  near.empty() ? "see them with: omen " + line.app.get_name() + " --help"
                               : "did you mean " + near[0] + "?");
    }
    const std::string key = name.substr(2);
    if (name.size() < words[i].size()) {
      line.flags->emplace_back(key, words[i].substr(name.size() + 1));
      continue;
    }
    const bool more = i + 1 < words.size();
    if (known.is_switch(key)) {
      const bool given = more && (words[i + 1] == "true" || words[i + 1] == "false");
      line.flags->emplace_back(key, given ? words[++i] : "true");
    } else if (more && !words[i + 1].starts_with("--")) {
      line.flags->emplace_back(key, words[++i]);
    } else {
      usage_error("option " + name + " needs a value",
                  "write " + name + " VALUE, or " + name + "=VALUE");
    }
  }
  words = std::move(kept);
}

void take_key_values(Line& line) {
  for (const std::string& option : line.options) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0)
      usage_error("-O is '" + option + "', which is not KEY=VALUE",
                  "write for example -O hidden=64");
    line.flags->emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
}

void check_output_is_no_option(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "-o" && words[i + 1].find('=') != std::string::npos &&
        words[i + 1].find('/') == std::string::npos)
      usage_error(
          "-o names an output file; '" + words[i + 1] + "' looks like an option of a component",
          "write -O " + words[i + 1]);
}

// The search path decides which flags and components exist, so it is read before the rest.
std::vector<std::filesystem::path> early_plugin_path(const Words& words) {
  constexpr std::string_view kFlag = "--plugin-path";
  std::vector<std::filesystem::path> path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kFlag && i + 1 < words.size())
      path.emplace_back(words[i + 1]);
    else if (words[i].starts_with("--plugin-path="))
      path.emplace_back(words[i].substr(kFlag.size() + 1));
  }
  return path;
}

int parse_and_run(Line& line, Words words) {
  if (line.after_dashes) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end()) line.after_dashes->assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  check_output_is_no_option(words);
  take_component_flags(line, words);
  line.globals.plugin_path.clear();
  std::reverse(words.begin(), words.end());
  try {
    line.app.parse(words);
  } catch (const CLI::ParseError& e) {
    std::string message = e.what();
    // Sentences begin small here; names of arguments, all capitals, stay.
    if (message.size() > 1 && !std::isupper(static_cast<unsigned char>(message[1])))
      message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    usage_error(message, "see: omen " + line.app.get_name() + " --help");
  }
  if (line.flags) take_key_values(line);
  if (!line.timeout.empty())
    line.run_choices->timeout_seconds = parse_time("--timeout", line.timeout);
  if (!line.memory.empty()) line.run_choices->memory_bytes = parse_size(line.memory);
  if (!line.timeout.empty() || !line.memory.empty()) line.run_choices->isolate = true;
  const Globals& g = line.globals;
  set_log_level(g.quiet         ? OMEN_LOG_ERROR
                : g.verbose > 1 ? OMEN_LOG_DEBUG
                : g.verbose     ? OMEN_LOG_INFO
                                : OMEN_LOG_WARN);
  const int code = line.run();
  flush_stdout();
  return code;
}

// `omen PLUGIN --help`, or with a verb behind the plugin the help of that verb.
int show_plugin_help(const Line& line, const Words& words, std::size_t at) {
  const Words behind(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  const std::size_t verb = verb_index(behind);
  print(verb == behind.size() ? plugin_help(line.globals, words[at])
                              : command_help(line, words[at], behind[verb]));
  flush_stdout();
  return kOk;
}

// Positionals are not parsed for help, so a component is any word that names one.
int show_help(Line& line, const VerbText& verb, const Words& words) {
  std::string text = verb_help(line, verb);
  if (line.component) text += component_help(line.globals, words);
  print(text);
  flush_stdout();
  return kOk;
}

void print_version(const Words& words) {
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  char text[160];
  std::snprintf(text, sizeof text,
                json ? "{\n  \"format_version\": 1,\n  \"version\": \"%s\",\n  \"abi\": "
                       "{\"major\": %u, \"minor\": %u}\n}\n"
                     : "omen %s (plugin ABI %u.%u)\n",
                OMEN_VERSION, OMEN_ABI_MAJOR, OMEN_ABI_MINOR);
  print(text);
  flush_stdout();
}

bool contains(const Words& words, std::initializer_list<const char*> wanted) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [&](const std::string& word) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const char* w) { return word == w; });
  });
}

// Without a verb: the version, the overview, or the few lines of bare `omen`.
int run_without_verb(const Words& words, bool full) {
  if (contains(words, {"--version", "-V"})) return print_version(words), kOk;
  Line line;
  line.app.set_help_flag();
  add_globals(line);
  line.run = [&] {
    const int code = run_welcome(line.globals, full);
    if (full) print("\neverywhere:\n" + option_lines(line.app, "Everywhere"));
    return code;
  };
  Words rest = words;
  std::erase_if(rest,
                [](const std::string& w) { return w == "--help" || w == "-h" || w == "help"; });
  return parse_and_run(line, rest);
}

void build_verb(Line& line, const Words& words, std::size_t at) {
  line.app.set_help_flag();
  line.app.name(words[at]);
  line.globals.command_line = words;
  line.globals.plugin_path = early_plugin_path(words);
  const auto build = builder_of(words[at]);
  (build ? build : build_plugin_command)(line);
  add_globals(line);
}

int run_words(const Words& words) {
  const std::size_t at = verb_index(words);
  const bool help = contains(words, {"--help", "-h"});
  if (at == words.size()) return run_without_verb(words, help);
  if (words[at] == "help") {
    Words asked(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
    if (asked.empty()) return run_without_verb(words, true);
    asked.emplace_back("--help");
    return run_words(asked);
  }
  Line line;
  build_verb(line, words, at);
  Words rest = words;
  const VerbText* verb = find_verb(words[at]);
  if (verb) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  if (!help) return parse_and_run(line, rest);
  return verb ? show_help(line, *verb, rest) : show_plugin_help(line, words, at);
}

// `omen __complete WORD...`: the words after `omen` up to the cursor, the last one unfinished.
int complete(const Words& words) {
  const std::size_t at = verb_index(words);
  std::vector<CompletionFlag> flags;
  Line line;
  if (at + 1 < words.size())
    build_verb(line, words, at);
  else
    add_globals(line);
  for (const CLI::Option* option : line.app.get_options())
    for (const std::string& name : option->get_lnames())
      flags.push_back({"--" + name, option->get_description(), option->get_type_size() > 0});
  Globals globals;
  globals.plugin_path = early_plugin_path(words);
  const int code = run_complete(globals, words, flags);
  flush_stdout();
  return code;
}

}  // namespace

int run(int argc, char** argv) {
  Words words(argv + 1, argv + argc);
  try {
    if (!words.empty() && words[0] == "__complete") {
      words.erase(words.begin());
      return complete(words);
    }
    return run_words(words);
  } catch (const Error& e) {
    std::fflush(stdout);
    std::fputs(error_text(e, terminal_of(STDERR_FILENO).colour).c_str(), stderr);
    return exit_code_of(e);
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\n", stderr);
    return kFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n  hint: this is a defect of omen; please report it\n",
                 e.what());
    return kFailed;
  }
}

}  // namespace omen::host::cli
