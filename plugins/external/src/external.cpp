// SPDX-License-Identifier: Apache-2.0
// A predictor that is a program in any language.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <omen/learn/errors.hpp>
#include <omen/plugin.hpp>

#include "exchange.hpp"
#include "program.hpp"
#include "trust.hpp"
#include "work_directory.hpp"

namespace omen::external {
namespace fs = std::filesystem;
namespace {

constexpr const char* kId = "external.program";
constexpr double kUsualLevel = 0.9;
constexpr int kNotFound = 127, kNotExecutable = 126;

struct ProgramOptions {
  std::string command;
  std::string script;
  std::vector<std::string> env;

  static auto spec() {
    using O = ProgramOptions;
    return options(
        opt(&O::command, "command",
            "what to run, for /bin/sh; script, verb and directory are added"),
        opt(&O::script, "script", "file to run: by command, by its suffix, or itself").path(),
        opt(&O::env, "env", "NAME=VALUE for the program's environment"));
  }
};

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string interpreter_of(const fs::path& script) {
  static const std::map<std::string, std::string> known = {
      {".py", "python3"}, {".sh", "sh"}, {".R", "Rscript"}, {".jl", "julia"}, {".pl", "perl"}};
  if (const auto found = known.find(script.extension().string()); found != known.end())
    return found->second + " ";
  if (::access(script.c_str(), X_OK) == 0) return "";
  throw Error(
      OMEN_INVALID_ARGUMENT,
      "option 'script' is " + script.string() + ", which is not executable and has no known suffix",
      "Give the command that runs it, or make it executable: chmod +x");
}

// What is run: a line for /bin/sh, and variables on top of the environment.
struct Invocation {
  std::string command;
  std::vector<std::string> env;  // NAME=VALUE

  // One text for both, as a model keeps it and as trust is asked for it.
  std::string text() const {
    std::string all = command;
    for (const std::string& entry : env) all += "\n" + entry;
    return all;
  }
  static Invocation parse(const std::string& text) {
    Invocation parsed;
    std::size_t end = text.find('\n');
    parsed.command = text.substr(0, end);
    while (end != std::string::npos) {
      const std::size_t begin = end + 1;
      end = text.find('\n', begin);
      parsed.env.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    }
    return parsed;
  }
};

void check_option(const char* name, const std::string& value) {
  if (value.find('\n') != std::string::npos)
    throw Error(OMEN_INVALID_ARGUMENT, std::string("option '") + name + "' has a line break",
                "Write it on one line, or into a script.");
}

// The example that comes with the plugin stands for a program that was not named.
Invocation invocation_of(const ProgramOptions& options) {
  Invocation invocation{options.command, options.env};
  fs::path script = options.script;
  if (options.command.empty() && script.empty()) script = fs::path(plugin_dir()) / "data/median.py";
  if (script.empty()) return invocation;
  if (!fs::is_regular_file(script))
    throw Error(OMEN_NOT_FOUND, "option 'script' is " + script.string() + ", which is no file",
                "Give the path of a file.");
  script = fs::absolute(script);
  const std::string runner =
      options.command.empty() ? interpreter_of(script) : options.command + " ";
  invocation.command = runner + quoted(script.string());
  return invocation;
}

std::vector<std::pair<std::string, std::string>> variables(const Invocation& invocation) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& entry : invocation.env) {
    const std::size_t equals = entry.find('=');
    all.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return all;
}

std::string last_line(const std::string& output) {
  const std::size_t end = output.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return "";
  const std::size_t before = output.find_last_of('\n', end);
  return output.substr(before == std::string::npos ? 0 : before + 1,
                       end - (before == std::string::npos ? 0 : before + 1) + 1);
}

// Output of a program may hold anything; a message is text.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = ' ';
  return text;
}

// What a program learnt: its files, what they are about, and how it is run.
struct Model {
  Invocation invocation;
  Learnt learnt;
  Files files;
};

// By name, as a model file keeps them.
Files contents_of(const Model& model) {
  Files contents{{"learnt", to_text(model.learnt)}, {trust::kInvocation, model.invocation.text()}};
  for (const auto& [name, bytes] : model.files) contents["state/" + name] = bytes;
  return contents;
}

trust::Record record_of(const Model& model) {
  const Files contents = contents_of(model);
  return trust::model({contents.begin(), contents.end()}, model.invocation.command);
}

class Program final : public Predictor {
 public:
  explicit Program(ProgramOptions options) : options_(std::move(options)) {
    check_option("command", options_.command);
    check_option("script", options_.script);
    for (const std::string& entry : options_.env) {
      check_option("env", entry);
      if (const std::size_t equals = entry.find('='); equals == 0 || equals == std::string::npos)
        throw Error(OMEN_INVALID_ARGUMENT, "option 'env' is '" + entry + "'", "Write NAME=VALUE.");
    }
  }

