// SPDX-License-Identifier: Apache-2.0
// Collects what ranks left behind.
#include "run/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <omen/pending_file.hpp>

#include "run/event_file.hpp"
#include "run/machine_log.hpp"
#include "run/model_outcome.hpp"
#include "run/rank_files.hpp"
#include "run/rate_row.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

double last_or_nan(const std::vector<double>& values) {
  return values.empty() ? std::nan("") : values.back();
}

std::int64_t rows_of(const fs::path& path) {
  std::ifstream in(path);
  std::int64_t lines = -1;
  for (std::string line; std::getline(in, line);) ++lines;
  return std::max<std::int64_t>(0, lines);
}

json rank_facts(const RunJob& job, const fs::path& directory) {
  json facts = json::array();
  for (std::int64_t rank = 0; rank < job.ranks; ++rank)
    if (const auto one = read_summary(directory, rank))
      facts.push_back({{"rank", rank},
                       {"startup_s", one->startup_s},
                       {"startup_cpu_s", one->startup_cpu_s},
                       {"run_s", one->run_s},
                       {"run_cpu_s", one->run_cpu_s},
                       {"max_rss_bytes", one->max_rss_bytes}});
  return facts;
}

json run_facts(const RunJob& job, const RunTotals& totals) {
  json facts{{"format_version", 1},
             {"design", design_name(job.design)},
             {"pace", pace_name(job.coupled)},
             {"ranks", job.ranks},
             {"preprocessors", job.preprocessors},
             {"workers", job.preprocessing.threads},
             {"batch", job.batch},
             {"block", job.block},
             {"queue", job.queue},
             {"epochs", job.epochs},
             {"data", job.data},
             {"recipe", recipe_name(job.preprocessing.recipe)},
             {"scaled_decode", job.preprocessing.scaled_decode},
             {"seed", job.preprocessing.seed},
             {"sample_bytes", job.channels * job.side * job.side * 4 + 4},
             {"host", job.host},
             {"devices", job.devices},
             {"began_unix_s", totals.began},
             {"ended_unix_s", totals.ended},
             {"run_s", totals.run_s},
             {"cpu_s", totals.cpu_s},
             {"startup_cpu_s", totals.startup_cpu_s},
             {"samples", totals.samples},
             {"checkpoints", totals.checkpoints},
             {"failed_checkpoints", totals.failed_checkpoints},
             {"damaged_samples", totals.damaged}};
  for (const ModelChoice& model : job.models) {
    const auto outcome = read_outcome(job, model);
    json one{{"name", model.name},
             {"source", model.source},
             {"learning_rate", model.learning_rate},
             {"seed", model.seed},
             {"optimiser", optimiser_name(model.optimiser)},
             {"ranks", model.ranks}};
    if (outcome) {
      one["state"] = outcome->state;
      one["steps"] = outcome->steps;
      one["loss"] = last_or_nan(outcome->losses);
      one["accuracy"] = last_or_nan(outcome->accuracy);
    }
    facts["models"].push_back(one);
  }
  if (const auto vote = vote_accuracy(job)) facts["vote_accuracy"] = *vote;
  return facts;
}

}  // namespace

RunTotals totals_of(const RunJob& job, const fs::path& directory) {
  RunTotals totals;
  for (std::int64_t rank = 0; rank < job.ranks; ++rank) {
    const auto summary = read_summary(directory, rank);
    if (!summary) continue;
    totals.run_s = std::max(totals.run_s, summary->run_s);
    totals.cpu_s += summary->run_cpu_s;
    totals.startup_cpu_s += summary->startup_cpu_s;
    totals.samples += summary->samples;
    totals.checkpoints += summary->checkpoints;
    totals.failed_checkpoints += summary->failed_checkpoints;
    totals.host_ranks = std::max(totals.host_ranks, summary->host_ranks);
    totals.damaged += rows_of(directory / ("damaged-" + std::to_string(rank) + ".csv"));
  }
  return totals;
}

