// SPDX-License-Identifier: Apache-2.0
// Finds, checks, loads and saves model files.
#include "pipeline/models.hpp"

#include <gnu/libc-version.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "components/withheld.hpp"
#include "omen/join.hpp"
#include "omen/reads.hpp"
#include "omen/utc_time.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr const char* kFormat = "model/1";

bool is_model_key(std::string_view column) {
  for (const char* key :
       {"workload_id", "candidate_id", "group", "name", "graph_id", "node_id", "src", "dst"})
    if (column == key) return true;
  return column.starts_with("graph_id.");
}

std::string type_text(const Table& table, std::size_t column) {
  std::string text = type_name(table.type(column));
  if (is_list(table.type(column))) text += "[" + std::to_string(table.list_size(column)) + "]";
  return text;
}

json parse_json(const std::string& text) {
  return json::parse(text, nullptr, false);
}

std::string text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::string library_versions(const Manifest& plugin) {
  json versions = {{"omen", OMEN_VERSION}, {"glibc", gnu_get_libc_version()}};
  for (const auto& [name, range] : plugin.requirements) versions[name] = range;
  return versions.dump();
}

json targets_json(const std::vector<TargetFacts>& targets) {
  json list = json::array();
  for (const TargetFacts& target : targets)
    list.push_back({{"name", target.name},
                    {"unit", target.unit},
                    {"direction", target.direction},
                    {"kind", target.kind}});
  return list;
}

// Numbers of any width serve where reals were trained on, and any text where text was.
bool serves(std::string_view wanted, std::string_view offered) {
  if (wanted == offered) return true;
  const auto is_text_type = [](std::string_view type) {
    return type == "utf8" || type == "dictionary";
  };
  const auto is_number_type = [](std::string_view type) {
    return type == "bool" || type.starts_with("int") || type.starts_with("uint") ||
           type.starts_with("float");
  };
  const bool is_list_type =
      wanted.find("list") != wanted.npos || offered.find("list") != offered.npos;
  if (is_list_type) return false;
  return (is_text_type(wanted) && is_text_type(offered)) ||
         (wanted == "float64" && is_number_type(offered));
}

// Columns of `wanted` that `offered` lacks or has with another type, which is said.
std::vector<std::string> missing_columns(const std::vector<std::string>& wanted,
                                         const std::vector<std::string>& offered) {
  std::vector<std::string> missing;
  for (const std::string& entry : wanted) {
    const std::size_t colon = entry.rfind(':');
    const auto found = std::find_if(offered.begin(), offered.end(), [&](const std::string& other) {
      return other.substr(0, other.rfind(':')) == entry.substr(0, colon);
    });
    if (found == offered.end()) {
      missing.push_back(entry);
      continue;
    }
    const std::string_view type = std::string_view(*found).substr(found->rfind(':') + 1);
    if (!serves(std::string_view(entry).substr(colon + 1), type))
      missing.push_back(entry + " (here " + std::string(type) + ")");
  }
  return missing;
}

std::string columns_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " column" : " columns");
}

void check_schema(const ModelCard& card, const ComponentRef& component, const Dataset& data) {
  if (!data || card.schema.empty()) return;
  const std::vector<std::string> offered = feature_schema(*component.info, data);
  const std::string hash = schema_hash(offered);
  if (hash == card.schema_hash) return;
  std::vector<std::string> missing = missing_columns(card.schema, offered);
  // A component that calls a column optional does without it, whatever it was trained on.
  std::erase_if(missing, [&](const std::string& entry) {
    return std::any_of(
        component.info->reads.begin(), component.info->reads.end(), [&](const std::string& text) {
          const ReadEntry read = parse_read(text);
          return read.optional && entry.starts_with(read.table + "." + read.column + ":");
        });
  });
  if (missing.empty()) return;  // further columns are legal
  // The long form of a flag is a column's whatever else has its name.
  const std::string first = missing[0].substr(0, missing[0].rfind(':'));
  const std::string as_flag =
      first.starts_with("workloads.") ? ", for one workload as --" + first + " VALUE" : "";
  throw Error(OMEN_INVALID_DATA,
              card.file + " was trained on feature schema " + card.schema_hash.substr(0, 4) + " (" +
                  columns_text(card.schema.size()) + ") but this data provides " +
                  hash.substr(0, 4) + " (" + columns_text(offered.size()) +
                  "); missing: " + join(missing),
              "Add the missing columns" + as_flag + ", or train on this data with: omen train " +
                  component.info->id);
}

void check_targets(const ModelCard& card, const std::vector<TargetFacts>& wanted) {
  for (const TargetFacts& want : wanted) {
    const auto have = std::find_if(card.targets.begin(), card.targets.end(),
                                   [&](const TargetFacts& t) { return t.name == want.name; });
    if (have == card.targets.end()) {
      std::vector<std::string> names;
      for (const TargetFacts& target : card.targets) names.push_back(target.name);
      throw Error(OMEN_INVALID_DATA,
                  card.file + " does not predict '" + want.name + "'; it predicts " + join(names),
                  "Train a model for that target.");
    }
    if (!want.unit.empty() && !have->unit.empty() && have->unit != want.unit)
      throw Error(OMEN_INVALID_DATA,
                  card.file + " predicts '" + want.name + "' in " + have->unit +
                      " but the task has it in " + want.unit,
                  "Convert the targets to " + have->unit + ", or train again.");
    if (have->kind != want.kind)
      throw Error(OMEN_INVALID_DATA,
                  card.file + " predicts '" + want.name + "' as a " + have->kind +
                      " but the task has a " + want.kind,
                  "Train a model on this task.");
  }
}

