// SPDX-License-Identifier: Apache-2.0
// Finds out what each path holds.
#include "sweep/perf_command.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "omen/error.hpp"
#include "omen/pending_file.hpp"
#include "sweep/perf_answer.hpp"
#include "sweep/run_record.hpp"
#include "sweep/sweep_command.hpp"

namespace omen::driple {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPerfUsage = "Use: omen driple perf TRACES|SWEEP|PERF.csv ...";
constexpr std::string_view kPerfMark = "avg Peak consumption";

bool is_perf_table(const fs::path& path) {
  std::ifstream file(path);
  std::string header;
  return std::getline(file, header) && header.find(kPerfMark) != std::string::npos;
}

bool is_sweep(const fs::path& directory) {
  return std::any_of(fs::directory_iterator(directory), fs::directory_iterator(),
                     [](const auto& entry) { return fs::exists(entry.path() / kRunFile); });
}

PerfTable perf_of_traces(std::vector<fs::path> traces, const TraceOptions& options,
                         const Run& run) {
  PerfTable table;
  table.job_columns = job_columns_of(PerfSchema::single);
  std::sort(traces.begin(), traces.end());
  for (std::size_t i = 0; i < traces.size(); ++i) {
    run.step(static_cast<double>(i) / static_cast<double>(traces.size()), "traces");
    std::vector<std::string> job = job_of_file(traces[i]);
    if (job.empty()) job = {"", traces[i].stem().string(), "", "", "", ""};
    const TraceLabels labels = labels_of_trace(traces[i], options);
    append_rows(table, job, labels, telemetry::outcome_text(labels.outcome.outcome));
  }
  table.scale_seconds();
  return table;
}

PerfTable perf_of(const fs::path& path, const TraceOptions& options, const Run& run) {
  if (!fs::exists(path)) throw Error(OMEN_NOT_FOUND, path.string() + " is not there", kPerfUsage);
  if (fs::is_directory(path)) {
    if (is_sweep(path)) return perf_of_sweep(path, options);
    std::vector<fs::path> traces;
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.is_regular_file()) traces.push_back(entry.path());
    return perf_of_traces(std::move(traces), options, run);
  }
  if (!is_perf_table(path)) return perf_of_traces({path}, options, run);
  std::ifstream file(path, std::ios::binary);
  return parse_perf_csv(std::string(std::istreambuf_iterator<char>(file), {}), path.string());
}

}  // namespace

std::vector<Option<PerfOptions>> PerfOptions::spec() {
  using O = PerfOptions;
  return options(
      opt(&O::memory_gib, "memory_gib", "memory of the GPU; 0: as the trace says")
          .unit("GiB")
          .range(0, 10000),
      opt(&O::period_s, "period_s", "time between samples of traces that carry no time")
          .unit("s")
          .range(1e-4, 3600),
      opt(&O::write, "write", "also write the table as CSV with the published columns").path());
}

int PerfCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  if (args.empty()) throw Error(OMEN_INVALID_ARGUMENT, "perf needs a path", kPerfUsage);
  PerfTable all;
  for (const std::string& path : args) {
    PerfTable one = perf_of(path, {options_.memory_gib * 0x1p30, options_.period_s}, run);
    if (all.job_columns.empty()) all.job_columns = one.job_columns;
    if (one.job_columns != all.job_columns)
      throw Error(OMEN_INVALID_DATA, path + " has other columns of jobs than " + args.front(),
                  "Ask for them one by one.");
    all.headers_swapped = all.headers_swapped || one.headers_swapped;
    std::move(one.rows.begin(), one.rows.end(), std::back_inserter(all.rows));
  }
  all.scale_seconds();
  if (!options_.write.empty()) {
    const std::string csv = perf_csv(all);
    PendingFile file(options_.write);
    file.append(csv.data(), csv.size());
    file.commit();
  }
  put_perf(all, out);
  return 0;
}

}  // namespace omen::driple
