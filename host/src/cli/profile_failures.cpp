// SPDX-License-Identifier: Apache-2.0
// `omen profile failures`: out-of-memory and crashed runs in a table of measured jobs.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cli/console.hpp"
#include "cli/profile_stats.hpp"
#include "omen/telemetry/trace_failures.hpp"
#include "tables/table_io.hpp"

namespace omen::host::cli {
namespace {

using telemetry::PerfRun;
using telemetry::PerfVerdict;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct Columns {
  std::size_t size = 0, time = 0, work = 0;
  std::vector<std::size_t> group;
};

// The first column whose name holds one of the words, in the order of the words.
std::optional<std::size_t> column_like(const Table& table,
                                       std::initializer_list<const char*> words) {
  for (const char* word : words)
    for (std::size_t i = 0; i < table.columns(); ++i)
      if (lower(table.name(i)).find(word) != std::string::npos) return i;
  return std::nullopt;
}

std::size_t named(const Table& table, const std::string& name) {
  if (const auto at = table.find(name)) return *at;
  std::string names;
  for (std::size_t i = 0; i < table.columns(); ++i)
    names += (i ? ", " : "") + std::string(table.name(i));
  throw Error(OMEN_INVALID_DATA, "the table has no column '" + name + "'", "it has " + names);
}

std::map<std::string, std::string> choices_of(const ProfileRequest& request) {
  std::map<std::string, std::string> chosen;
  for (const std::string& choice : request.columns) {
    const std::size_t equals = choice.find('=');
    const std::string key = choice.substr(0, equals);
    if (equals == std::string::npos ||
        (key != "size" && key != "time" && key != "work" && key != "group"))
      usage_error("--column is '" + choice + "'",
                  "write size=NAME, time=NAME, work=NAME or group=NAME,NAME");
    chosen[key] = choice.substr(equals + 1);
  }
  return chosen;
}

Columns columns_of(const Table& table, const ProfileRequest& request) {
  const auto chosen = choices_of(request);
  const auto pick = [&](const char* key, std::initializer_list<const char*> words) {
    if (const auto at = chosen.find(key); at != chosen.end()) return named(table, at->second);
    if (const auto at = column_like(table, words)) return *at;
    throw Error(OMEN_INVALID_DATA,
                std::string("no column of the table looks like the ") + key + " of a run",
                std::string("name it with --column ") + key + "=NAME");
  };
  Columns columns;
  columns.size = pick("size", {"batch"});
  columns.time =
      pick("time", {"execution time", "exec_s", "wall_s", "seconds", "duration", "time"});
  columns.work = pick("work", {"steps", "epoch", "images", "samples"});
  if (const auto at = chosen.find("group"); at != chosen.end()) {
    std::string rest = at->second + ",";
    for (std::size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1))
      columns.group.push_back(named(table, rest.substr(0, comma)));
    return columns;
  }
  constexpr std::array<std::string_view, 8> kGroup = {
      "gpu", "device", "model", "network", "optimizer", "dataset", "precision", "machine"};
  for (std::size_t i = 0; i < table.columns(); ++i)
    if (std::find(kGroup.begin(), kGroup.end(), lower(table.name(i))) != kGroup.end())
      columns.group.push_back(i);
  if (columns.group.empty())
    throw Error(OMEN_INVALID_DATA, "no column of the table says which runs are neighbours",
                "name them with --column group=NAME,NAME");
  return columns;
}

// Tables with a row per resource repeat a job; equal rows are one run.
std::vector<PerfRun> runs_of(const Table& table, const Columns& columns) {
  const std::vector<double> size = table.numbers(columns.size), time = table.numbers(columns.time),
                            work = table.numbers(columns.work);
  std::vector<PerfRun> runs;
  std::map<std::tuple<std::string, double, double, double>, bool> seen;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    std::string group;
    for (const std::size_t column : columns.group)
      group += (group.empty() ? "" : " ") + cell_text(table, column, row);
    if (!(size[at] > 0) || !(time[at] > 0) || !(work[at] > 0)) continue;
    if (!seen.try_emplace({group, size[at], work[at], time[at]}, true).second) continue;
    runs.push_back({group, size[at], work[at], time[at]});
  }
  return runs;
}

void print_failures(const Globals& globals, const std::vector<PerfRun>& runs,
                    const std::vector<PerfVerdict>& verdicts) {
  TextTable table({{"run", false, true},
                   {"size", true},
                   {"work", true},
                   {"seconds", true},
                   {"throughput", true},
                   {"at most", true}});
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (verdicts[i].suspect)
      table.add({runs[i].group,
                 format_number(runs[i].size),
                 format_number(runs[i].work),
                 format_number(runs[i].seconds),
                 {format_number(*verdicts[i].throughput_ratio) + "x", Style::kBad},
                 format_number(verdicts[i].largest_ratio) + "x"});
  if (!table.empty()) print_table(globals, table);
}

std::string failures_json(const std::string& path, const std::vector<PerfRun>& runs,
                          const std::vector<PerfVerdict>& verdicts) {
  JsonWriter json;
  json.object().field("format_version", 1).field("table", path);
  json.field("runs", runs.size()).key("failures").array();
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (verdicts[i].suspect)
      json.object()
          .field("group", runs[i].group)
          .field("size", runs[i].size)
          .field("work", runs[i].work)
          .field("seconds", runs[i].seconds)
          .field("throughput_ratio", *verdicts[i].throughput_ratio)
          .field("largest_ratio", verdicts[i].largest_ratio)
          .end();
  return json.end().end().text();
}

}  // namespace

int run_profile_failures(const Globals& globals, const ProfileRequest& request) {
  if (request.words.size() != 2)
    usage_error("omen profile failures takes one table", "write omen profile failures TABLE.csv");
  const Table table = read_table(request.words[1]);
  const std::vector<PerfRun> runs = runs_of(table, columns_of(table, request));
  const std::vector<PerfVerdict> verdicts = telemetry::find_failed_runs(runs);
  if (globals.json)
    print(failures_json(request.words[1], runs, verdicts) + "\n");
  else
    print_failures(globals, runs, verdicts);
  const auto found = std::count_if(verdicts.begin(), verdicts.end(),
                                   [](const PerfVerdict& verdict) { return verdict.suspect; });
  note(globals, std::to_string(found) + " of " + std::to_string(runs.size()) +
                    " runs were faster than a larger batch can be: they cannot have finished");
  return kOk;
}

}  // namespace omen::host::cli
