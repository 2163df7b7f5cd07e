// SPDX-License-Identifier: Apache-2.0
// Reading, mending and writing perf tables.
#include "sweep/perf_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "omen/csv_line.hpp"
#include "omen/error.hpp"
#include "omen/join.hpp"
#include "omen/telemetry/trace_failures.hpp"

namespace omen::driple {
namespace {

constexpr std::array<std::string_view, 6> kResourceWords = {
    "GPU Mem Util%", "GPU Util%", "CPU Util%", "GPU Memory", "Network_rx", "Network_tx"};
constexpr std::array<std::string_view, 4> kEvidenceWords = {"measured", "proven", "likely",
                                                            "unknown"};
constexpr const char* kIdle = "avg Idle time";
constexpr const char* kActive = "avg Active time";
constexpr const char* kPeak = "avg Peak consumption";
constexpr const char* kTime = "Execution Time";
constexpr const char* kResource = "Resource";
constexpr double kClear = 0.01;  // of all samples; less decides nothing

// Both published spellings of a resource.
std::optional<Resource> resource_named(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!text.empty() && text.back() == '%') text.pop_back();
  constexpr std::array<std::string_view, 6> kLower = {"gpu mem util", "gpu util",   "cpu util",
                                                      "gpu memory",   "network_rx", "network_tx"};
  const auto at = std::find(kLower.begin(), kLower.end(), text);
  if (at == kLower.end()) return std::nullopt;
  return static_cast<Resource>(at - kLower.begin());
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

[[noreturn]] void bad_perf(const std::string& where, std::size_t line, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, where + " line " + std::to_string(line) + ": " + what,
              "Give a perf table with the columns Resource, avg Idle time, avg Active time and "
              "avg Peak consumption behind those of the job.");
}

// Where the columns of a file stand.
struct Places {
  std::vector<std::size_t> job;
  std::size_t resource = 0, idle = 0, active = 0, peak = 0;
  std::optional<std::size_t> time;
};

Places places_in(const std::vector<std::string>& header, const std::string& where,
                 PerfTable& table) {
  const auto find = [&](const char* name) -> std::optional<std::size_t> {
    const auto at = std::find(header.begin(), header.end(), name);
    if (at == header.end()) return std::nullopt;
    return static_cast<std::size_t>(at - header.begin());
  };
  const auto must = [&](const char* name) {
    const auto at = find(name);
    if (!at) bad_perf(where, 1, std::string("there is no column ") + name);
    return *at;
  };
  Places places;
  places.resource = must(kResource);
  places.idle = must(kIdle);
  places.active = must(kActive);
  places.peak = must(kPeak);
  places.time = find(kTime);
  for (std::size_t i = 0; i < places.resource; ++i) {
    places.job.push_back(i);
    table.job_columns.push_back(header[i]);
  }
  return places;
}

PerfRow row_of(const std::vector<std::string>& fields, const Places& places,
               const std::string& where, std::size_t line) {
  PerfRow row;
  const auto share = [&](std::size_t at) {
    const auto value = at < fields.size() ? number_in(fields[at]) : std::nullopt;
    if (!value || *value < 0) bad_perf(where, line, "a number is missing or negative");
    return *value;
  };
  for (const std::size_t at : places.job)
    row.job.push_back(at < fields.size() ? fields[at] : std::string());
  const auto resource =
      places.resource < fields.size() ? resource_named(fields[places.resource]) : std::nullopt;
  if (!resource) bad_perf(where, line, "its resource is unknown");
  row.resource = *resource;
  row.idle = share(places.idle);
  row.burst = share(places.active);
  row.peak = share(places.peak);
  if (places.time) row.seconds = share(*places.time);
  return row;
}

// -1: the high cluster stands under idle, 1: under active, 0: the peaks do not tell.
int proven_side(const PerfRow& row) {
  const bool fits_idle = row.peak <= row.idle + kClear,
             fits_active = row.peak <= row.burst + kClear;
  if (fits_idle == fits_active) return 0;
  return fits_idle ? -1 : 1;
}

void exchange(PerfRow& row) {
  std::swap(row.idle, row.burst);
  row.mended = true;
}

// Clusters of shares have no order in the file; the majority of proven rows tells how its headers
// were meant.
void mend(PerfTable& table) {
  int under_idle = 0, under_active = 0;
  for (const PerfRow& row : table.rows) {
    const int side = proven_side(row);
    under_idle += side < 0 ? 1 : 0;
    under_active += side > 0 ? 1 : 0;
  }
  table.headers_swapped = under_idle > under_active;
  for (PerfRow& row : table.rows) {
    const int side = proven_side(row);
    const bool busy = row.resource == Resource::gpu_util || row.resource == Resource::gpu_memory;
    row.evidence = side != 0 ? Evidence::proven : busy ? Evidence::likely : Evidence::unknown;
    const bool wrong = side != 0 ? side < 0 : busy ? row.idle > row.burst : table.headers_swapped;
    if (wrong) exchange(row);
  }
}

std::size_t place_of_column(const PerfTable& table, const char* name) {
  return static_cast<std::size_t>(
      std::find(table.job_columns.begin(), table.job_columns.end(), name) -
      table.job_columns.begin());
}

// Neighbours differ in batch size and epochs alone.
void mark_suspects(PerfTable& table) {
  const std::size_t batch = place_of_column(table, "BatchSize"),
                    epochs = place_of_column(table, "Epoch");
  if (batch == table.job_columns.size() || epochs == table.job_columns.size()) return;
  std::vector<telemetry::PerfRun> runs;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const PerfRow& row = table.rows[i];
    const auto size = number_in(row.job[batch]), work = number_in(row.job[epochs]);
    if (!size || !work || !std::isfinite(row.seconds) || row.resource != Resource::gpu_util)
      continue;
    std::string group;
    for (std::size_t c = 0; c < row.job.size(); ++c)
      if (c != batch && c != epochs) group += row.job[c] + "\n";
    runs.push_back({group, *size, *work, row.seconds});
    rows.push_back(i);
  }
  const std::vector<telemetry::PerfVerdict> verdicts = telemetry::find_failed_runs(runs);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (!verdicts[i].suspect) continue;
    for (PerfRow& row : table.rows)
      if (row.job == table.rows[rows[i]].job) row.outcome = "suspect";
  }
}

