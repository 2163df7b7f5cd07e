// SPDX-License-Identifier: Apache-2.0
// The comparison as one page that opens offline: style, scripts, chart library and data inside.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "omen/error.hpp"
#include "page_parts.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"
#include "text/json_writer.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace {

using namespace report;

// In the order in which they use each other.
constexpr std::array kScripts = {"dom.js",        "format.js",    "model.js",      "parts.js",
                                 "theme.js",      "charts.js",    "scales.js",     "summary.js",
                                 "filters.js",    "forest.js",    "ranking.js",    "parity.js",
                                 "spread.js",     "confusion.js", "cost.js",       "curves.js",
                                 "duplicates.js", "workloads.js", "provenance.js", "page.js"};

// A browser stays quick with this many answers; the CSV file beside the page has all of them.
constexpr std::size_t kMostAnswers = 600'000;
constexpr std::size_t kMostRows = 20'000, kFewestRows = 500;

std::string page_source(const std::string& name) {
  const std::filesystem::path path = share_directory() / "report" / name;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    throw Error(OMEN_UNAVAILABLE, "the report needs " + path.string() + ", which cannot be read",
                "install Omen again, or configure the build again");
  return text.str();
}

// Compact arrays: the indented writer would double the size of the page.
class Columns {
 public:
  explicit Columns(std::string& out) : out_(out) {}
  template <class Rows, class Value>
  void write(const char* name, const Rows& rows, Value&& value) {
    out_ += (first_ ? "\"" : ",\"") + std::string(name) + "\":[";
    first_ = false;
    bool begin = true;
    for (const auto& row : rows) {
      if (!begin) out_ += ',';
      begin = false;
      append(value(row));
    }
    out_ += ']';
  }

 private:
  void append(const std::string& text) { append_json_quoted(out_, text); }
  void append(std::int64_t number) { out_ += std::to_string(number); }
  // Six digits are more than a screen can show.
  void append(double number) { append_json_rounded(out_, number, 6); }
  std::string& out_;
  bool first_ = true;
};

