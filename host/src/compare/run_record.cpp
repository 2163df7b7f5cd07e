// SPDX-License-Identifier: Apache-2.0
// Writes and reads run.json of comparisons.
#include "compare/run_record.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "omen/container.hpp"
#include "pipeline/models.hpp"
#include "text/json_writer.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr const char* kFile = "run.json";

void write_contestants(JsonWriter& out, const RunRecord& record) {
  out.key("contestants").array();
  for (const Contestant& c : record.contestants) {
    out.object().field("label", c.label).field("component", c.component);
    out.field("plugin", c.plugin).field("version", c.plugin_version);
    out.field("library_sha256", c.library_sha256);
    out.key("options").raw(c.options_json.empty() ? "{}" : c.options_json);
    out.field("options_hash", container::sha256(c.options_json.data(), c.options_json.size()));
    out.field("determinism", word_of(c.determinism)).field("reference", c.reference);
    out.field("model", c.model).field("seed", c.seed ? c.seed : record.seed).end();
  }
  out.end();
}

void write_tasks(JsonWriter& out, const RunRecord& record) {
  out.key("tasks").array();
  for (const RecordedTask& t : record.tasks) {
    out.object().field("name", t.name).field("hash", t.hash).field("file", t.file);
    out.field("dataset", t.dataset).field("dataset_digest", t.dataset_digest);
    out.field("split", t.split).field("workloads", t.workloads).field("groups", t.groups);
    out.field("folds", t.folds).field("leaking_rows", t.leaking_rows).end();
  }
  out.end();
}

void write_jobs(JsonWriter& out, const RunRecord& record) {
  out.key("jobs").array();
  for (const RecordedJob& job : record.jobs) {
    const JobRecord& r = job.record;
    out.object().field("contestant", r.contestant).field("task", r.task).field("fold", r.fold);
    out.field("key", job.key).field("outcome", word_of(r.outcome)).field("message", r.message);
    out.field("digest", r.digest).field("model_digest", r.model_digest).field("reused", r.reused);
    out.field("load_s", job.cost.load_s).field("fit_s", job.cost.fit_s);
    out.field("predict_p50_ms", job.cost.predict_p50_ms);
    out.field("predict_p95_ms", job.cost.predict_p95_ms);
    out.field("peak_memory", job.cost.peak_memory).end();
  }
  out.end();
  out.key("predictions").array();
  for (const RecordedTask& task : record.tasks)
    for (const Contestant& contestant : record.contestants) {
      out.object().field("contestant", contestant.label).field("task", task.name);
      out.field("digest", record.predictions_digest(contestant.label, task.name)).end();
    }
  out.end();
}

void write_results(JsonWriter& out, const RunRecord& record) {
  out.key("verdicts").array();
  for (const RecordedResult& r : record.results) {
    out.object().field("task", r.task).field("target", r.target);
    out.field("contestant", r.contestant).field("verdict", r.verdict).field("unit", r.unit);
    out.field("workloads", r.workloads).field("answered", r.answered);
    out.field("median_loss", r.median_loss).field("mean_loss", r.mean_loss);
    out.field("difference", r.difference).field("lo", r.lo).field("hi", r.hi);
    out.field("p_holm", r.p_holm).end();
  }
  out.end();
}

double number_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>()
                                               : std::numeric_limits<double>::quiet_NaN();
}

Contestant contestant_from(const json& c, std::uint64_t run_seed) {
  Contestant out;
  out.label = c.at("label");
  out.component = c.at("component");
  out.plugin = c.at("plugin");
  out.plugin_version = c.at("version");
  out.library_sha256 = c.at("library_sha256");
  out.options_json = c.at("options").dump();
  out.determinism =
      from_word<Determinism>(c.at("determinism").get<std::string>()).value_or(Determinism::kNone);
  out.reference = c.at("reference");
  out.model = c.at("model");
  const std::uint64_t seed = c.at("seed");
  out.seed = seed == run_seed ? 0 : seed;
  return out;
}

RecordedTask task_from(const json& t) {
  return {t.at("name"),  t.at("hash"),      t.at("file"),   t.at("dataset"), t.at("dataset_digest"),
          t.at("split"), t.at("workloads"), t.at("groups"), t.at("folds"),   t.at("leaking_rows")};
}

