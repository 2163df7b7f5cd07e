// SPDX-License-Identifier: Apache-2.0
// Recognises inputs, lowers them and predicts; every choice it makes has a reason that a person can
// read.
#include "pipeline.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <unordered_map>

#include "components/withheld.hpp"
#include "omen/join.hpp"
#include "omen/reads.hpp"
#include "omen/scaled_number.hpp"
#include "pipeline/models.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr std::size_t kHeadBytes = 4096;

// The first bytes of a file; nothing for a name that is no file.
std::optional<std::string> head_of(const std::string& input) {
  std::error_code error;
  if (!fs::exists(input, error)) return std::nullopt;
  if (fs::is_directory(input, error)) return std::string();
  // A pipe would hold omen up, and what is read from it here the front end would miss.
  if (!fs::is_regular_file(input, error))
    throw Error(OMEN_IO, input + " is neither a file nor a directory",
                "front ends read files; save what it gives as one first");
  std::ifstream in(input, std::ios::binary);
  if (!in) throw Error(OMEN_IO, input + " cannot be read", "check its permissions");
  std::string head(kHeadBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

// Waiting for stdin cannot be cancelled from within, so an interrupt ends the program as usual.
Tables read_stdin() {
  struct sigaction usual {
  }, ours{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGINT, &usual, &ours);
  Tables tables = read_json_lines(std::cin, "stdin");
  sigaction(SIGINT, &ours, nullptr);
  return tables;
}

// A word with a slash or a suffix is meant as a file.
bool looks_like_file(const std::string& input) {
  return input.find('/') != std::string::npos || fs::path(input).has_extension();
}

// A graph in a form that omen writes for others, and that no front end reads.
bool is_written_form(const Registry& registry, const std::string& input) {
  const std::string suffix = fs::path(input).extension().string();
  const auto& plugins = registry.plugins();
  return suffix == ".dot" || suffix == ".svg" ||
         std::any_of(plugins.begin(), plugins.end(), [&](const FoundPlugin& found) {
           const std::vector<std::string>& theirs = found.manifest.graph_suffixes;
           return std::find(theirs.begin(), theirs.end(), suffix) != theirs.end();
         });
}

[[noreturn]] void throw_unrecognised(const Registry& registry, const std::string& input,
                                     bool is_file, const std::string& failures) {
  const std::vector<ComponentRef> frontends = registry.components(OMEN_GRAPH_FRONTEND);
  std::vector<std::string> ids;
  for (const ComponentRef& ref : frontends) ids.push_back(ref.info->id);
  if (is_file && is_written_form(registry, input))
    throw Error(OMEN_INVALID_DATA,
                input + " is a graph in a form that omen writes for other tools and does not read",
                "give the source that it was made from, or keep graphs to be read again as "
                ".omt: omen graph SOURCE -o graphs.omt");
  if (!is_file && looks_like_file(input))
    throw Error(OMEN_IO, "file '" + input + "' does not exist",
                "check the path; the current directory is " + fs::current_path().string());
  const std::string what =
      is_file ? "no front end recognises " + input
              : "'" + input + "' is neither a file nor a name that a front end knows";
  const std::string asked = ids.empty() ? "\nno front end is installed" : "\nasked: " + join(ids);
  throw Error(OMEN_INVALID_DATA, what + asked + failures,
              is_file ? "name one with --with COMPONENT, or give a table as .csv, .jsonl or .omt"
                      : "see what is installed with: omen list");
}

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
std::vector<std::string> needed_columns(const ComponentInfo& component, const fs::path& model) {
  std::vector<std::string> columns = model_columns(model);
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
std::vector<Candidate> candidates_for(const Registry& registry, const Tables& tables,
                                      const std::string& dialect) {
  std::vector<Candidate> found;
  for (const ComponentRef& ref : registry.components(OMEN_PREDICTOR)) {
    const int fit = fitness(*ref.info, tables, dialect);
    if (fit == 0) continue;
    for (const ModelInfo& model : ref.info->models) {
      const fs::path path = ref.plugin->manifest.directory / model.file;
      if (has_columns(tables, needed_columns(*ref.info, path)))
        found.push_back({{ref, path}, fit, model.is_default});
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

// Several may fit: by name before wildcards, default models before others, and within a plugin its
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
  const FoundPlugin* plugin = found[0].choice.predictor.plugin;
  const bool one_plugin = std::all_of(found.begin(), found.end(), [&](const Candidate& c) {
    return c.choice.predictor.plugin == plugin;
  });
  if (one_plugin)
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
    return entry.starts_with(column) && entry != column + "int64" && entry != column + "float64";
  });
}

// "1M" as 1000000 and "1Mi" as 1048576; other texts as they are.
std::string plain_size(const std::string& text) {
  const std::string suffix = text.substr(text.find_last_of("0123456789.") + 1);
  const bool from_digit = text.find_first_of("0123456789.") == 0;
  if (!from_digit || suffix.empty() || suffix == "B") return text;
  const std::optional<double> size = parse_bytes(text);
  return size ? std::to_string(std::llround(*size)) : text;
}

// Whole numbers become reals where the model was trained on reals, so that "2" in a file of "2.5"s
// does not matter.
Tables conform(const Tables& tables, const fs::path& model) {
  if (model.empty()) return tables;
  Tables result = tables;
  for (const std::string& text : read_model_card(model).schema) {
    const std::size_t dot = text.find('.'), colon = text.rfind(':');
    if (dot == text.npos || colon == text.npos ||
        text.substr(colon + 1) != type_name(Type::kFloat64))
      continue;
    const auto table = result.find(text.substr(0, dot));
    if (table == result.end()) continue;
    const auto column = table->second.find(text.substr(dot + 1, colon - dot - 1));
    if (!column || table->second.type(*column) != Type::kInt64) continue;
    table->second = with_values(table->second, std::string(table->second.name(*column)),
                                table->second.numbers(*column));
  }
  return result;
}

// Predictions in the order of the workloads, with empty cells and a status where order is -1.
Table with_gaps(const Table& predictions, const std::vector<std::int64_t>& order,
                const Table& workloads, const std::string& failure) {
  std::vector<std::int64_t> rows;
  std::vector<bool> present;
  for (const std::int64_t row : order) {
    rows.push_back(std::max<std::int64_t>(row, 0));
    present.push_back(row >= 0);
  }
  const Table taken = take(predictions, rows);
  TableBuilder builder;
  for (std::size_t c = 0; c < taken.columns(); ++c) {
    const std::string name(taken.name(c));
    if (name == "workload_id" || name == "status" || is_list(taken.type(c))) continue;
    if (is_text(taken.type(c))) {
      std::vector<std::string> texts;
      for (std::int64_t row = 0; row < taken.rows(); ++row)
        texts.emplace_back(taken.strings(c)[row]);
      builder.add_categories(name, texts, taken.metadata(c)).valid(present);
    } else {
      builder.add(name, taken.numbers(c), taken.metadata(c)).valid(present);
    }
  }
  std::vector<std::string> status;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool said = present[i] && taken.has("status");
    status.push_back(!present[i] ? failure
                     : said ? std::string(taken.strings("status")[static_cast<std::int64_t>(i)])
                            : "ok");
  }
  builder.add_categories("status", status);
  return with_column(builder.finish(), workloads, workloads.index("workload_id"));
}

}  // namespace

namespace {

struct Recognition {
  std::optional<ComponentRef> best;
  std::optional<std::string> head;
  std::string failures;  // of front ends that could not be asked
};

Recognition ask_all(const Components& components, const std::string& input,
                    const std::vector<ComponentRef>& frontends) {
  Recognition found{std::nullopt, head_of(input), {}};
  int best_confidence = 0;
  for (const ComponentRef& ref : frontends) {
    int confidence = 0;
    try {
      confidence = components.sniff(ref, input, found.head ? found.head->data() : nullptr,
                                    found.head ? found.head->size() : 0);
    } catch (const Error& e) {
      found.failures += "\n" + ref.info->id + " could not be asked: " + e.what();
    }
    const bool preferred = confidence == best_confidence && found.best &&
                           ref.info->caps & OMEN_CAP_DEFAULT &&
                           !(found.best->info->caps & OMEN_CAP_DEFAULT);
    if (confidence > best_confidence || preferred) {
      found.best = ref;
      best_confidence = confidence;
    }
  }
  return found;
}

}  // namespace

std::optional<ComponentRef> recognise(const Components& components, const std::string& input,
                                      const std::string& component) {
  const Registry& registry = components.registry();
  return ask_all(components, input,
                 component.empty()
                     ? registry.components(OMEN_GRAPH_FRONTEND)
                     : std::vector{registry.component(OMEN_GRAPH_FRONTEND, component)})
      .best;
}

ComponentRef find_frontend(const Components& components, const std::string& input) {
  const Registry& registry = components.registry();
  const Recognition found = ask_all(components, input, registry.components(OMEN_GRAPH_FRONTEND));
  if (!found.best) throw_unrecognised(registry, input, found.head.has_value(), found.failures);
  return *found.best;
}

Lowered lower(const Components& components, const std::string& input, const ComponentRef& frontend,
              const OptionValues& options) {
  Lowered lowered{input, frontend.info->id, {}, {}};
  const RunContext run(components.settings().run, components.settings().hooks);
  TableCollector out;
  components.lease_frontend(frontend, options, input.empty()).use([&](FrontendHandle& handle) {
    handle.lower(run.c(), input.empty() ? nullptr : input.c_str(), out.c());
    return true;
  });
  lowered.tables = out.take();
  if (!lowered.tables.count("workloads"))
    throw Error(OMEN_INTERNAL, "plugin misbehaving: " + frontend.info->id + " lowered " + input +
                                   " without workloads");
  for (auto& [name, table] : lowered.tables) table.validate();
  complete_workloads(lowered.tables);
  if (const auto nodes = lowered.tables.find("nodes"); nodes != lowered.tables.end())
    lowered.dialect = nodes->second.metadata("omen.dialect");
  return lowered;
}

Lowered read_input(const Components& components, const std::string& input,
                   const std::string& frontend, FlagBook& flags) {
  std::error_code error;
  const bool is_file = fs::exists(input, error);
  if (frontend.empty()) {
    Lowered lowered{input, {}, {}, {}};
    if (input == "-")
      lowered.tables = read_stdin();
    else if (is_table_file(input) && is_file)
      lowered.tables = read_dataset(input);
    if (!lowered.tables.empty()) {
      complete_workloads(lowered.tables);
      if (const auto nodes = lowered.tables.find("nodes"); nodes != lowered.tables.end())
        lowered.dialect = nodes->second.metadata("omen.dialect");
      return lowered;
    }
  }
  const ComponentRef ref = frontend.empty()
                               ? find_frontend(components, input)
                               : components.registry().component(OMEN_GRAPH_FRONTEND, frontend);
  return lower(components, input, ref, resolve_options(*ref.info, flags.sources_for(*ref.info)));
}

std::vector<Batch> make_batches(std::vector<Lowered> inputs) {
  std::vector<std::vector<Lowered>> groups;
  for (Lowered& input : inputs) {
    const auto fits = [&](const std::vector<Lowered>& group) {
      return group[0].frontend == input.frontend && group[0].dialect == input.dialect &&
             same_columns(group[0].tables, input.tables);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end())
      groups.push_back({std::move(input)});
    else
      group->push_back(std::move(input));
  }
  std::vector<Batch> batches;
  for (const std::vector<Lowered>& group : groups) {
    Batch batch{group[0].frontend, group[0].dialect, {}, {}, {}};
    std::vector<Tables> parts;
    for (const Lowered& input : group) {
      batch.input_of.insert(batch.input_of.end(),
                            static_cast<std::size_t>(input.tables.at("workloads").rows()),
                            batch.inputs.size());
      batch.inputs.push_back(input.input);
      parts.push_back(input.tables);
    }
    batch.tables = merge(parts);
    batches.push_back(std::move(batch));
  }
  return batches;
}

std::vector<std::string> model_columns(const fs::path& model) {
  std::vector<std::string> columns;
  for (const std::string& entry : read_model_card(model).schema)
    columns.push_back(entry.substr(0, entry.rfind(':')));
  return columns;
}

Choice choose_predictor(const Registry& registry, const Tables& tables, const std::string& dialect,
                        const std::string& component, const std::string& model) {
  if (component.empty() && !model.empty()) {
    // A model file knows which component made it.
    std::error_code error;
    if (fs::exists(model, error))
      return {registry.component(OMEN_PREDICTOR, read_model_card(model).component), model};
    throw Error(OMEN_INVALID_ARGUMENT,
                "model '" + model + "' is no file, so a predictor must be named",
                "add --with COMPONENT");
  }
  if (component.empty())
    return pick(registry, candidates_for(registry, tables, dialect), tables, dialect);
  const ComponentRef ref = registry.component(OMEN_PREDICTOR, component);
  if (!model.empty()) return {ref, resolve_model(ref, model)};
  // A bundled model whose columns are there comes before one whose columns are not.
  for (const bool wanted : {true, false})
    for (const ModelInfo& info : ref.info->models) {
      const fs::path path = ref.plugin->manifest.directory / info.file;
      if (info.is_default == wanted && has_columns(tables, needed_columns(*ref.info, path)))
        return {ref, path};
    }
  const fs::path path = resolve_model(ref, "");
  if (path.empty())
    throw Error(OMEN_INVALID_ARGUMENT, component + " comes without a model",
                "train one with: omen train " + component +
                    " --data FILE --target NAME -o mine.omen, then add -m mine.omen");
  return {ref, path};
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
  for (const std::string& column : model_columns(choice.model)) {
    if (!column.starts_with(kScope)) continue;
    const std::string name = column.substr(kScope.size());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void add_flag_features(Tables& tables, FlagBook& flags, const std::vector<std::string>& names,
                       const std::vector<std::string>& schema) {
  TextPairs features = flags.features(names);
  if (features.empty()) return;
  for (auto& [name, value] : features)
    if (!is_text_column(schema, name)) value = plain_size(value);
  Table& workloads = tables.at("workloads");
  const Table row = one_row(features).at("workloads");
  const Table repeated =
      take(row, std::vector<std::int64_t>(static_cast<std::size_t>(workloads.rows()), 0));
  for (std::size_t c = 0; c < repeated.columns(); ++c)
    workloads = with_column(workloads, repeated, c);
}

Prediction predict(const Components& components, const Choice& choice, const Tables& tables,
                   FlagBook& flags) {
  const ComponentInfo& info = *choice.predictor.info;
  const OptionValues options = resolve_options(info, flags.sources_for(info));
  flags.finish();
  Prediction result;
  result.options_json = options.canonical_json();
  result.options_hash = options.hash();
  auto start = std::chrono::steady_clock::now();
  PredictorHandle handle = components.predictor(choice.predictor, options);
  MemoryDataset dataset;
  put_inputs(dataset, conform(tables, choice.model));
  load_model(handle, choice.predictor, choice.model, dataset.view());
  result.load_seconds = seconds_since(start);

  const RunContext run(components.settings().run, components.settings().hooks);
  start = std::chrono::steady_clock::now();
  const Table rows = read_until_failure(handle.predict(run.c(), dataset.c()), result.failure);
  result.predict_seconds = seconds_since(start);
  // With candidates there is a row for each pair, and a task on nodes has a row for each node.
  result.rows = tables.count("candidates") || rows.has("node_id")
                    ? rows
                    : checked_predictions(
                          rows, tables.at("workloads"), info.id,
                          result.failure ? std::string("failed: ") + result.failure->what() : "");
  return result;
}

Table read_until_failure(TableStream stream, std::optional<Error>& failure) {
  std::vector<Table> batches;
  try {
    while (std::optional<Table> batch = stream.next()) {
      batch->validate();
      batches.push_back(*std::move(batch));
    }
  } catch (const Error& e) {
    if (batches.empty() || e.code() == OMEN_CANCELLED) throw;
    failure = e;
  }
  return batches.empty() ? stream.schema() : batches.size() == 1 ? batches[0] : concat(batches);
}

Table checked_predictions(const Table& predictions, const Table& workloads, const std::string& who,
                          const std::string& failure) {
  const auto misbehaving = [&who](const std::string& what) {
    return Error(OMEN_INTERNAL, "plugin misbehaving: " + who + " " + what,
                 "check it with: omen verify " + who.substr(0, who.find('.')));
  };
  if (!predictions.has("workload_id") ||
      predictions.type(predictions.index("workload_id")) != Type::kInt64)
    throw misbehaving("predicted without an int64 column workload_id");
  std::unordered_map<std::int64_t, std::int64_t> row_of;
  const auto answered = predictions.column<std::int64_t>("workload_id");
  for (std::int64_t row = 0; row < predictions.rows(); ++row)
    if (!row_of.emplace(answered[row], row).second)
      throw misbehaving("predicted workload " + std::to_string(answered[row]) + " twice");
  std::vector<std::int64_t> order;
  std::int64_t found = 0;
  for (const std::int64_t id : workloads.column<std::int64_t>("workload_id")) {
    const auto at = row_of.find(id);
    if (at == row_of.end() && failure.empty())
      throw misbehaving("gave no row for workload " + std::to_string(id));
    order.push_back(at == row_of.end() ? -1 : at->second);
    found += at != row_of.end();
  }
  if (found != predictions.rows())
    throw misbehaving("predicted " + std::to_string(predictions.rows() - found) +
                      " workloads that it was not given");
  if (found < workloads.rows()) return with_gaps(predictions, order, workloads, failure);
  Table sorted =
      std::is_sorted(order.begin(), order.end()) ? predictions : take(predictions, order);
  if (sorted.has("status")) return sorted;
  TableBuilder status;
  status.add_categories("status",
                        std::vector<std::string>(static_cast<std::size_t>(sorted.rows()), "ok"));
  return with_column(sorted, status.finish(), 0);
}

std::vector<std::string> target_names(const Table& predictions) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < predictions.columns(); ++c) {
    const std::string name(predictions.name(c));
    const bool key =
        name == "workload_id" || name == "candidate_id" || name == "node_id" || name == "status";
    const bool part =
        name.ends_with(".lo") || name.ends_with(".hi") || name.find(".p.") != name.npos;
    if (!key && !part) names.push_back(name);
  }
  return names;
}

}  // namespace omen::host
