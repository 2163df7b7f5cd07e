// SPDX-License-Identifier: Apache-2.0
// What a command line asks for, as plain data: cli.cpp fills these, one file per verb answers them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace omen::host::cli {

using Flags = std::vector<std::pair<std::string, std::string>>;

// Understood before and after every verb.
struct Globals {
  std::vector<std::filesystem::path> plugin_path;
  bool quiet = false;
  int verbose = 0;
  bool plain = false;
  bool json = false;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::string devices = "cpu";
  std::string config_file;
  std::vector<std::string> command_line;
};

// How a verb that calls plugins runs them.
struct RunChoices {
  bool isolate = false;
  double timeout_seconds = 0;      // 0: none
  std::uint64_t memory_bytes = 0;  // 0: none
};

struct ListRequest {
  bool all = false;
};

struct InfoRequest {
  std::string id;
  bool advanced = false;
};

struct DoctorRequest {
  bool devices = false;  // measure them
};

struct NewRequest {
  std::string name, kind = "predictor", language = "c++";
  std::filesystem::path directory;  // empty: ./NAME
};

struct VerifyRequest {
  std::string plugin;       // id, directory or plugin.json
  int level = 2, jobs = 0;  // jobs 0: one per core
  std::string include, exclude;
  bool in_process = false, markdown = false;
  double timeout_seconds = 0;
};

struct GraphRequest {
  std::vector<std::string> inputs;
  std::string output, component;
  Flags flags;
  unsigned jobs = 1;
  std::int64_t max_nodes = 400;
  bool generate = false, resume = false;
  RunChoices run;
};

struct ProfileRequest {
  std::string component, output, recover;
  std::vector<std::string> words;    // diff A B, stats TRACE, failures TABLE
  std::vector<std::string> command;  // behind `--`
  std::int64_t pid = 0, repeat = 1;
  double duration_s = 0;  // 0: until the workload ends
  bool probe = false, all = false, no_plot = false;
  std::vector<std::string> metrics, columns;  // of stats and of failures
  double period_s = 0;                        // between samples of a trace without times
  bool legacy = false;
  Flags flags;
  RunChoices run;
};

struct MarkRequest {
  std::string name;
};

struct TrainRequest {
  std::string component, data, valid, group, from, output, summary;
  std::vector<std::string> targets;
  Flags flags;
  RunChoices run;
};

struct PredictRequest {
  std::vector<std::string> inputs;
  std::string component, frontend, model, output;
  bool csv = false;
  double interval_level = 0.90;
  Flags flags;  // options of components, and features of a single row
  RunChoices run;
};

struct ScoreRequest {
  std::vector<std::string> inputs;
  std::string component, predictor, model, policy, candidates, output;
  bool csv = false;
  std::int64_t top = 0;
  Flags flags;
  RunChoices run;
};

struct CompareRequest {
  std::vector<std::string> contestants, tasks;
  std::string baseline, fail_if, html, references = "all", runs_dir = "runs";
  double rope = -1;  // below 0: of each task
  double interval_level = 0.90;
  bool self_check = false, shuffle_labels = false, csv = false, markdown = false;
  unsigned jobs = 0;  // 0: what the thread budget allows
  std::string run_dir, only_jobs, emit, output;
  std::size_t shares = 0;  // of an emitted array; 0: one a job, up to 64
  Flags flags;
  RunChoices run;
};

struct RunsRequest {
  std::string action = "list", runs_dir = "runs";
  std::vector<std::string> ids;
};

struct RerunRequest {
  std::string run, runs_dir = "runs";
};

struct ModelsRequest {
  std::string component;  // empty: of every component
};

struct DataRequest {
  std::string action = "list";
  std::vector<std::string> words;
  std::string name, output, format, component, group, summary, origin, license, sha256;
  std::vector<std::string> targets, key, text, numbers, units, renames;
  bool force = false;
  Flags flags;
  RunChoices run;
};

struct TaskRequest {
  std::string action;
  std::vector<std::string> words;
  std::string output, dataset, name, track, summary, loss, group, column, estimate;
  std::string split = "grouped-k-fold", assignment = "balanced", average = "row";
  std::string cost, cost_direction = "lower", scorer, default_candidate;
  std::vector<std::string> targets, inputs;
  int folds = 5, repeats = 1;
  unsigned threads_per_fold = 1;
  double rope = 0.01;
  bool per_node = false, force = false;
};

struct CompletionRequest {
  std::string shell;
};

struct PluginCommandRequest {
  std::string plugin, verb;
  std::vector<std::string> arguments;
  std::string output;
  Flags flags;
  RunChoices run;
};

}  // namespace omen::host::cli
