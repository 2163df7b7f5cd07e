// SPDX-License-Identifier: Apache-2.0
// Decides for each column whether it holds numbers, and puts recordings into columns.
#include "characterise/job_table.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <omen/error.hpp>
#include <omen/join.hpp>
#include <omen/telemetry/imports.hpp>
#include <omen/telemetry/trace_stats.hpp>

#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

// Whether everything behind the last slash is a version.
std::string without_version(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos || slash + 1 == text.size()) return text;
  const bool version =
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(slash) + 1, text.end(),
                  [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return version ? text.substr(0, slash) : text;
}

// What the published table has of a run, as far as a recording says it.
constexpr const char* kRecorded[] = {
    "cpu.busy_percent",  "gpu.util_percent",   "gpu.mem_util_percent", "gpu.mem_used_bytes",
    "gpu.temperature_c", "gpu.power_w",        "gpu.clock_sm_mhz",     "mem.used_bytes",
    "proc.cpu_percent",  "proc.rss_bytes",     "proc.threads",         "sys.context_switches_per_s",
    "disk.busy_percent", "nic.rx_bytes_per_s", "meter.power_w"};

// `omen profile -o DIRECTORY` keeps its rows in a file of this name.
std::filesystem::path recording_in(const std::filesystem::path& path) {
  const std::filesystem::path inside = path / "counters.omt";
  return std::filesystem::exists(inside) ? inside : path;
}

// The columns of one run.
std::map<std::string, double> columns_of(const telemetry::WorkloadStats& run) {
  std::map<std::string, double> columns;
  for (const telemetry::SeriesPhases& series : run.series) {
    std::string name = series.metric;
    if (series.device != telemetry::Sample::kWholeMachine)
      name += "." + std::to_string(series.device);
    columns[name + "_max"] = series.max_30s;
    columns[name + "_mean"] = series.mean;
    columns[name + "_min"] = series.min;
  }
  if (run.step) columns["step_ms"] = 1000 * run.step->p50_s;
  return columns;
}

}  // namespace

void JobTable::add(std::string name, std::vector<double> values, std::vector<std::string> texts) {
  names_.push_back(std::move(name));
  values_.push_back(std::move(values));
  texts_.push_back(std::move(texts));
}

JobTable JobTable::of(const std::vector<std::string>& paths) {
  if (paths.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "no table of jobs and no recording is named",
                "Name one table JOBS.csv, or the recordings of several runs.");
  if (paths.size() == 1 && std::filesystem::path(paths[0]).extension() == ".csv")
    return read(paths[0]);
  return of_traces(paths);
}

JobTable JobTable::of_traces(const std::vector<std::string>& paths) {
  std::vector<std::string> name;
  std::vector<std::map<std::string, double>> runs;
  std::map<std::string, double> every;
  telemetry::TraceStatsOptions options;
  options.metrics.assign(std::begin(kRecorded), std::end(kRecorded));
  for (const std::string& path : paths) {
    const telemetry::TraceStats stats =
        telemetry::trace_stats([&] { return telemetry::open_trace(recording_in(path)); }, options);
    for (const telemetry::WorkloadStats& run : stats.workloads) {
      name.push_back(std::filesystem::path(path).stem().string());
      if (stats.workloads.size() > 1) name.back() += "/" + std::to_string(run.workload_id);
      runs.push_back(columns_of(run));
      every.insert(runs.back().begin(), runs.back().end());
    }
  }
  JobTable made;
  made.rows_ = runs.size();
  std::vector<double> number(runs.size());
  for (std::size_t row = 0; row < runs.size(); ++row) number[row] = static_cast<double>(row);
  made.add("job", std::move(number), std::move(name));
  for (const auto& [column, unused] : every) {
    std::vector<double> values;
    for (const std::map<std::string, double>& run : runs) {
      const auto at = run.find(column);
      values.push_back(at == run.end() ? std::numeric_limits<double>::quiet_NaN() : at->second);
    }
    made.add(column, std::move(values), {});
  }
  return made;
}

JobTable JobTable::read(const std::string& path) {
  const CsvText csv = CsvText::read(path);
  JobTable made;
  made.rows_ = csv.rows();
  if (made.rows_ == 0) throw Error(OMEN_INVALID_DATA, path + " has no rows");
  for (std::size_t column = 0; column < csv.header().size(); ++column) {
    std::vector<double> values;
    std::vector<std::string> texts, seen;
    const bool numbers = csv.holds_numbers(column);
    for (std::size_t row = 0; row < csv.rows(); ++row) {
      if (numbers) {
        values.push_back(csv.number(row, column));
        continue;
      }
      texts.push_back(without_version(csv.text(row, column)));
      auto at = std::find(seen.begin(), seen.end(), texts.back());
      if (at == seen.end()) at = seen.insert(seen.end(), texts.back());
      values.push_back(static_cast<double>(at - seen.begin()));
    }
    made.add(csv.header()[column], std::move(values), std::move(texts));
  }
  return made;
}

std::size_t JobTable::index(const std::string& name) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at == names_.end())
    throw Error(OMEN_INVALID_ARGUMENT, "the table has no column '" + name + "'",
                "Its columns are " + join(names_) + ".");
  return static_cast<std::size_t>(at - names_.begin());
}

bool JobTable::has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}
const std::vector<double>& JobTable::column(const std::string& name) const {
  return values_[index(name)];
}
bool JobTable::is_text(const std::string& name) const {
  return !texts_[index(name)].empty();
}
bool JobTable::is_set(const std::string& name, std::size_t row) const {
  if (!has(name)) return false;
  return is_text(name) ? text(name, row) == "true" : column(name)[row] == 1;
}
const std::string& JobTable::text(const std::string& column, std::size_t row) const {
  static const std::string none;
  const std::vector<std::string>& texts = texts_[index(column)];
  return texts.empty() ? none : texts[row];
}

std::string JobTable::name(std::size_t row) const {
  std::string text = std::to_string(row + 1);
  for (const char* model : {"Model", "model", "job"})
    if (has(model) && is_text(model)) text = this->text(model, row);
  for (const char* batch : {"BS", "batch", "batch_size", "Batch Size"})
    if (has(batch) && std::isfinite(column(batch)[row]))
      text += " " + std::to_string(std::lround(column(batch)[row]));
  return text;
}

std::vector<std::string> listed_columns(const std::string& text) {
  return split(text, ',');
}

}  // namespace omen::interference
