// SPDX-License-Identifier: Apache-2.0
// Compares two records field by field; results only where the question was the same.
#include "compare/run_diff.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace omen::host {
namespace {

using nlohmann::json;

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "yes" : "no";
  else if constexpr (std::is_convertible_v<T, std::string>)
    return value;
  else
    return std::to_string(value);
}

void differ(std::vector<Difference>& out, const std::string& what, const std::string& a,
            const std::string& b) {
  if (a != b) out.push_back({what, a, b});
}

void diff_options(std::vector<Difference>& out, const Contestant& a, const Contestant& b) {
  const json x = json::parse(a.options_json, nullptr, false),
             y = json::parse(b.options_json, nullptr, false);
  if (!x.is_object() || !y.is_object()) return;
  std::set<std::string> keys;
  for (const json* options : {&x, &y})
    for (const auto& [key, value] : options->items()) keys.insert(key);
  const auto text = [](const json& options, const std::string& key) {
    const auto at = options.find(key);
    if (at == options.end()) return std::string();
    return at->is_string() ? at->get<std::string>() : at->dump();
  };
  for (const std::string& key : keys) differ(out, a.label + ": " + key, text(x, key), text(y, key));
}

const Contestant* find(const RunRecord& run, const std::string& label) {
  const auto at = std::find_if(run.contestants.begin(), run.contestants.end(),
                               [&](const Contestant& c) { return c.label == label; });
  return at == run.contestants.end() ? nullptr : &*at;
}

void diff_contestants(RunDiff& out, const RunRecord& a, const RunRecord& b) {
  for (const Contestant& one : a.contestants) {
    const Contestant* other = find(b, one.label);
    if (!other) {
      out.only_a.push_back(one.label);
      continue;
    }
    differ(out.settings, one.label + ": component", one.component, other->component);
    differ(out.settings, one.label + ": version", one.plugin_version, other->plugin_version);
    differ(out.settings, one.label + ": library", one.library_sha256, other->library_sha256);
    differ(out.settings, one.label + ": model", one.model, other->model);
    diff_options(out.settings, one, *other);
  }
  for (const Contestant& one : b.contestants)
    if (!find(a, one.label)) out.only_b.push_back(one.label);
}

void diff_settings(RunDiff& out, const RunRecord& a, const RunRecord& b) {
  const auto field = [&](const char* name, const auto& x, const auto& y) {
    differ(out.settings, name, text_of(x), text_of(y));
  };
  field("seed", a.seed, b.seed);
  field("threads", a.threads, b.threads);
  field("devices", a.devices, b.devices);
  field("baseline", a.baseline, b.baseline);
  field("shuffled labels", a.shuffled_labels, b.shuffled_labels);
  field("timeout in s", a.timeout_s, b.timeout_s);
  field("memory in bytes", a.memory_bytes, b.memory_bytes);
  field("practical equivalence", a.rope ? text_of(*a.rope) : "of the task",
        b.rope ? text_of(*b.rope) : "of the task");
  field("revision of omen", a.revision, b.revision);
}

// Names of tasks that asked the same question in both.
std::set<std::string> diff_tasks(RunDiff& out, const RunRecord& a, const RunRecord& b) {
  std::set<std::string> common;
  for (const RecordedTask& one : a.tasks) {
    const auto other = std::find_if(b.tasks.begin(), b.tasks.end(),
                                    [&](const RecordedTask& t) { return t.name == one.name; });
    const std::string hash = other == b.tasks.end() ? "" : other->hash;
    if (one.hash == hash)
      common.insert(one.name);
    else
      out.tasks.push_back({"task " + one.name, one.hash, hash});
  }
  for (const RecordedTask& one : b.tasks)
    if (std::none_of(a.tasks.begin(), a.tasks.end(),
                     [&](const RecordedTask& t) { return t.name == one.name; }))
      out.tasks.push_back({"task " + one.name, "", one.hash});
  return common;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<Tables> kept_tables(const RunRecord& run, const std::string& key) {
  Job job;
  job.key = key;
  const std::optional<JobResult> result = ResultStore(run.directory / "jobs").find(job);
  if (!result) return std::nullopt;
  return job_tables(*result);
}

double column_difference(const Table& a, const Table& b, std::size_t column) {
  if (!is_number(a.type(column)))
    return column_texts(a, column) == column_texts(b, column) ? 0 : kInfinity;
  const std::vector<double> x = a.numbers(column), y = b.numbers(column);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    const double size = std::max(std::abs(x[i]), std::abs(y[i]));
    const double difference = x[i] == y[i] ? 0 : std::abs(x[i] - y[i]) / size;
    largest = std::isfinite(difference) ? std::max(largest, difference) : kInfinity;
  }
  return largest;
}

double table_difference(const Table& a, const Table& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns()) return kInfinity;
  double largest = 0;
  for (std::size_t c = 0; c < a.columns(); ++c) {
    if (a.name(c) != b.name(c) || a.type(c) != b.type(c)) return kInfinity;
    if (!is_list(a.type(c))) largest = std::max(largest, column_difference(a, b, c));
  }
  return largest;
}

}  // namespace

double largest_difference(const RunRecord& a, const RunRecord& b, const std::string& contestant,
                          const std::string& task) {
  double largest = 0;
  std::size_t folds = 0;
  for (const RecordedJob& one : a.jobs) {
    if (one.record.contestant != contestant || one.record.task != task) continue;
    const auto other = std::find_if(b.jobs.begin(), b.jobs.end(), [&](const RecordedJob& job) {
      return job.record.contestant == contestant && job.record.task == task &&
             job.record.fold == one.record.fold;
    });
    if (other == b.jobs.end()) return kInfinity;
    const std::optional<Tables> x = kept_tables(a, one.key), y = kept_tables(b, other->key);
    if (!x || !y) return kInfinity;
    for (const char* name : {"predictions", "node_predictions"}) {
      if (x->count(name) != y->count(name)) return kInfinity;
      if (x->count(name)) largest = std::max(largest, table_difference(x->at(name), y->at(name)));
    }
    ++folds;
  }
  return folds == 0 ? kInfinity : largest;
}

RunDiff diff_runs(const RunRecord& a, const RunRecord& b) {
  RunDiff out;
  diff_settings(out, a, b);
  diff_contestants(out, a, b);
  const std::set<std::string> common = diff_tasks(out, a, b);
  if (common.empty()) {
    std::string text;
    for (const Difference& task : out.tasks)
      text += "\n" + task.what + ": " +
              (task.a.empty() ? "not in A" : "A " + task.a.substr(0, 12)) + ", " +
              (task.b.empty() ? "not in B" : "B " + task.b.substr(0, 12));
    throw Error(OMEN_INVALID_DATA,
                "runs " + a.id + " and " + b.id +
                    " have no task of the same hash, so their results "
                    "cannot be compared" +
                    text,
                "repeat one of them on the tasks of the other");
  }
  for (const RecordedResult& one : a.results) {
    if (!common.count(one.task)) continue;
    const auto other =
        std::find_if(b.results.begin(), b.results.end(), [&](const RecordedResult& r) {
          return r.task == one.task && r.target == one.target && r.contestant == one.contestant;
        });
    if (other == b.results.end()) continue;
    const std::string digest = a.predictions_digest(one.contestant, one.task);
    out.results.push_back(
        {one, *other, !digest.empty() && digest == b.predictions_digest(one.contestant, one.task)});
  }
  return out;
}

}  // namespace omen::host
