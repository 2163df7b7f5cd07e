// SPDX-License-Identifier: Apache-2.0
// JSON to a checked description; every complaint names its place.
#include "spec/ensemble_spec.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <omen/json/json_part.hpp>

#include "rate/closed_form.hpp"

namespace omen::ensemble {
namespace {

using nlohmann::json;

constexpr const char* kForm = "See \"The description\" in plugins/ensemble/README.md.";
constexpr std::int64_t kMostModels = 10000, kMostRates = 4096, kMostEdges = 1 << 20;
constexpr std::int64_t kMostCount = 1 << 20, kMostGroups = 16;
constexpr double kLargest = 1e15;
// MPI counts elements in 32 bits.
constexpr double kMostElements = 2147483647.0;

constexpr double kLeast = 1e-9;

void read_machine(const JsonPart& document, EnsembleSpec& spec) {
  const JsonPart machine =
      document.part("machine", {"nodes", "cores_per_node", "accelerators_per_node"});
  spec.nodes = machine.count("nodes", 1, 1, kMostCount);
  spec.cores_per_node = machine.count("cores_per_node", 1, 1, kMostCount);
  spec.accelerators_per_node = machine.count("accelerators_per_node", 1, 1, kMostCount);
}

void read_dataset(const JsonPart& document, EnsembleSpec& spec) {
  spec.images = kUsualImages;
  spec.sample_bytes = kUsualSampleBytes;
  if (!document.has("dataset")) return;
  const JsonPart dataset = document.part("dataset", {"images", "sample_bytes"});
  spec.images = dataset.number("images", 1, kLargest, spec.images);
  spec.sample_bytes = dataset.number("sample_bytes", 1, kLargest, spec.sample_bytes);
}

void read_models(const JsonPart& document, EnsembleSpec& spec) {
  const json& models = document.at("models");
  if (!models.is_array() || models.empty()) document.fail("models", "is not a list of models");
  for (std::size_t i = 0; i < models.size(); ++i) {
    const JsonPart model = document.part_at(models[i], "models[" + std::to_string(i) + "]",
                                            {"name", "images_per_s", "epochs", "count"});
    SpecModel one;
    one.name = model.has("name") ? model.text("name") : "model" + std::to_string(i + 1);
    one.rates = model.at("images_per_s").is_array()
                    ? model.numbers("images_per_s", kLeast, kLargest, kMostRates)
                    : std::vector<double>{model.number("images_per_s", kLeast, kLargest)};
    if (model.has("epochs")) one.epochs = model.number("epochs", kLeast, kLargest);
    const std::int64_t count = model.count("count", 1, 1, kMostCount);
    if (count > kMostModels - static_cast<std::int64_t>(spec.models.size()))
      document.fail("models", "holds more than " + std::to_string(kMostModels) + " models");
    const std::string name = one.name;
    for (std::int64_t copy = 0; copy < count; ++copy) {
      if (count > 1) one.name = name + "." + std::to_string(copy + 1);
      spec.models.push_back(one);
    }
  }
}

void check_payload(const JsonPart& design, const EnsembleSpec& spec) {
  // A round of a collective carries the batches that every rank asks for.
  const double elements = static_cast<double>(spec.batch) *
                          static_cast<double>(spec.queue_batches) * spec.sample_bytes / 4;
  if (is_coupled(spec.design) && elements > kMostElements)
    design.fail("batch", "times queue_batches makes a message of " +
                             std::to_string(static_cast<std::int64_t>(elements)) +
                             " values, and MPI counts to 2147483647");
}

void read_design(const JsonPart& document, EnsembleSpec& spec) {
  spec.coupled = is_coupled(spec.design);
  spec.preprocessors = spec.ranks();
  if (!document.has("design")) return;
  const JsonPart design = document.part(
      "design", {"pipeline", "preprocessors", "groups", "batch", "queue_batches", "pace"});
  if (design.has("pipeline")) {
    const auto named = parse_design(design.text("pipeline"));
    if (!named) design.fail("pipeline", "is none of " + join(design_names()));
    spec.design = named->design;
    if (named->preprocessors) spec.preprocessors = static_cast<std::int64_t>(*named->preprocessors);
  }
  const bool one_host = spec.design == Design::kSharedMemory;
  if (one_host) spec.preprocessors = std::min(spec.preprocessors, spec.cores_per_node);
  spec.preprocessors = design.count("preprocessors", spec.preprocessors, 1, kMostCount);
  if (spec.preprocessors > spec.ranks())
    design.fail("preprocessors", "is more than the " + std::to_string(spec.ranks()) + " ranks");
  if (one_host && spec.nodes > 1)
    design.fail("pipeline", "is shared-memory, which needs one node, and the machine has " +
                                std::to_string(spec.nodes));
  spec.groups = design.count("groups", 1, 1, kMostGroups);
  spec.batch = design.count("batch", spec.batch, 1, kMostCount);
  spec.queue_batches = design.count("queue_batches", spec.queue_batches, 1, kMostCount);
  const auto pace = design.has("pace") ? parse_pace(design.text("pace"))
                                       : std::optional<bool>(is_coupled(spec.design));
  if (!pace) design.fail("pace", "is neither coupled nor decoupled");
  spec.coupled = *pace;
  check_payload(design, spec);
  if (spec.design >= Design::kMultiBroadcast && spec.preprocessors * spec.ranks() > kMostEdges)
    design.fail("preprocessors",
                "times the ranks makes more than " + std::to_string(kMostEdges) + " streams");
}

void read_costs(const JsonPart& document, EnsembleSpec& spec) {
  if (!document.has("costs")) return;
  const JsonPart costs = document.part("costs", {"checkpoint_s", "restart_s"});
  spec.costs.checkpoint_s = costs.number("checkpoint_s", 0, kLargest, 0);
  spec.costs.restart_s = costs.number("restart_s", 0, kLargest, 0);
}

}  // namespace

std::int64_t EnsembleSpec::ranks() const {
  return std::min(static_cast<std::int64_t>(models.size()), accelerators());
}

bool EnsembleSpec::knows_epochs() const {
  for (const SpecModel& model : models)
    if (!model.epochs) return false;
  return true;
}

EnsembleSpec parse_spec(const std::string& text, const std::string& source) {
  const json parsed = parse_json(text, source);
  const JsonPart document(parsed, source, kForm,
                          {"ensemble", "dataset", "machine", "design", "models", "costs"});
  EnsembleSpec spec;
  spec.name = document.text("ensemble");
  read_machine(document, spec);
  read_dataset(document, spec);
  read_models(document, spec);
  read_design(document, spec);
  read_costs(document, spec);
  return spec;
}

EnsembleSpec read_spec(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_IO, "cannot open '" + path + "'", "Check the path.");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_spec(text, std::filesystem::path(path).filename().string());
}

std::vector<PlannedModel> planned_models(const EnsembleSpec& spec) {
  std::vector<PlannedModel> models;
  for (const SpecModel& model : spec.models)
    models.push_back({RateCurve(model.rates), spec.images * model.epochs.value_or(1)});
  return models;
}

}  // namespace omen::ensemble
