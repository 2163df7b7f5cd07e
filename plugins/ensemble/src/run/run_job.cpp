// SPDX-License-Identifier: Apache-2.0
// job.json, and who trains what.
#include "run/run_job.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <omen/error.hpp>
#include <omen/pending_file.hpp>

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kJobVersion = 1;

json model_json(const ModelChoice& model) {
  return {{"name", model.name},
          {"source", model.source},
          {"learning_rate", model.learning_rate},
          {"seed", model.seed},
          {"optimiser", optimiser_name(model.optimiser)},
          {"ranks", model.ranks}};
}

ModelChoice model_from(const json& from) {
  ModelChoice model;
  from.at("name").get_to(model.name);
  from.at("source").get_to(model.source);
  from.at("learning_rate").get_to(model.learning_rate);
  from.at("seed").get_to(model.seed);
  model.optimiser = parse_optimiser(from.at("optimiser").get<std::string>()).value();
  from.at("ranks").get_to(model.ranks);
  return model;
}

json preprocessing_json(const PreprocessingOptions& options) {
  return {{"recipe", recipe_name(options.recipe)},
          {"seed", options.seed},
          {"scaled_decode", options.scaled_decode},
          {"stop_at_damage", options.damaged == Damaged::kStop},
          {"threads", options.threads},
          {"queue", options.queue}};
}

PreprocessingOptions preprocessing_from(const json& from) {
  PreprocessingOptions options;
  options.recipe = parse_recipe(from.at("recipe").get<std::string>()).value();
  from.at("seed").get_to(options.seed);
  from.at("scaled_decode").get_to(options.scaled_decode);
  options.damaged = from.at("stop_at_damage").get<bool>() ? Damaged::kStop : Damaged::kBlank;
  from.at("threads").get_to(options.threads);
  from.at("queue").get_to(options.queue);
  return options;
}

// One list of plain members for both directions.
template <class Job, class Visit>
void visit_members(Job& job, const Visit& visit) {
  visit("data", job.data);
  visit("coupled", job.coupled);
  visit("ranks", job.ranks);
  visit("preprocessors", job.preprocessors);
  visit("epochs", job.epochs);
  visit("batch", job.batch);
  visit("block", job.block);
  visit("queue", job.queue);
  visit("channels", job.channels);
  visit("side", job.side);
  visit("valid_share", job.valid_share);
  visit("patience", job.patience);
  visit("checkpoint_steps", job.checkpoint_steps);
  visit("weight_decay", job.weight_decay);
  visit("devices", job.devices);
  visit("sink", job.sink);
  visit("train_rate", job.train_rate);
  visit("state", job.state);
  visit("ring", job.ring);
  visit("parent", job.parent);
  visit("host", job.host);
}

}  // namespace

void write_job(const fs::path& directory, const RunJob& job) {
  json out{{"format_version", kJobVersion}, {"design", design_name(job.design)}};
  visit_members(job, [&out](const char* key, const auto& value) { out[key] = value; });
  out["preprocessing"] = preprocessing_json(job.preprocessing);
  for (const ModelChoice& model : job.models) out["models"].push_back(model_json(model));
  replace_file(directory / "job.json", out.dump(2) + "\n");
}

RunJob read_job(const fs::path& directory) {
  const fs::path path = directory / "job.json";
  std::ifstream in(path);
  if (!in)
    throw Error(OMEN_NOT_FOUND, "there is no '" + path.string() + "'",
                "omen ensemble run writes it and starts the ranks; use that.");
  try {
    const json from = json::parse(in);
    if (from.at("format_version") != kJobVersion)
      throw Error(OMEN_INVALID_DATA, "'" + path.string() + "' is of another version of omen");
    RunJob job;
    job.design = parse_design(from.at("design").get<std::string>()).value().design;
    visit_members(job, [&from](const char* key, auto& value) { from.at(key).get_to(value); });
    job.preprocessing = preprocessing_from(from.at("preprocessing"));
    for (const json& model : from.at("models")) job.models.push_back(model_from(model));
    return job;
  } catch (const std::exception& error) {
    throw Error(OMEN_INVALID_DATA, "'" + path.string() + "' is damaged: " + error.what(),
                "Start the run again.");
  }
}

std::int64_t rank_of(const RunJob& job, std::size_t model, std::int64_t member) {
  std::int64_t place = member;
  for (std::size_t i = 0; i < model; ++i) place += job.models[i].ranks;
  return place % job.ranks;
}

std::int64_t places_of(const std::vector<ModelChoice>& models) {
  std::int64_t places = 0;
  for (const ModelChoice& model : models) places += model.ranks;
  return places;
}

std::string model_fingerprint(const RunJob& job, const ModelChoice& model) {
  json what = preprocessing_json(job.preprocessing);
  for (const char* speed_only : {"threads", "queue"}) what.erase(speed_only);
  what["model"] = model_json(model);
  what["run"] = {job.data,   job.batch,       job.channels,     job.side,
                 job.epochs, job.valid_share, job.weight_decay, job.patience};
  return what.dump();
}

fs::path checkpoint_file(const RunJob& job, const ModelChoice& model) {
  return fs::path(job.state) / (model.name + ".checkpoint");
}
fs::path weights_file(const RunJob& job, const ModelChoice& model) {
  return fs::path(job.state) / (model.name + ".safetensors");
}
fs::path predictions_file(const RunJob& job, const ModelChoice& model) {
  return fs::path(job.state) / (model.name + ".predictions");
}
fs::path labels_file(const RunJob& job) {
  return fs::path(job.state) / "labels.predictions";
}

}  // namespace omen::ensemble