[[noreturn]] void throw_no_model_file(const fs::path& file) {
  std::vector<std::string> beside;
  std::error_code error;
  const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".omen") beside.push_back(at->path().stem().string());
  const auto near = near_names(file.stem().string(), beside);
  throw Error(
      OMEN_IO, "model file '" + file.string() + "' does not exist",
      near.empty()
          ? "check the path, or make it with: omen train COMPONENT --data DATA -o " + file.string()
          : "did you mean '" + (file.parent_path() / near[0]).string() + ".omen'?");
}

// A name with a slash or the suffix of models is meant as a file, also where there is none.
bool names_model_file(const fs::path& wanted) {
  return wanted.has_parent_path() || wanted.extension() == ".omen";
}

template <class Handle>
ModelCard load_into(Handle& handle, const ComponentRef& component, const Model& model,
                    const Dataset& data, const std::vector<TargetFacts>& wanted) {
  if (model.empty())
    throw Error(OMEN_INVALID_ARGUMENT, component.info->id + " is given no model",
                "Make one with: omen train " + component.info->id);
  const ModelCard& card = model.card();
  check_artifact(card, component, data, wanted);
  model.reader().verify_digest();
  try {
    handle.load(model.reader().source());
  } catch (const Error& e) {
    throw Error(
        e.code(), component.info->id + " cannot load " + card.file + ": " + e.what(),
        e.hint().empty() ? "train it again with: omen train " + component.info->id : e.hint(),
        e.details_json());
  }
  return card;
}

}  // namespace

fs::path resolve_model(const ComponentRef& component, const std::string& wanted) {
  const fs::path& directory = component.plugin->manifest.directory;
  const std::vector<ModelInfo>& models = component.info->models;
  const auto bundled = [&](const ModelInfo& model) {
    const fs::path relative = model.file;
    if (relative.is_absolute() ||
        std::find(relative.begin(), relative.end(), "..") != relative.end())
      throw Error(
          OMEN_INVALID_DATA,
          "model '" + model.name + "' of " + component.info->id + " lies outside its plugin",
          "Install the plugin again.");
    return directory / relative;
  };
  if (wanted.empty()) {
    const ModelInfo* model = component.info->default_model();
    if (!model && !models.empty()) model = &models.front();
    return model ? bundled(*model) : fs::path();
  }
  for (const ModelInfo& model : models)
    if (model.name == wanted) return bundled(model);
  std::error_code ignored;
  if (fs::is_regular_file(wanted, ignored)) return wanted;
  if (names_model_file(wanted)) throw_no_model_file(wanted);
  std::vector<std::string> names;
  for (const ModelInfo& model : models) names.push_back(model.name);
  const std::vector<std::string> near = near_names(wanted, names);
  throw Error(OMEN_NOT_FOUND,
              "model '" + wanted + "' is neither a file nor a model of " + component.info->id +
                  (names.empty() ? ", which has none" : ", which has " + join(names)),
              near.empty() ? "Make one with: omen train " + component.info->id
                           : "Did you mean '" + near[0] + "'?");
}

ModelCard read_model_card(const container::Reader& reader) {
  const auto meta = [&](const char* key) {
    const auto at = reader.metadata().find(key);
    return at == reader.metadata().end() ? std::string() : at->second;
  };
  if (meta("omen.format") != kFormat)
    throw Error(OMEN_INVALID_DATA,
                reader.name() +
                    (meta("omen.format").empty()
                         ? " is not a model of omen: it has no omen.format"
                         : " has format '" + meta("omen.format") + "'; this omen reads " + kFormat),
                "Models are written by: omen train");
  ModelCard card{reader.name(),
                 meta("omen.plugin"),
                 meta("omen.plugin_version"),
                 meta("omen.component"),
                 meta("omen.abi"),
                 meta("summary"),
                 meta("omen.options"),
                 meta("omen.task_hash"),
                 meta("omen.split"),
                 meta("omen.seed"),
                 meta("omen.losses"),
                 meta("omen.libraries"),
                 meta("omen.revision"),
                 meta("omen.time"),
                 meta("omen.digest"),
                 {},
                 meta("omen.schema_hash"),
                 {},
                 0};
  for (const json& entry : parse_json(meta("omen.schema")))
    if (entry.is_string()) card.schema.push_back(entry.get<std::string>());
  for (const json& entry : parse_json(meta("omen.targets")))
    if (entry.is_object())
      card.targets.push_back({text_of(entry, "name"), text_of(entry, "unit"),
                              text_of(entry, "direction"), text_of(entry, "kind")});
  card.observed_rows = std::atoll(meta("omen.observed_rows").c_str());
  return card;
}

