// SPDX-License-Identifier: Apache-2.0
// From an input to an answer: recognise it, lower it, choose a predictor and a model, predict,
// train, rank.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/flag_book.hpp"
#include "pipeline/ready.hpp"
#include "tables/dataset_tables.hpp"

namespace omen::host {

// The surest front end for an input, or whether `component` takes it; nothing where none does.
std::optional<ComponentRef> recognise(const Components& components, const std::string& input,
                                      const std::string& component = {});
// The front end for an input; OMEN_INVALID_DATA with what was asked where none recognises it,
// OMEN_IO where a file is missing.
ComponentRef find_frontend(const Components& components, const std::string& input);

// Tables of one input.
struct Lowered {
  std::string input;     // as given
  std::string frontend;  // component id; empty for tables
  std::string dialect;   // of nodes; empty without a graph
  Tables tables;
};
Lowered lower(const Components& components, const std::string& input, const ComponentRef& frontend,
              const OptionValues& options);
// Of the nodes; empty without a graph.
std::string dialect_of(const Tables& tables);
// JSON lines on stdin ("-"), an artefact through its front end (`frontend`, or found), or a table
// file that no front end claims.
Lowered read_input(const Components& components, const std::string& input,
                   const std::string& frontend, FlagBook& flags);

// What went wrong with a file that was read as a table, with the front ends that would have read
// it.
Error naming_frontends(const Components& components, const std::string& input, const Error& error);

// Inputs that one predict call can take: same front end, dialect and columns, whatever their
// widths. Rows know which input they came from.
struct Batch {
  std::string frontend, dialect;
  std::vector<std::string> inputs;
  std::vector<std::size_t> input_of;  // per row of workloads
  Tables tables;
};
std::vector<Batch> make_batches(std::vector<Lowered> inputs);

// Columns "table.column" that a model was trained on, from its metadata.
std::vector<std::string> model_columns(const ModelCard& model);
// The predictor for these tables: named, or the one whose manifest names the dialect (or whose
// columns are all there) and has a default model; several in one plugin: the one marked default;
// several plugins: an error that lists them.
Choice choose_predictor(const Registry& registry, Models& models, const Tables& tables,
                        const std::string& dialect, const std::string& component,
                        const std::string& model);
// Names of columns of `workloads` that a component takes as flags; of a predictor also those that
// its model was trained on.
std::vector<std::string> feature_names(const ComponentInfo& component);
std::vector<std::string> feature_names(const Choice& choice);
// Flags that name one of these columns hold for every row of `workloads`. "1M" is a number there,
// unless `schema`, of a model, has the column as text.
void add_flag_features(Tables& tables, FlagBook& flags, const std::vector<std::string>& names,
                       const std::vector<std::string>& schema = {});

// One workload of these features, read as add_flag_features() reads them.
Tables row_of_flags(TextPairs features, const std::vector<std::string>& schema);

struct Prediction {
  Table rows;  // as in Answer
  std::string options_json, options_hash;
  double load_seconds = 0, predict_seconds = 0;
  std::optional<Error> failure;
};
Prediction predict(const Components& components, const Choice& choice, const Tables& tables,
                   FlagBook& flags);
// Target columns of a predictions table: without keys, status, .lo, .hi and .p.<class>.
std::vector<std::string> target_names(const Table& predictions);

// What `omen train` was asked for, with the data already split.
struct TrainingPlan {
  ComponentRef predictor;
  Split data;
  std::string split_id;  // how the data was split, for the model's metadata
  std::filesystem::path from;
  std::string summary;
  std::filesystem::path state = {};  // see FitPlan
};
struct Training {
  std::string options_json, options_hash;
  double fit_seconds = 0;
  std::map<std::string, double> last_metrics;
};
// Fits and writes the model with its provenance.
Training train(const Components& components, const TrainingPlan& plan, FlagBook& flags,
               const std::filesystem::path& output);

struct ScoringPlan {
  ComponentRef scorer;
  Tables tables;                    // workloads and graphs
  std::optional<Table> candidates;  // otherwise the scorer lists them
  std::string predictor, model;     // empty: found from what the scorer reads
  std::filesystem::path policy;     // model of the scorer; empty: its default, if any
};
// The predictor that scoring would ask: named, of the model, or of the scorer's own family; nothing
// where the columns of the workloads decide, or none is needed.
std::optional<ComponentRef> known_predictor(const Registry& registry, const ScoringPlan& plan);
struct Scoring {
  Table scores, candidates;
  std::string predictor;  // component id; empty where the scorer needs none
  double predict_seconds = 0, score_seconds = 0;
};
Scoring score(const Components& components, const ScoringPlan& plan, FlagBook& flags);

}  // namespace omen::host
