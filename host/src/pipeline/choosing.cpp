// SPDX-License-Identifier: Apache-2.0
// Chooses a predictor and its model; every choice has a reason that a person can read.
#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "omen/join.hpp"
#include "omen/reads.hpp"
#include "omen/scaled_number.hpp"
#include "tables/column_types.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

// How well a predictor fits: 0 not at all, 1 through wildcards, 2 by name.
int fitness(const ComponentInfo& component, const Tables& tables, const std::string& dialect) {
  const bool has_graph = tables.count("nodes") > 0;
  bool by_name = false, reads_nodes = false;
  for (const std::string& text : component.reads) {
    const ReadEntry read = parse_read(text);
    if (read.table == "nodes") {
      reads_nodes = true;
      if (has_graph && !read.dialect.empty() && read.dialect != dialect) return 0;
      by_name |= has_graph && !read.dialect.empty();
    }
    if (read.table == "candidates" || read.table == "predictions") continue;
    const auto table = tables.find(read.table);
    if (table == tables.end()) {
      if (!read.optional && read.column != "*") return 0;
      continue;
    }
    if (read.any_column()) continue;
    if (table->second.has(read.column))
      by_name |= !has_graph;
    else if (!read.optional)
      return 0;
  }
  if (has_graph && !reads_nodes) return 0;
  return by_name ? 2 : 1;
}

bool has_columns(const Tables& tables, const std::vector<std::string>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&](const std::string& name) {
    const std::size_t dot = name.find('.');
    const auto table = tables.find(name.substr(0, dot));
    return table != tables.end() && table->second.has(name.substr(dot + 1));
  });
}

// Columns that a model was trained on and that its component does not call optional.
std::vector<std::string> needed_columns(const ComponentInfo& component, const Model& model) {
  std::vector<std::string> columns = model_columns(model.card());
  for (const std::string& text : component.reads) {
    const ReadEntry read = parse_read(text);
    if (read.optional && !read.column.empty()) std::erase(columns, read.table + "." + read.column);
  }
  return columns;
}

struct Candidate {
  Choice choice;
  int fitness;
  bool is_default_model;
};

// Every predictor with a bundled model whose inputs are all there.
std::vector<Candidate> candidates_for(const Registry& registry, Models& models,
                                      const Tables& tables, const std::string& dialect) {
  std::vector<Candidate> found;
  for (const ComponentRef& ref : registry.components(OMEN_PREDICTOR)) {
    const int fit = fitness(*ref.info, tables, dialect);
    if (fit == 0) continue;
    for (const ModelInfo& info : ref.info->models) {
      const Model model = models.open(ref.plugin->manifest.directory / info.file);
      if (has_columns(tables, needed_columns(*ref.info, model)))
        found.push_back({{ref, model}, fit, info.is_default});
    }
  }
  return found;
}

[[noreturn]] void throw_no_predictor(const Registry& registry, const Tables& tables,
                                     const std::string& dialect) {
  std::vector<std::string> columns, known;
  if (const auto at = tables.find("workloads"); at != tables.end())
    for (std::size_t c = 0; c < at->second.columns(); ++c)
      if (at->second.name(c) != "workload_id" && at->second.name(c) != "group")
        columns.emplace_back(at->second.name(c));
  for (const ComponentRef& ref : registry.components(OMEN_PREDICTOR)) known.push_back(ref.info->id);
  const std::string what =
      dialect.empty() ? "columns " + join(columns) : "graphs of dialect " + dialect;
  throw Error(OMEN_NOT_FOUND,
              "no predictor has a bundled model for " + what +
                  (known.empty() ? "\nno predictor is installed" : "\npredictors: " + join(known)),
              known.empty() ? "see where plugins are looked for with: omen doctor"
                            : "train one with: omen train " + known[0] +
                                  " --data FILE --target NAME -o mine.omen, then add -m mine.omen");
}

// "power" of "power.sim": plugins of one track share it.
std::string family_of(const Candidate& candidate) {
  const std::string& id = candidate.choice.predictor.info->id;
  return id.substr(0, id.find('.'));
}

// Several may fit: by name before wildcards, default models before others, and within a family its
// default component.
Choice pick(const Registry& registry, std::vector<Candidate> found, const Tables& tables,
            const std::string& dialect) {
  if (found.empty()) throw_no_predictor(registry, tables, dialect);
  const auto keep = [&found](auto&& score) {
    int best = 0;
    for (const Candidate& c : found) best = std::max(best, score(c));
    std::erase_if(found, [&](const Candidate& c) { return score(c) < best; });
  };
  keep([](const Candidate& c) { return c.fitness; });
  keep([](const Candidate& c) { return c.is_default_model ? 1 : 0; });
  const bool one_family = std::all_of(found.begin(), found.end(), [&](const Candidate& c) {
    return family_of(c) == family_of(found[0]);
  });
  if (one_family)
    keep([](const Candidate& c) {
      return c.choice.predictor.info->caps & OMEN_CAP_DEFAULT ? 1 : 0;
    });
  const std::string id = found[0].choice.predictor.info->id;
  const bool one_component = std::all_of(found.begin(), found.end(), [&](const Candidate& c) {
    return c.choice.predictor.info->id == id;
  });
  if (one_component) return found[0].choice;
  std::vector<std::string> ids;
  for (const Candidate& c : found) ids.push_back(c.choice.predictor.info->id);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  throw Error(OMEN_INVALID_ARGUMENT, "several predictors fit this input: " + join(ids),
              "choose one with --with " + ids[0]);
}