ModelCard read_model_card(const fs::path& file) {
  return read_model_card(container::Reader::open(file));
}

Model::Model(const fs::path& file) {
  if (file.empty()) return;
  std::error_code error;
  if (!fs::exists(file, error)) throw_no_model_file(file);
  container::Reader reader = container::Reader::open(file);
  ModelCard card = read_model_card(reader);
  card.file = file.filename().string();
  opened_ = std::make_shared<const Opened>(Opened{file, std::move(reader), std::move(card)});
}

Model Models::open(const fs::path& file) {
  const auto known = opened_.find(file);
  return known != opened_.end() ? known->second : opened_.emplace(file, Model(file)).first->second;
}

std::vector<std::string> feature_schema(const ComponentInfo& component, const Dataset& data) {
  std::vector<std::string> schema;
  for (const std::string& text : component.reads) {
    const ReadEntry read = parse_read(text);
    if (is_withheld(read.table) || !data.has(read.table.c_str())) continue;
    const TableStream stream = data.stream(read.table.c_str());
    const Table& columns = stream.schema();
    for (std::size_t c = 0; c < columns.columns(); ++c) {
      const std::string name(columns.name(c));
      if (read.column == name || (read.any_column() && !is_model_key(name)))
        schema.push_back(read.table + "." + name + ":" + type_text(columns, c));
    }
  }
  std::sort(schema.begin(), schema.end());
  schema.erase(std::unique(schema.begin(), schema.end()), schema.end());
  return schema;
}

std::string schema_hash(const std::vector<std::string>& schema) {
  const std::string text = json(schema).dump(-1, ' ', false, json::error_handler_t::replace);
  return container::sha256(text.data(), text.size());
}

std::vector<TargetFacts> target_facts(const Table& targets) {
  std::vector<TargetFacts> facts;
  for (std::size_t c = 0; c < targets.columns(); ++c) {
    if (is_model_key(targets.name(c))) continue;
    const std::string direction = targets.metadata(c, "omen.direction");
    facts.push_back({std::string(targets.name(c)), targets.metadata(c, "omen.unit"),
                     direction.empty() ? "lower" : direction,
                     is_text(targets.type(c)) ? "class" : "number"});
  }
  return facts;
}

void check_artifact(const ModelCard& card, const ComponentRef& component, const Dataset& data,
                    const std::vector<TargetFacts>& wanted) {
  if (card.component != component.info->id)
    throw Error(
        OMEN_INVALID_DATA,
        card.file + (card.component.empty()
                         ? " does not say which component it is for"
                         : " is a model of " + card.component + ", not of " + component.info->id),
        card.component.empty() ? "Models are written by: omen train"
                               : "Use it with " + card.component + ", or give another model.");
  check_schema(card, component, data);
  check_targets(card, wanted);
}

ModelCard load_model(PredictorHandle& predictor, const ComponentRef& component, const Model& model,
                     const Dataset& data, const std::vector<TargetFacts>& wanted) {
  return load_into(predictor, component, model, data, wanted);
}

ModelCard load_model(ScorerHandle& scorer, const ComponentRef& component, const Model& model) {
  if (!scorer.loads())
    throw Error(OMEN_UNSUPPORTED, component.info->id + " has no weights to load",
                "Leave the model out.");
  return load_into(scorer, component, model, Dataset(nullptr), {});
}

TrainingFacts training_facts(const ModelCard& card) {
  return {card.options_json, card.task_hash,
          card.split,        std::strtoull(card.seed.c_str(), nullptr, 10),
          card.schema,       card.targets,
          card.losses_json,  card.summary,
          card.observed_rows};
}

const char* source_revision() noexcept {
  return OMEN_REVISION;
}

void save_model(PredictorHandle& predictor, const ComponentRef& component,
                const TrainingFacts& facts, const fs::path& file) {
  const Manifest& plugin = component.plugin->manifest;
  container::Writer writer;
  predictor.save(writer.sink());
  const std::pair<const char*, std::string> metadata[] = {
      {"omen.format", kFormat},
      {"omen.plugin", plugin.id},
      {"omen.plugin_version", plugin.version},
      {"omen.component", component.info->id},
      {"omen.abi", std::to_string(plugin.abi_major) + "." + std::to_string(plugin.abi_minor)},
      {"omen.options", facts.options_json},
      {"omen.task_hash", facts.task_hash},
      {"omen.split", facts.split},
      {"omen.seed", std::to_string(facts.seed)},
      {"omen.schema", json(facts.schema).dump()},
      {"omen.schema_hash", schema_hash(facts.schema)},
      {"omen.targets", targets_json(facts.targets).dump()},
      {"omen.losses", facts.losses_json},
      {"omen.libraries", library_versions(plugin)},
      {"omen.revision", source_revision()},
      {"omen.time", utc_now()}};
  for (const auto& [key, value] : metadata) writer.put_meta(key, value);
  if (facts.observed_rows > 0)
    writer.put_meta("omen.observed_rows", std::to_string(facts.observed_rows));
  if (!facts.summary.empty()) writer.put_meta("summary", facts.summary);
  writer.write(file);
}

}  // namespace omen::host