void put_tables(const RunJob& job, const RunTotals& totals, const TablesOut& out) {
  std::vector<std::string> name, state;
  std::vector<std::int64_t> steps;
  std::vector<double> loss, accuracy;
  for (const ModelChoice& model : job.models) {
    const auto outcome = read_outcome(job, model);
    if (!outcome) continue;
    name.push_back(model.name);
    state.push_back(outcome->state);
    steps.push_back(outcome->steps);
    loss.push_back(last_or_nan(outcome->losses));
    accuracy.push_back(last_or_nan(outcome->accuracy));
  }
  if (const auto vote = vote_accuracy(job); vote && name.size() > 1) {
    name.emplace_back("vote");
    state.emplace_back("");
    steps.push_back(0);
    loss.push_back(std::nan(""));
    accuracy.push_back(*vote);
  }
  if (!name.empty())
    out.put("models", TableBuilder()
                          .add_strings("model", name)
                          .add_strings("state", state)
                          .add("steps", steps)
                          .add("loss", loss)
                          .add("accuracy", accuracy)
                          .finish());
  const auto samples = static_cast<double>(std::max<std::int64_t>(1, totals.samples));
  out.put("run", TableBuilder()
                     .add_strings("design", {design_name(job.design)})
                     .add("ranks", std::vector<std::int64_t>{job.ranks})
                     .add("run_s", std::vector<double>{totals.run_s})
                     .add("cpu_s", std::vector<double>{totals.cpu_s})
                     .add("cpu_ms_per_image", std::vector<double>{1000 * totals.cpu_s / samples})
                     .add("damaged", std::vector<std::int64_t>{totals.damaged})
                     .finish());
}

void write_output(const RunJob& job, const RunTotals& totals, const fs::path& directory,
                  const fs::path& output) {
  fs::create_directories(output / "weights");
  fs::create_directories(output / "checkpoints");
  fs::create_directories(output / "events");
  fs::create_directories(output / "logs");
  json facts = run_facts(job, totals);
  facts["rank_use"] = rank_facts(job, directory);
  replace_file(output / "run.json", facts.dump(2) + "\n");
  if (const auto row = rate_row(job, totals, directory)) replace_file(output / "rate.csv", *row);
  for (const char* stem : {"steps", "stages", "queues", "damaged"})
    join_rank_files(directory, stem, job.ranks, output / (std::string(stem) + ".csv"));
  write_machine_trace(directory, output / "machine.omt");
  const auto copy = [](const fs::path& from, const fs::path& to) {
    std::error_code absent;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, absent);
  };
  copy(directory / "launcher.log", output / "logs" / "launcher.log");
  for (std::int64_t rank = 0; rank < job.ranks; ++rank) {
    const std::string log = "rank-" + std::to_string(rank) + ".log";
    copy(directory / log, output / "logs" / log);
  }
  for (const ModelChoice& model : job.models) {
    copy(weights_file(job, model), output / "weights" / (model.name + ".safetensors"));
    // With the state of the optimiser, for who trains on.
    copy(checkpoint_file(job, model), output / "checkpoints" / (model.name + ".checkpoint"));
    const auto outcome = read_outcome(job, model);
    if (!outcome) continue;
    fs::create_directories(output / "events" / model.name);
    write_event_file(output / "events" / model.name / "events.out.tfevents.omen",
                     {{"loss", outcome->losses}, {"accuracy", outcome->accuracy}}, totals.ended);
  }
}

void put_curves(const RunJob& job, const Run& run) {
  for (const ModelChoice& model : job.models) {
    const auto outcome = read_outcome(job, model);
    if (!outcome) continue;
    const std::string loss = "loss/" + model.name, accuracy = "accuracy/" + model.name;
    for (std::size_t i = 0; i < outcome->losses.size(); ++i)
      run.metric(loss.c_str(), static_cast<std::int64_t>(i), outcome->losses[i]);
    for (std::size_t i = 0; i < outcome->accuracy.size(); ++i)
      run.metric(accuracy.c_str(), static_cast<std::int64_t>(i), outcome->accuracy[i]);
  }
}

}  // namespace omen::ensemble