// Whether a model was trained on this column of `workloads` as something else than a number.
bool is_text_column(const std::vector<std::string>& schema, const std::string& name) {
  const std::string column = "workloads." + name + ":";
  return std::any_of(schema.begin(), schema.end(), [&](const std::string& entry) {
    if (!entry.starts_with(column)) return false;
    const std::optional<Type> type = scalar_type(std::string_view(entry).substr(column.size()));
    return !type || !is_number(*type);
  });
}

// A model file knows which component made it, but not whether that is installed here.
ComponentRef predictor_of(const Registry& registry, const Model& model) {
  try {
    return registry.component(OMEN_PREDICTOR, model.card().component);
  } catch (const Error& e) {
    if (e.code() != OMEN_NOT_FOUND) throw;
    throw Error(OMEN_INVALID_DATA, model.card().file + " cannot be used: " + e.what(), e.hint());
  }
}

// "1M" as 1000000 and "1Mi" as 1048576; other texts as they are.
std::string plain_size(const std::string& text) {
  const std::string suffix = text.substr(text.find_last_of("0123456789.") + 1);
  const bool from_digit = text.find_first_of("0123456789.") == 0;
  if (!from_digit || suffix.empty() || suffix == "B") return text;
  const std::optional<double> size = parse_bytes(text);
  return size ? std::to_string(std::llround(*size)) : text;
}

}  // namespace

std::vector<std::string> model_columns(const ModelCard& model) {
  std::vector<std::string> columns;
  for (const std::string& entry : model.schema)
    columns.push_back(entry.substr(0, entry.rfind(':')));
  return columns;
}

Choice choose_predictor(const Registry& registry, Models& models, const Tables& tables,
                        const std::string& dialect, const std::string& component,
                        const std::string& model) {
  if (component.empty() && !model.empty()) {
    std::error_code error;
    if (fs::exists(model, error) || fs::path(model).extension() == ".omen") {
      const Model opened = models.open(model);
      return {predictor_of(registry, opened), opened};
    }
    throw Error(OMEN_INVALID_ARGUMENT,
                "model '" + model + "' is no file, so a predictor must be named",
                "add --with COMPONENT");
  }
  if (component.empty())
    return pick(registry, candidates_for(registry, models, tables, dialect), tables, dialect);
  const ComponentRef ref = registry.component(OMEN_PREDICTOR, component);
  if (!model.empty()) return {ref, models.open(resolve_model(ref, model))};
  // A bundled model whose columns are there comes before one whose columns are not.
  for (const bool wanted : {true, false})
    for (const ModelInfo& info : ref.info->models) {
      if (info.is_default != wanted) continue;
      const Model bundled = models.open(ref.plugin->manifest.directory / info.file);
      if (has_columns(tables, needed_columns(*ref.info, bundled))) return {ref, bundled};
    }
  const fs::path path = resolve_model(ref, "");
  if (path.empty())
    throw Error(OMEN_INVALID_ARGUMENT, component + " comes without a model",
                "train one with: omen train " + component +
                    " --data FILE --target NAME -o mine.omen, then add -m mine.omen");
  return {ref, models.open(path)};
}

std::vector<std::string> feature_names(const ComponentInfo& component) {
  std::vector<std::string> names;
  for (const std::string& text : component.reads) {
    const ReadEntry read = parse_read(text);
    if (read.table == "workloads" && !read.any_column()) names.push_back(read.column);
  }
  return names;
}

std::vector<std::string> feature_names(const Choice& choice) {
  constexpr std::string_view kScope = "workloads.";
  std::vector<std::string> names = feature_names(*choice.predictor.info);
  if (choice.model.empty()) return names;
  for (const std::string& column : model_columns(choice.model.card())) {
    if (!column.starts_with(kScope)) continue;
    const std::string name = column.substr(kScope.size());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Tables row_of_flags(TextPairs features, const std::vector<std::string>& schema) {
  for (auto& [name, value] : features)
    if (!is_text_column(schema, name)) value = plain_size(value);
  return one_row(features);
}

void add_flag_features(Tables& tables, FlagBook& flags, const std::vector<std::string>& names,
                       const std::vector<std::string>& schema) {
  TextPairs features = flags.features(names);
  if (features.empty()) return;
  Table& workloads = tables.at("workloads");
  const Table row = row_of_flags(std::move(features), schema).at("workloads");
  const Table repeated =
      take(row, std::vector<std::int64_t>(static_cast<std::size_t>(workloads.rows()), 0));
  for (std::size_t c = 0; c < repeated.columns(); ++c)
    workloads = with_column(workloads, repeated, c);
}

}  // namespace omen::host