RecordedJob job_from(const json& j) {
  RecordedJob job;
  job.record = {j.at("contestant"),
                j.at("task"),
                j.at("fold"),
                from_word<Outcome>(j.at("outcome").get<std::string>()).value_or(Outcome::kFailed),
                j.at("message"),
                j.at("digest"),
                j.at("reused"),
                j.at("model_digest")};
  job.cost = {number_at(j, "load_s"), number_at(j, "fit_s"), number_at(j, "predict_p50_ms"),
              number_at(j, "predict_p95_ms"), j.at("peak_memory")};
  job.key = j.at("key");
  return job;
}

RecordedResult result_from(const json& r) {
  return {r.at("task"),
          r.at("target"),
          r.at("contestant"),
          r.at("verdict"),
          r.at("unit"),
          r.at("workloads"),
          r.at("answered"),
          number_at(r, "median_loss"),
          number_at(r, "mean_loss"),
          number_at(r, "difference"),
          number_at(r, "lo"),
          number_at(r, "hi"),
          number_at(r, "p_holm")};
}

RunRecord record_from(const json& document) {
  RunRecord record;
  record.verb = document.at("verb");
  record.time = document.at("time");
  record.command = document.at("command").get<std::vector<std::string>>();
  if (record.verb != "compare") return record;
  record.id = document.at("id");
  record.status =
      from_word<RunStatus>(document.at("status").get<std::string>()).value_or(RunStatus::kRunning);
  record.revision = document.at("revision");
  record.plan_digest = document.at("plan_digest");
  record.baseline = document.at("baseline");
  record.working_directory = document.at("working_directory");
  record.devices = document.at("devices");
  record.seed = document.at("seed");
  record.threads = document.at("threads");
  const json& settings = document.at("settings");
  record.jobs_at_once = settings.at("jobs_at_once");
  record.timeout_s = settings.at("timeout_s");
  record.memory_bytes = settings.at("memory_bytes");
  record.interval_level = settings.at("interval_level");
  if (settings.at("rope").is_number()) record.rope = settings.at("rope").get<double>();
  record.shuffled_labels = settings.at("shuffled_labels");
  record.self_check = settings.at("self_check");
  record.seconds = number_at(document, "seconds");
  for (const json& c : document.at("contestants"))
    record.contestants.push_back(contestant_from(c, record.seed));
  for (const json& t : document.at("tasks")) record.tasks.push_back(task_from(t));
  for (const json& j : document.at("jobs")) record.jobs.push_back(job_from(j));
  for (const json& r : document.at("verdicts")) record.results.push_back(result_from(r));
  record.warnings = document.at("warnings").get<std::vector<std::string>>();
  return record;
}

}  // namespace

std::string RunRecord::predictions_digest(const std::string& contestant,
                                          const std::string& task) const {
  std::string digests;
  for (const RecordedJob& job : jobs) {
    if (job.record.contestant != contestant || job.record.task != task) continue;
    if (job.record.digest.empty()) return {};
    digests += job.record.fold + "=" + job.record.digest + ";";
  }
  return digests.empty() ? "" : container::sha256(digests.data(), digests.size());
}

RunRecord start_record(const ComparePlan& plan, const std::vector<Job>& jobs) {
  RunRecord record;
  record.status = RunStatus::kRunning;
  record.revision = source_revision();
  record.plan_digest = plan_digest(jobs);
  record.devices = plan.run.devices;
  record.seed = plan.run.seed;
  record.threads = plan.run.threads;
  record.jobs_at_once = plan.jobs_at_once;
  record.timeout_s = plan.limits.timeout_s;
  record.memory_bytes = plan.limits.memory_bytes;
  record.interval_level = plan.run.interval_level;
  record.shuffled_labels = plan.shuffle_labels;
  record.working_directory = fs::current_path().string();
  for (const PlannedContestant& contestant : plan.contestants)
    record.contestants.push_back(contestant.facts);
  for (const PlannedTask& task : plan.tasks) {
    if (task.grouped_of) continue;
    record.tasks.push_back({task.task.name, task.task.hash,
                            fs::absolute(task.task.file).lexically_normal().string(),
                            task.task.dataset, task.task.dataset_digest,
                            word_of(task.task.split.kind), task.tables.at("workloads").rows(), 0,
                            static_cast<std::int64_t>(task.folds.size()), task.leaking_rows});
  }
  return record;
}

