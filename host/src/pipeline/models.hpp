// SPDX-License-Identifier: Apache-2.0
// Model files: where one is found, whether it fits, how it is loaded, and what is written beside
// its tensors.
#ifndef OMEN_HOST_MODELS_HPP
#define OMEN_HOST_MODELS_HPP

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/registry.hpp"
#include "omen/container.hpp"
#include "omen/dataset.hpp"

namespace omen::host {

struct TargetFacts {
  std::string name, unit, direction;
  std::string kind;  // "number" or "class"
};

// What a model says of itself; every field may be empty in a file from elsewhere.
struct ModelCard {
  std::string file;
  std::string plugin, plugin_version, component, abi, summary;
  std::string options_json, task_hash, split, seed, losses_json, libraries_json, revision, time,
      digest;
  std::vector<std::string> schema;  // "table.column:type", sorted
  std::string schema_hash;
  std::vector<TargetFacts> targets;
  std::int64_t observed_rows = 0;  // measured rows that corrected it after its training
};

// A file, the name of one of the component's models, or, for an empty text, its default. Empty
// where the text is empty and the component has no models; OMEN_NOT_FOUND with the names there are
// where nothing fits.
std::filesystem::path resolve_model(const ComponentRef& component, const std::string& wanted);

// OMEN_INVALID_DATA where the file is no model of this format.
ModelCard read_model_card(const container::Reader& reader);
ModelCard read_model_card(const std::filesystem::path& file);

// A model file that was opened once: what it says of itself, and its tensors while a copy is
// around.
class Model {
 public:
  Model() = default;                         // none
  Model(const std::filesystem::path& file);  // an empty path: none; otherwise as read_model_card

  bool empty() const noexcept { return !opened_; }
  const std::filesystem::path& file() const { return opened_->file; }
  const ModelCard& card() const { return opened_->card; }
  const container::Reader& reader() const { return opened_->reader; }

 private:
  struct Opened {
    std::filesystem::path file;
    container::Reader reader;
    ModelCard card;
  };
  std::shared_ptr<const Opened> opened_;
};

// Models of one run, each opened when it is first asked for.
class Models {
 public:
  Model open(const std::filesystem::path& file);

 private:
  std::map<std::filesystem::path, Model> opened_;
};

// The columns that a component reads out of a dataset, keys and targets left out: what a model is
// trained on.
std::vector<std::string> feature_schema(const ComponentInfo& component, const Dataset& data);
std::string schema_hash(const std::vector<std::string>& schema);
// Names, units and directions of a `targets` table.
std::vector<TargetFacts> target_facts(const Table& targets);

// Refuses, with what to do instead, a model of another component or plugin family, one that misses
// a column in `data`, and one whose unit or kind of a wanted target differs. `data` may be absent,
// `wanted` empty.
void check_artifact(const ModelCard& card, const ComponentRef& component, const Dataset& data,
                    const std::vector<TargetFacts>& wanted = {});

// Verifies the digest, checks the artifact and restores it.
ModelCard load_model(PredictorHandle& predictor, const ComponentRef& component, const Model& model,
                     const Dataset& data = Dataset(nullptr),
                     const std::vector<TargetFacts>& wanted = {});
ModelCard load_model(ScorerHandle& scorer, const ComponentRef& component, const Model& model);

// The revision of the source that this program was configured from.
const char* source_revision() noexcept;

// What the host knows of a training run.
struct TrainingFacts {
  std::string options_json = "{}";  // canonical
  std::string task_hash, split;     // empty where there is no task
  std::uint64_t seed = 0;
  std::vector<std::string> schema;
  std::vector<TargetFacts> targets;
  std::string losses_json = "{}";
  std::string summary;  // empty: what the component wrote
  std::int64_t observed_rows = 0;
};
// Those that a model keeps of its training.
TrainingFacts training_facts(const ModelCard& card);

// Lets the predictor save itself and adds every metadata key; replaces `file` atomically.
void save_model(PredictorHandle& predictor, const ComponentRef& component,
                const TrainingFacts& facts, const std::filesystem::path& file);

}  // namespace omen::host

#endif  // OMEN_HOST_MODELS_HPP