// Strings as numbers into a list of distinct ones, in order of appearance.
class Dictionary {
 public:
  std::int64_t code(const std::string& text) {
    const auto [at, fresh] = codes_.try_emplace(text, static_cast<std::int64_t>(words_.size()));
    if (fresh) words_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::int64_t> codes_;
  std::vector<std::string> words_;
};

std::vector<const WorkloadRow*> sampled(const std::vector<WorkloadRow>& rows, std::size_t most) {
  std::vector<const WorkloadRow*> chosen;
  const std::size_t count = std::min(rows.size(), most);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(&rows[i * rows.size() / count]);
  return chosen;
}

double value_at(const std::vector<double>& values, std::size_t at) {
  return at < values.size() ? values[at] : std::nan("");
}
std::string page_text_at(const std::vector<std::string>& texts, std::size_t at) {
  return at < texts.size() ? texts[at] : std::string();
}

// Classes travel as numbers into `classes`, whatever numbers the task gave them; so do the
// candidates of a decision, beside their costs.
void append_contestant(std::string& out, const std::vector<const WorkloadRow*>& rows,
                       std::size_t contestant, TargetKind kind, Dictionary& classes,
                       Dictionary& statuses) {
  const auto name_code = [&](const WorkloadRow* row) {
    const std::string name = page_text_at(row->predicted_class, contestant);
    return name.empty() ? std::nan("") : static_cast<double>(classes.code(name));
  };
  out += '{';
  Columns columns(out);
  columns.write("predicted", rows, [&](const WorkloadRow* row) {
    return kind == TargetKind::kClass ? name_code(row) : value_at(row->predicted, contestant);
  });
  if (kind == TargetKind::kDecision) columns.write("pick", rows, name_code);
  columns.write("loss", rows,
                [&](const WorkloadRow* row) { return value_at(row->loss, contestant); });
  const bool has_interval = std::any_of(rows.begin(), rows.end(), [&](const WorkloadRow* row) {
    return !std::isnan(value_at(row->lo, contestant));
  });
  if (has_interval) {
    columns.write("lo", rows,
                  [&](const WorkloadRow* row) { return value_at(row->lo, contestant); });
    columns.write("hi", rows,
                  [&](const WorkloadRow* row) { return value_at(row->hi, contestant); });
  }
  columns.write("status", rows, [&](const WorkloadRow* row) {
    return statuses.code(page_text_at(row->status, contestant));
  });
  out += '}';
}

std::string table_json(const TargetResult& target, std::size_t contestants, std::size_t most) {
  const auto rows = sampled(target.rows, most);
  const bool is_class = target.kind == TargetKind::kClass;
  Dictionary groups, classes, statuses;
  for (const ContestantResult& result : target.contestants)
    for (const std::string& name : result.confusion.classes) classes.code(name);
  std::string out = "\"total\":" + std::to_string(target.rows.size()) + ",";
  Columns columns(out);
  columns.write("ids", rows, [](const WorkloadRow* row) { return row->workload_id; });
  columns.write("names", rows, [](const WorkloadRow* row) { return row->name; });
  columns.write("group", rows, [&](const WorkloadRow* row) { return groups.code(row->group); });
  columns.write("truth", rows, [&](const WorkloadRow* row) {
    return is_class ? static_cast<double>(classes.code(row->truth_class)) : row->truth;
  });
  if (target.kind == TargetKind::kDecision)
    columns.write("best", rows,
                  [&](const WorkloadRow* row) { return classes.code(row->truth_class); });
  out += ",\"contestants\":[";
  for (std::size_t c = 0; c < contestants; ++c) {
    if (c > 0) out += ',';
    append_contestant(out, rows, c, target.kind, classes, statuses);
  }
  out += "],";
  const auto same = [](const std::string& text) { return text; };
  Columns words(out);
  words.write("groups", groups.words(), same);
  words.write("classes", classes.words(), same);
  words.write("statuses", statuses.words(), same);
  return out;
}

// The targets of a task in the order of report_json().
std::vector<const TargetResult*> targets_of(const TaskResult& task) {
  std::vector<const TargetResult*> targets;
  for (const TargetResult& target : task.targets) targets.push_back(&target);
  for (const TargetResult& target : task.grouped_targets) targets.push_back(&target);
  return targets;
}

std::size_t rows_per_target(const Comparison& comparison) {
  std::size_t targets = 0;
  for (const TaskResult& task : comparison.tasks) targets += task.targets.size();
  const std::size_t answers = std::max<std::size_t>(1, targets * comparison.contestants.size());
  return std::clamp(kMostAnswers / answers, kFewestRows, kMostRows);
}

// What the page needs beside report_json(): rows of the tasks' own folds, and sentences.
std::string rows_json(const Comparison& comparison) {
  const std::size_t most = rows_per_target(comparison);
  std::string tables;
  JsonWriter words;
  words.object().field("mode", mode_words(comparison)).field("ranking", ranking_words(comparison));
  words.key("notes").array();
  for (std::size_t t = 0; t < comparison.tasks.size(); ++t) {
    const TaskResult& task = comparison.tasks[t];
    for (std::size_t i = 0; i < task.targets.size(); ++i)
      tables += (tables.empty() ? "{\"task\":" : ",{\"task\":") + std::to_string(t) +
                ",\"target\":" + std::to_string(i) + "," +
                table_json(task.targets[i], comparison.contestants.size(), most) + "}";
    words.object().field("leak", leak_words(task)).strings("jobs", job_notes(comparison, task));
    words.key("targets").array();
    for (const TargetResult* target : targets_of(task)) {
      words.array();
      for (const std::string& note : coverage_notes(comparison, *target)) words.value(note);
      words.end();
    }
    words.end().end();
  }
  return words.end().key("tables").raw("[" + tables + "]").end().text();
}

// Fills {{name}} places once, so that a filled text is never searched for places again.
std::string filled(const std::string& page, const std::map<std::string, std::string>& parts) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t open; (open = page.find("{{", at)) != std::string::npos;) {
    const std::size_t close = page.find("}}", open);
    out.append(page, at, open - at).append(parts.at(page.substr(open + 2, close - open - 2)));
    at = close + 2;
  }
  return out.append(page, at);
}

std::string page_title(const Comparison& comparison) {
  std::string names;
  for (const Contestant& contestant : comparison.contestants)
    if (!contestant.reference) names += (names.empty() ? "" : " vs ") + contestant.label;
  return names + " \u00b7 omen compare";
}

}  // namespace

std::string report_html(const Comparison& comparison) {
  std::string script = "(function () {\n'use strict';\n";
  for (const char* name : kScripts) script += page_source(name);
  return filled(page_source("page.html"), {{"title", escape_html(page_title(comparison))},
                                           {"style", page_source("page.css")},
                                           {"comparison", escape_script(report_json(comparison))},
                                           {"rows", escape_script(rows_json(comparison))},
                                           {"library", chart_library_or_nothing()},
                                           {"script", script + "})();"}});
}

}  // namespace omen::host
