// SPDX-License-Identifier: Apache-2.0
// Asks a predictor and insists on an answer for every workload.
#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "components/withheld.hpp"

namespace omen::host {
namespace {

// Whole numbers become reals where the model was trained on reals, so that "2" in a file of "2.5"s
// does not matter.
Tables conform(const Tables& tables, const Model& model) {
  if (model.empty()) return tables;
  Tables result = tables;
  for (const std::string& text : model.card().schema) {
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

ReadyPredictor::ReadyPredictor(const Components& components, Choice choice,
                               const OptionValues& options, const Tables& inputs, TaskFacts task)
    : components_(components),
      choice_(std::move(choice)),
      task_(std::move(task)),
      handle_(components.predictor(choice_.predictor, options)) {
  MemoryDataset dataset;
  show(dataset, inputs);
  load_model(handle_, choice_.predictor, choice_.model, dataset.view());
  load_seconds_ = seconds_since(start_);
}

void ReadyPredictor::show(MemoryDataset& dataset, const Tables& inputs) const {
  put_inputs(dataset, conform(inputs, choice_.model));
  task_.tell(dataset);
}

Answer ReadyPredictor::predict(const Tables& inputs) {
  MemoryDataset dataset;
  show(dataset, inputs);
  const RunContext run(components_.settings().run, components_.settings().hooks);
  Answer answer;
  const auto start = std::chrono::steady_clock::now();
  answer.rows = read_until_failure(handle_.predict(run.c(), dataset.c()), answer.failure);
  answer.seconds = seconds_since(start);
  // With candidates there is a row for each pair, and a task on nodes has a row for each node.
  if (inputs.count("candidates") || answer.rows.has("node_id")) return answer;
  answer.rows =
      checked_predictions(answer.rows, inputs.at("workloads"), choice_.predictor.info->id,
                          answer.failure ? std::string("failed: ") + answer.failure->what() : "");
  return answer;
}

Prediction predict(const Components& components, const Choice& choice, const Tables& tables,
                   FlagBook& flags) {
  const ComponentInfo& info = *choice.predictor.info;
  const OptionValues options = resolve_options(info, flags.sources_for(info));
  flags.finish();
  Prediction result;
  result.options_json = options.canonical_json();
  result.options_hash = options.hash();
  ReadyPredictor predictor(components, choice, options, tables);
  result.load_seconds = predictor.load_seconds();
  Answer answer = predictor.predict(tables);
  result.predict_seconds = answer.seconds;
  result.rows = std::move(answer.rows);
  result.failure = std::move(answer.failure);
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
