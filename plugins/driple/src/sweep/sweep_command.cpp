// SPDX-License-Identifier: Apache-2.0
// One run after the other, each in a directory of its own; what is there already is not run again.
#include "sweep/sweep_command.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "omen/error.hpp"
#include "omen/pending_file.hpp"
#include "omen/telemetry/imports.hpp"
#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/trace_stats.hpp"
#include "sweep/perf_answer.hpp"
#include "sweep/run_record.hpp"

namespace omen::driple {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSweepUsage =
    "Use: omen driple sweep \"model=vgg11,resnet50 batch=8,16\" --into DIR -- COMMAND {model} "
    "{batch}";
constexpr const char* kPerfFile = "perf.csv";

telemetry::RecordOptions record_options(const SweepOptions& options, const fs::path& directory) {
  telemetry::RecordOptions record;
  record.interval_ns = std::llround(options.interval_ms * 1e6);
  record.tail_s = options.tail_s;
  record.nvml_library = options.nvml_library;
  record.directory = directory;
  return record;
}

// Waits between runs, so that one does not heat or fill the device of the next.
void pause_between(double seconds, const Run& run) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end && !run.cancelled())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

class Sweeper {
 public:
  Sweeper(const SweepOptions& options, std::vector<std::string> command, const Run& run)
      : options_(options), command_(std::move(command)), run_(run) {}

  // Whether it had to be run.
  bool point(const Point& point) {
    const fs::path directory = fs::path(options_.into) / point_name(point);
    if (!seen_.insert(directory.string()).second)
      throw Error(OMEN_INVALID_ARGUMENT,
                  "two points of the grid are both named " + point_name(point),
                  "Let values differ in letters, digits, dots or dashes.");
    std::map<std::string, std::string> values(point.begin(), point.end());
    values["graph"] = (directory / kGraphFile).string();
    values["dir"] = directory.string();
    const std::vector<std::string> words = filled_in(command_, values);
    const std::optional<RunRecord> before = read_run(directory);
    if (before && before->command == quoted_command(words)) return false;
    record(point, directory, words);
    return true;
  }

 private:
  void record(const Point& point, const fs::path& directory,
              const std::vector<std::string>& words) {
    fs::create_directories(directory);
    telemetry::RecordHooks hooks;
    hooks.cancelled = [this] { return run_.cancelled(); };
    telemetry::Workload job;
    job.command = words;
    const telemetry::Recording recording =
        telemetry::record(record_options(options_, directory), job, hooks);
    if (recording.cancelled) throw Error(OMEN_CANCELLED, "the sweep was cancelled");
    const telemetry::TraceStats stats =
        telemetry::trace_stats([&] { return telemetry::open_trace(directory); });
    const telemetry::RunOutcome outcome =
        stats.workloads.empty() ? telemetry::RunOutcome{} : stats.workloads.front().outcome;
    write_run(directory, {point, quoted_command(words), telemetry::outcome_text(outcome.outcome),
                          outcome.reason, recording.job.exit_code, recording.job.signal});
  }

  const SweepOptions& options_;
  std::vector<std::string> command_;
  const Run& run_;
  std::set<std::string> seen_;
};

// Published columns are known by these names of dimensions.
std::string column_of(const std::string& dimension) {
  static const std::map<std::string, std::string> names = {
      {"gpu", "GPU"},         {"model", "Model"},
      {"batch", "BatchSize"}, {"optimizer", "Optimizer"},
      {"epochs", "Epoch"},    {"dataset", "Dataset"}};
  const auto at = names.find(dimension);
  return at == names.end() ? dimension : at->second;
}

}  // namespace

PerfTable perf_of_sweep(const fs::path& directory, const TraceOptions& options) {
  std::vector<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.is_directory() && fs::exists(entry.path() / kRunFile)) runs.push_back(entry.path());
  std::sort(runs.begin(), runs.end());
  PerfTable table;
  for (const fs::path& path : runs) {
    const std::optional<RunRecord> record = read_run(path);
    if (!record) continue;
    std::vector<std::string> columns, job;
    for (const auto& [name, value] : record->point) {
      columns.push_back(column_of(name));
      job.push_back(value);
    }
    if (table.job_columns.empty()) table.job_columns = columns;
    if (columns != table.job_columns)
      throw Error(OMEN_INVALID_DATA, path.string() + " belongs to a grid of other dimensions",
                  "Give each grid a directory of its own with --into.");
    append_rows(table, job, labels_of_trace(path, options), record->outcome);
  }
  table.scale_seconds();
  return table;
}

std::vector<Option<SweepOptions>> SweepOptions::spec() {
  using O = SweepOptions;
  return options(
      opt(&O::into, "into", "directory for traces and the perf table; runs in it are not repeated")
          .path(),
      opt(&O::interval_ms, "interval_ms", "time between samples").unit("ms").range(10, 60'000),
      opt(&O::tail_s, "tail_s", "sample this long after each job").unit("s").range(0, 3600),
      opt(&O::pause_s, "pause_s", "wait this long between jobs").unit("s").range(0, 3600),
      opt(&O::memory_gib, "memory_gib", "memory of the GPU; 0: as its driver says")
          .unit("GiB")
          .range(0, 10000),
      opt(&O::nvml_library, "nvml_library", "NVML by name or path").advanced());
}

int SweepCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  if (args.size() < 2)
    throw Error(OMEN_INVALID_ARGUMENT, "sweep needs a grid and a command behind two dashes",
                kSweepUsage);
  const Grid grid = Grid::parse(args.front());
  Sweeper sweeper(options_, {args.begin() + 1, args.end()}, run);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const Point point = grid.point(i);
    run.step(static_cast<double>(i) / static_cast<double>(grid.size()), point_name(point).c_str());
    if (sweeper.point(point) && i + 1 < grid.size()) pause_between(options_.pause_s, run);
  }
  const PerfTable table =
      perf_of_sweep(options_.into, {.memory_bytes = options_.memory_gib * 0x1p30});
  const std::string csv = perf_csv(table);
  PendingFile file(fs::path(options_.into) / kPerfFile);
  file.append(csv.data(), csv.size());
  file.commit();
  put_perf(table, out);
  return 0;
}

}  // namespace omen::driple