void finish_record(RunRecord& record, const Comparison& comparison, const std::vector<Job>& jobs,
                   const std::vector<JobResult>& results) {
  record.status = RunStatus::kFinished;
  record.baseline = comparison.contestants[comparison.baseline].label;
  record.self_check = comparison.self_check;
  record.seconds = comparison.seconds;
  record.warnings = comparison.warnings;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    record.jobs.push_back({results[i].record, results[i].cost, jobs[i].key});
  for (std::size_t t = 0; t < comparison.tasks.size(); ++t) {
    const TaskResult& task = comparison.tasks[t];
    record.tasks[t].workloads = task.workloads;
    record.tasks[t].groups = task.groups;
    for (const TargetResult& target : task.targets)
      for (std::size_t c = 0; c < target.contestants.size(); ++c) {
        const ContestantResult& one = target.contestants[c];
        const stats::PairedResult& pair = one.versus_baseline;
        record.results.push_back({task.task, target.target, comparison.contestants[c].label,
                                  stats::verdict_name(pair.verdict), target.loss_unit,
                                  one.coverage.workloads, one.coverage.answered, one.median_loss,
                                  one.mean_loss, pair.difference, pair.lo, pair.hi, pair.p_holm});
      }
  }
}

void write_fields(JsonWriter& out, const RunRecord& record) {
  out.field("id", record.id)
      .field("status", word_of(record.status))
      .field("revision", record.revision);
  out.field("plan_digest", record.plan_digest).field("baseline", record.baseline);
  out.field("working_directory", record.working_directory);
  out.key("settings").object();
  out.field("jobs_at_once", record.jobs_at_once).field("timeout_s", record.timeout_s);
  out.field("memory_bytes", record.memory_bytes).field("interval_level", record.interval_level);
  out.field("rope", record.rope.value_or(std::numeric_limits<double>::quiet_NaN()));
  out.field("shuffled_labels", record.shuffled_labels).field("self_check", record.self_check).end();
  write_contestants(out, record);
  write_tasks(out, record);
  write_jobs(out, record);
  write_results(out, record);
  out.strings("warnings", record.warnings).field("seconds", record.seconds);
}

RunRecord read_run_record(const fs::path& run) {
  const fs::path file = fs::is_directory(run) ? run / kFile : run;
  std::ifstream in(file);
  if (!in)
    throw Error(OMEN_NOT_FOUND, "there is no " + file.string(),
                "see the runs that are kept with: omen runs list");
  try {
    RunRecord record = record_from(json::parse(in));
    record.directory = file.parent_path().empty() ? "." : file.parent_path();
    return record;
  } catch (const json::exception& error) {
    throw Error(OMEN_INVALID_DATA, file.string() + " is no record of a run: " + error.what());
  }
}

fs::path find_run(const fs::path& runs, const std::string& text) {
  std::error_code ignored;
  if (fs::exists(fs::path(text) / kFile, ignored) || fs::is_regular_file(text, ignored))
    return text;
  std::vector<std::string> ids, begins;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs, ignored))
    if (fs::exists(entry.path() / kFile, ignored)) ids.push_back(entry.path().filename().string());
  std::sort(ids.begin(), ids.end());
  for (const std::string& id : ids) {
    if (id == text) return runs / id;
    if (id.starts_with(text)) begins.push_back(id);
  }
  if (begins.size() == 1) return runs / begins[0];
  const std::vector<std::string> near = begins.empty() ? near_names(text, ids) : begins;
  std::string known;
  for (const std::string& id : near) known += (known.empty() ? "" : ", ") + id;
  throw Error(OMEN_NOT_FOUND,
              "run '" + text + (begins.empty() ? "' is not in " : "' is not the only one in ") +
                  runs.string(),
              known.empty() ? "see the runs that are kept with: omen runs list"
                            : "did you mean " + known + "?");
}

std::vector<RunRecord> list_runs(const fs::path& runs) {
  std::vector<RunRecord> records;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs, ignored)) {
    if (!fs::exists(entry.path() / kFile, ignored)) continue;
    try {
      RunRecord record = read_run_record(entry.path());
      if (record.verb == "compare") records.push_back(std::move(record));
    } catch (const Error&) {
      continue;  // a file of that name that is not ours
    }
  }
  std::sort(records.begin(), records.end(), [](const RunRecord& a, const RunRecord& b) {
    return a.time != b.time ? a.time > b.time : a.id < b.id;
  });
  return records;
}

}  // namespace omen::host