  void fit(const Dataset& train, const Dataset& valid, const Run& run) override {
    const auto tick = [&] { run.step(-1, "read"); };
    const Tables tables = plain_tables(train, true, tick);
    auto next = std::make_unique<Model>();
    next->invocation = invocation_of(options_);
    next->learnt = targets_of(tables);
    if (rows_due(tables).workload.empty())
      throw Error(OMEN_INVALID_DATA, "there are no rows to learn from");
    const WorkDirectory work(run.scratch_dir());
    write_tables(work.path() / kInputFile, tables);
    if (valid && valid.has("workloads"))
      write_tables(work.path() / kValidFile, plain_tables(valid, true, tick));
    write_task(work.path() / kTaskFile, "fit", tables, next->learnt, run, train.task_json());
    fs::create_directory(work.path() / kStateDirectory);
    if (!typed()) require_program(next->invocation.text());
    remember(trust::program(next->invocation.text()));
    call("fit", next->invocation, work, run);
    next->files = read_files(work.path() / kStateDirectory);
    model_ = std::move(next);
    remember(record_of(*model_));
  }

  TableStream predict(const Dataset& in, const Run& run) override {
    learn::require_model(model_, kId);
    const double level = run.interval_level() > 0 ? run.interval_level() : kUsualLevel;
    const Tables tables = plain_tables(in, false, [&] { run.step(-1, "read"); });
    const Rows rows = rows_due(tables);
    const WorkDirectory work(run.scratch_dir());
    write_tables(work.path() / kInputFile, tables);
    write_task(work.path() / kTaskFile, "predict", tables, model_->learnt, run, in.task_json());
    write_files(work.path() / kStateDirectory, model_->files);
    // Options that are given now go before what the model was trained with.
    const bool given = !options_.command.empty() || !options_.script.empty();
    const Invocation invocation = given ? invocation_of(options_) : model_->invocation;
    if (!given || !typed()) {
      require_program(invocation.text());
      require_model(record_of(*model_), invocation.text());
    }
    call("predict", invocation, work, run);
    return read_predictions(work.path() / kPredictionsFile, model_->learnt, rows, level);
  }

  void save(ArtifactWriter& out) const override {
    learn::require_model(model_, kId);
    for (const auto& [name, bytes] : contents_of(*model_)) out.put_text(name, bytes);
  }

  void load(const ArtifactReader& in) override {
    auto next = std::make_unique<Model>();
    const std::vector<std::string> names = in.names();
    if (std::find(names.begin(), names.end(), "learnt") == names.end())
      throw Error(OMEN_INVALID_DATA, std::string("the model is not one of ") + kId,
                  "Use it with the component that made it.");
    next->learnt = learnt_from_text(in.text("learnt"));
    next->invocation = Invocation::parse(in.text(trust::kInvocation));
    for (const std::string& entry : next->invocation.env)
      if (entry.find('=') == std::string::npos)
        throw Error(OMEN_INVALID_DATA, "the model's environment is damaged", "Train it again.");
    for (const std::string& name : names)
      if (name.rfind("state/", 0) == 0) next->files[name.substr(6)] = in.text(name);
    model_ = std::move(next);
  }

 private:
  bool typed() const {
    std::vector<std::string> values = options_.env;
    values.insert(values.end(), {options_.command, options_.script});
    return is_typed(values);
  }

  static void call(const char* verb, const Invocation& invocation, const WorkDirectory& work,
                   const Run& run) {
    Launch launch{invocation.command, {verb, work.path().string()}, variables(invocation)};
    // Temporary files that a program forgets go with the directory.
    const fs::path temporary = work.path() / "tmp";
    fs::create_directory(temporary);
    launch.environment.emplace_back("TMPDIR", temporary.string());
    if (run.threads() > 0)
      for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
        launch.environment.emplace_back(name, std::to_string(run.threads()));
    const Ended end = run_program(launch, [&] { run.step(-1, verb); });
    const bool failed = end.signal != 0 || end.exit_code != 0;
    if (!end.output.empty())
      log(failed ? OMEN_LOG_ERROR : OMEN_LOG_INFO, kId,
          std::string("output of ") + verb + ":\n" + printable(end.output));
    if (failed) fail(verb, launch.command, end);
  }

  [[noreturn]] static void fail(const char* verb, const std::string& command, const Ended& end) {
    const std::string said = printable(last_line(end.output));
    const std::string because = said.empty() ? "" : ": " + said;
    if (end.signal == 0 && (end.exit_code == kNotFound || end.exit_code == kNotExecutable))
      throw Error(OMEN_UNAVAILABLE, "cannot run '" + command + "'" + because,
                  "Check its spelling and PATH; it is run from the current directory.");
    // A shell reports a signal of what it ran as an exit code above 128.
    const int signal = end.signal ? end.signal : std::max(0, end.exit_code - 128);
    const char* name = signal > 0 ? sigabbrev_np(signal) : nullptr;
    const std::string how = name ? std::string("was ended by SIG") + name
                                 : "ended with exit code " + std::to_string(end.exit_code);
    throw Error(OMEN_INTERNAL, std::string("the program ") + how + " in " + verb + because,
                "Its output is in the log above. The command was: " + command);
  }

  ProgramOptions options_;
  std::unique_ptr<Model> model_;
};

Component program() {
  return predictor<Program, ProgramOptions>(kId, "a program of yours, in any language")
      .reads("workloads.*", "nodes:optional", "edges:optional", "node_features:optional",
             "counters:optional", "candidates:optional")
      .writes("*");
}

}  // namespace
}  // namespace omen::external

OMEN_PLUGIN("external", "0.1.0", "Apache-2.0", omen::external::program())
