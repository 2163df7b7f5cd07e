// SPDX-License-Identifier: Apache-2.0
// Insists on one sound row for every workload, whatever the predictor gave.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "components/named_errors.hpp"
#include "pipeline/pipeline.hpp"
#include "tables/row_status.hpp"
#include "tables/target_words.hpp"

namespace omen::host {
namespace {

using Ids = std::vector<std::int64_t>;

Error misbehaving(const std::string& who, const std::string& what) {
  return Error(OMEN_INTERNAL, "plugin misbehaving: " + who + " " + what, verify_hint(who));
}

// Why a row that calls itself an answer is none; empty where it is one.
std::vector<std::string> faults_of(const Table& predictions) {
  std::vector<std::string> faults(static_cast<std::size_t>(predictions.rows()));
  for (const std::string& target : target_names(predictions)) {
    if (!is_number(predictions.type(predictions.index(target)))) continue;
    const std::vector<double> values = predictions.numbers(target);
    for (std::size_t row = 0; row < values.size(); ++row)
      if (!std::isfinite(values[row])) faults[row] = word_of(RowFault::kNotFinite);
    const auto low = predictions.find(target + ".lo"), high = predictions.find(target + ".hi");
    if (!low || !high || !is_number(predictions.type(*low)) || !is_number(predictions.type(*high)))
      continue;
    const std::vector<double> from = predictions.numbers(*low), to = predictions.numbers(*high);
    for (std::size_t row = 0; row < from.size(); ++row)
      if (from[row] > to[row]) faults[row] = word_of(RowFault::kCrossed);
  }
  if (predictions.has("status"))
    for (std::size_t row = 0; row < faults.size(); ++row)
      if (!is_answer(predictions.strings("status")[static_cast<std::int64_t>(row)]))
        faults[row].clear();
  return faults;
}

// What was trained on numbers answers with numbers.
void check_types(const Table& predictions, const std::vector<TargetFacts>& targets,
                 const std::string& who) {
  for (const TargetFacts& target : targets) {
    const auto column = predictions.find(target.name);
    if (column && from_word<TargetKind>(target.kind) != TargetKind::kClass &&
        is_text(predictions.type(*column)))
      throw misbehaving(who, "predicted " + target.name + " as text, but it is a number");
  }
}

// The row of every workload that was answered.
std::unordered_map<std::int64_t, std::int64_t> rows_by_id(const Table& predictions,
                                                          const std::string& who) {
  if (!predictions.has("workload_id") ||
      predictions.type(predictions.index("workload_id")) != Type::kInt64)
    throw misbehaving(who, "predicted without an int64 column workload_id");
  std::unordered_map<std::int64_t, std::int64_t> row_of;
  const auto answered = predictions.column<std::int64_t>("workload_id");
  for (std::int64_t row = 0; row < predictions.rows(); ++row)
    if (!row_of.emplace(answered[row], row).second)
      throw misbehaving(who, "predicted workload " + std::to_string(answered[row]) + " twice");
  return row_of;
}

// Predictions in the order of the workloads, with empty cells and the reason as status where order
// is -1.
Table with_gaps(const Table& predictions, const std::vector<std::int64_t>& order,
                const Table& workloads, const std::vector<std::string>& reasons) {
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
    status.push_back(!present[i] ? reasons[i]
                     : said ? std::string(taken.strings("status")[static_cast<std::int64_t>(i)])
                            : "ok");
  }
  builder.add_categories("status", status);
  return with_column(builder.finish(), workloads, workloads.index("workload_id"));
}

}  // namespace

Table checked_predictions(const Table& predictions, const Table& workloads, const std::string& who,
                          const std::string& failure, const std::vector<TargetFacts>& targets) {
  const auto row_of = rows_by_id(predictions, who);
  check_types(predictions, targets, who);
  const std::vector<std::string> faults = faults_of(predictions);
  Ids order, missing;
  std::vector<std::string> reasons;  // of rows without an answer
  for (const std::int64_t id : workloads.column<std::int64_t>("workload_id")) {
    const auto at = row_of.find(id);
    const bool found = at != row_of.end();
    if (!found) missing.push_back(id);
    reasons.push_back(found ? faults[static_cast<std::size_t>(at->second)] : failure);
    order.push_back(found && reasons.back().empty() ? at->second : -1);
  }
  const std::int64_t strange =
      predictions.rows() - workloads.rows() + static_cast<std::int64_t>(missing.size());
  if (strange > 0)
    throw misbehaving(who,
                      "predicted " + std::to_string(strange) + " workloads that it was not given");
  if (!missing.empty() && failure.empty())
    throw misbehaving(who, "gave no row for workload " + std::to_string(missing.front()));
  if (std::find(order.begin(), order.end(), -1) != order.end())
    return with_gaps(predictions, order, workloads, reasons);
  Table sorted =
      std::is_sorted(order.begin(), order.end()) ? predictions : take(predictions, order);
  if (sorted.has("status")) return sorted;
  return with_column(
      sorted,
      category_column("status", std::vector<std::string>(order.size(), word_of(RowStatus::kOk))),
      0);
}

}  // namespace omen::host