std::string text_of(double value) {
  if (!std::isfinite(value)) return {};
  char number[32];
  const auto end = std::to_chars(number, number + sizeof number, value);
  return {number, end.ptr};
}

}  // namespace

std::string_view word(Resource resource) {
  return kResourceWords[static_cast<std::size_t>(resource)];
}

std::string_view word(Evidence evidence) {
  return kEvidenceWords[static_cast<std::size_t>(evidence)];
}

const std::vector<std::string>& job_columns_of(PerfSchema schema) {
  static const std::vector<std::string> single = {"GPU",       "Model", "BatchSize",
                                                  "Optimizer", "Epoch", "Dataset"};
  static const std::vector<std::string> distributed = {"GPU",        "Model",           "Data Set",
                                                       "Sync/Async", "Hyper-Parameter", "Job Name"};
  return schema == PerfSchema::single ? single : distributed;
}

void PerfTable::scale_seconds() {
  least_seconds = INFINITY;
  most_seconds = -INFINITY;
  for (const PerfRow& row : rows) {
    if (!std::isfinite(row.seconds)) continue;
    least_seconds = std::min(least_seconds, row.seconds);
    most_seconds = std::max(most_seconds, row.seconds);
  }
  if (!(least_seconds <= most_seconds)) least_seconds = most_seconds = 0;
  const double range = most_seconds - least_seconds;
  for (PerfRow& row : rows)
    if (std::isfinite(row.seconds))
      row.scaled_seconds = range > 0 ? (row.seconds - least_seconds) / range : 0;
}

PerfTable parse_perf_csv(std::string_view text, const std::string& where) {
  PerfTable table;
  std::optional<Places> places;
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> fields = csv_cells(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (!places)
      places = places_in(fields, where, table);
    else if (fields.size() > 1 || !fields[0].empty())
      table.rows.push_back(row_of(fields, *places, where, line));
  }
  if (table.rows.empty()) bad_perf(where, 1, "there is no row");
  // Shares of two clusters sum to one; durations of the distributed schema do not, and have names
  // that hold.
  if (places->time) mend(table);
  mark_suspects(table);
  table.scale_seconds();
  return table;
}

std::string perf_csv(const PerfTable& table) {
  const bool timed = std::any_of(table.rows.begin(), table.rows.end(),
                                 [](const PerfRow& row) { return std::isfinite(row.seconds); });
  std::string text = join(table.job_columns, ",") + "," + kResource + "," + kIdle + "," + kActive +
                     "," + kPeak + (timed ? std::string(",") + kTime : "") + "\n";
  for (const PerfRow& row : table.rows) {
    if (!std::isfinite(row.burst)) continue;
    for (const std::string& value : row.job) text += value + ",";
    text += std::string(word(row.resource)) + "," + text_of(row.idle) + "," + text_of(row.burst) +
            "," + text_of(row.peak) + (timed ? "," + text_of(row.seconds) : "") + "\n";
  }
  return text;
}

}  // namespace omen::driple
