// SPDX-License-Identifier: Apache-2.0
// Reads the tables of finished jobs row by row; nothing is dropped without a status.
#include "compare/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "compare/fold_data.hpp"

namespace omen::host {
namespace {

constexpr double kNoAnswer = std::numeric_limits<double>::quiet_NaN();

std::vector<std::int64_t> answered_ids(const Table& table, const char* column) {
  std::vector<std::int64_t> ids;
  for (const double value : table.numbers(column)) ids.push_back(static_cast<std::int64_t>(value));
  return ids;
}

const char* part_column(const Table& truth) {
  for (const char* column : {"node_id", "candidate_id"})
    if (truth.has(column)) return column;
  return nullptr;
}

std::vector<std::string> texts_or_numbers(const Table& table, const std::string& column) {
  return table.has(column) ? column_texts(table, table.index(column)) : std::vector<std::string>();
}

// Columns of one target in one table of answers.
struct TargetColumns {
  TargetColumns(const Table& table, Truth& truth) : rows(table) {
    const std::string& name = truth.target.name;
    const auto numbers = [&](const std::string& column) {
      const auto at = table.find(column);
      return at && is_number(table.type(*at)) ? table.numbers(*at) : std::vector<double>();
    };
    if (truth.target.kind == TargetKind::kClass) {
      texts = texts_or_numbers(table, name);
      for (std::size_t c = 0; c < truth.measured_classes; ++c) {
        probability.push_back(numbers(name + ".p." + truth.classes[c]));
        has_probability |= !probability.back().empty();
      }
    } else {
      values = numbers(name);
      lo = numbers(name + ".lo");
      hi = numbers(name + ".hi");
      if (!lo.empty()) {
        const std::string text = table.metadata(table.index(name + ".lo"), "omen.level");
        level = text.empty() ? 0 : std::atof(text.c_str());
      }
    }
    status = texts_or_numbers(table, "status");
    const char* part = part_column(table);
    const std::vector<std::int64_t> owner = answered_ids(table, "workload_id");
    const std::vector<std::int64_t> parts = part ? answered_ids(table, part) : owner;
    for (std::size_t row = 0; row < owner.size(); ++row)
      place[{owner[row], part ? parts[row] : -1}] = row;
  }

  const Table& rows;
  std::vector<double> values, lo, hi;
  std::vector<std::vector<double>> probability;  // empty for a class that was never trained
  bool has_probability = false;
  std::vector<std::string> texts, status;
  double level = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> place;
};

std::string failure_status(const JobRecord& record) {
  std::string text = word_of(record.outcome);
  if (!record.message.empty()) text += ": " + record.message;
  return text;
}

class Collector {
 public:
  Collector(const Units& units, Truth& truth) : units_(units), truth_(truth) {
    const std::size_t count = units.row.size();
    for (auto* values : {&out_.predicted, &out_.lo, &out_.hi, &out_.loss}) values->assign(count, 0);
    out_.predicted_class.resize(count);
    out_.status.resize(count);
    out_.expected.assign(count, false);
    times_.assign(count, 0);
  }

  void add(const FoldAnswers& fold) {
    const auto table = std::find_if(fold.tables.begin(), fold.tables.end(), [](const auto& entry) {
      return entry.first == "predictions" || entry.first == "node_predictions";
    });
    std::optional<TargetColumns> columns;
    if (table != fold.tables.end()) columns.emplace(table->second, truth_);
    for (const std::int64_t row : fold.fold->test)
      for (const std::size_t unit : units_.of_row[static_cast<std::size_t>(row)]) {
        if (!truth_.known(unit)) continue;
        out_.expected[unit] = true;
        if (!columns) {
          refuse(unit, failure_status(*fold.record));
          continue;
        }
        const auto at = columns->place.find({units_.workload_id[unit], units_.part[unit]});
        if (at == columns->place.end())
          refuse(unit,
                 fold.record->outcome == Outcome::kOk ? "no answer" : failure_status(*fold.record));
        else
          take(unit, *columns, at->second);
      }
  }

  Answers finish() {
    for (std::size_t unit = 0; unit < times_.size(); ++unit) {
      const bool whole = times_[unit] > 0 && is_answer(out_.status[unit]);
      for (auto* values : {&out_.predicted, &out_.lo, &out_.hi, &out_.loss})
        (*values)[unit] = whole ? (*values)[unit] / times_[unit] : kNoAnswer;
      if (!whole) out_.predicted_class[unit].clear();
    }
    return std::move(out_);
  }

 private:
  // The first refusal stands for all repeats.
  void refuse(std::size_t unit, const std::string& reason) {
    if (out_.status[unit].empty() || is_answer(out_.status[unit])) out_.status[unit] = reason;
  }

  void take(std::size_t unit, const TargetColumns& columns, std::size_t row) {
    const std::string status =
        columns.status.empty() ? word_of(RowStatus::kOk) : columns.status[row];
    if (!is_answer(status)) return refuse(unit, status.empty() ? "no status" : status);
    const bool taken = truth_.target.kind == TargetKind::kClass ? take_class(unit, columns, row)
                                                                : take_number(unit, columns, row);
    if (!taken) return;
    ++times_[unit];
    // One answer beyond the training rows marks them all.
    std::string& kept = out_.status[unit];
    if (kept.empty() || from_word<RowStatus>(kept) == RowStatus::kOk) kept = status;
  }

  bool take_number(std::size_t unit, const TargetColumns& columns, std::size_t row) {
    if (columns.values.empty()) return refuse(unit, "target not predicted"), false;
    const double value = columns.values[row], truth = truth_.number[unit];
    if (!std::isfinite(value)) return refuse(unit, "no finite value"), false;
    const double loss = stats::number_loss(truth_.target.loss, truth, value);
    if (!std::isfinite(loss)) return refuse(unit, "loss not defined for this truth"), false;
    out_.predicted[unit] += value;
    out_.loss[unit] += loss;
    out_.truths.push_back(truth);
    out_.predictions.push_back(value);
    const bool interval = !columns.lo.empty() && !columns.hi.empty() &&
                          std::isfinite(columns.lo[row]) && std::isfinite(columns.hi[row]);
    out_.lo[unit] += interval ? columns.lo[row] : kNoAnswer;
    out_.hi[unit] += interval ? columns.hi[row] : kNoAnswer;
    if (!interval) return true;
    out_.interval_truths.push_back(truth);
    out_.los.push_back(columns.lo[row]);
    out_.his.push_back(columns.hi[row]);
    if (columns.level > 0) out_.level = columns.level;
    return true;
  }

  bool take_class(std::size_t unit, const TargetColumns& columns, std::size_t row) {
    if (columns.texts.empty()) return refuse(unit, "target not predicted"), false;
    const std::int32_t truth = truth_.code[unit], said = code_of(columns.texts[row]);
    std::vector<double> probability;
    for (const std::vector<double>& column : columns.probability)
      probability.push_back(column.empty() ? 0 : column[row]);
    const bool whole = columns.has_probability;
    if (truth_.target.loss == Loss::kLogLoss && !whole)
      return refuse(unit, "no probabilities, which the loss needs"), false;
    const double of_truth = whole ? probability[static_cast<std::size_t>(truth)] : kNoAnswer;
    const double loss = stats::class_loss(truth_.target.loss, truth, said, of_truth);
    if (!std::isfinite(loss)) return refuse(unit, "loss not defined for this answer"), false;
    out_.loss[unit] += loss;
    out_.predicted[unit] = kNoAnswer;
    out_.lo[unit] = out_.hi[unit] = kNoAnswer;
    out_.predicted_class[unit] = columns.texts[row];
    out_.true_codes.push_back(truth);
    out_.predicted_codes.push_back(said);
    if (whole) out_.probabilities.push_back(std::move(probability));
    return true;
  }

  // A class that does not occur in the truth is a wrong answer like any other.
  std::int32_t code_of(const std::string& label) {
    const auto at = std::find(truth_.classes.begin(), truth_.classes.end(), label);
    if (at == truth_.classes.end()) {
      truth_.classes.push_back(label);
      return static_cast<std::int32_t>(truth_.classes.size() - 1);
    }
    return static_cast<std::int32_t>(at - truth_.classes.begin());
  }

  const Units& units_;
  Truth& truth_;
  Answers out_;
  std::vector<double> times_;
};

}  // namespace

Units::Units(const PlannedTask& task) {
  const Table& workloads = task.tables.at("workloads");
  const std::vector<std::int64_t> ids = answered_ids(workloads, "workload_id");
  const std::string& group_name = workloads.has(task.task.group) ? task.task.group : "group";
  const std::vector<std::string> groups = texts_or_numbers(workloads, group_name);
  const std::vector<std::string> names = texts_or_numbers(workloads, "name");
  std::unordered_map<std::int64_t, std::size_t> row_of;
  for (std::size_t i = 0; i < ids.size(); ++i) row_of[ids[i]] = i;
  of_row.resize(ids.size());

  const Table& truth = truth_table(task.task, task.tables);
  const char* part_name = part_column(truth);
  const std::vector<std::int64_t> owner = answered_ids(truth, "workload_id");
  const std::vector<std::int64_t> parts = part_name ? answered_ids(truth, part_name) : owner;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const auto known = row_of.find(owner[i]);
    if (known == row_of.end()) continue;
    const std::int64_t own_part = part_name ? parts[i] : -1;
    const std::size_t at = known->second;
    if (!place.emplace(std::pair(owner[i], own_part), row.size()).second) continue;
    of_row[at].push_back(row.size());
    row.push_back(static_cast<std::int64_t>(at));
    workload_id.push_back(owner[i]);
    part.push_back(own_part);
    std::string title = names.empty() || names[at].empty() ? std::to_string(owner[i]) : names[at];
    if (part_name) title += " / " + std::to_string(own_part);
    name.push_back(std::move(title));
    group.push_back(groups.empty() ? std::to_string(at) : groups[at]);
  }
}

Truth::Truth(const PlannedTask& task, const Units& units, const TaskTarget& wanted)
    : target(wanted), number(units.row.size(), kNoAnswer), code(units.row.size(), -1) {
  const Table& table = truth_table(task.task, task.tables);
  const std::size_t column = table.index(target.name);
  const char* part = part_column(table);
  const std::vector<std::int64_t> owner = answered_ids(table, "workload_id");
  const std::vector<std::int64_t> parts = part ? answered_ids(table, part) : owner;
  const bool is_class = is_text(table.type(column));
  if (is_class && table.type(column) == Type::kDictionary) {
    const StringColumn texts = table.strings(column);
    for (std::int64_t i = 0; i < texts.value_count(); ++i) classes.emplace_back(texts.value(i));
  }
  const std::vector<double> values = is_class ? std::vector<double>() : table.numbers(column);
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const auto at = units.place.find({owner[i], part ? parts[i] : -1});
    const auto in_table = static_cast<std::int64_t>(i);
    if (at == units.place.end() || table.is_null(column, in_table)) continue;
    if (!is_class) {
      number[at->second] = values[i];
      continue;
    }
    const std::string label(table.strings(column)[in_table]);
    auto known = std::find(classes.begin(), classes.end(), label);
    if (known == classes.end()) known = classes.insert(classes.end(), label);
    code[at->second] = static_cast<std::int32_t>(known - classes.begin());
  }
  measured_classes = classes.size();
}

bool Truth::known(std::size_t unit) const {
  return target.kind == TargetKind::kClass ? code[unit] >= 0 : std::isfinite(number[unit]);
}

Answers collect_answers(const Units& units, Truth& truth, const std::vector<FoldAnswers>& folds) {
  Collector collector(units, truth);
  for (const FoldAnswers& fold : folds) collector.add(fold);
  return collector.finish();
}

}  // namespace omen::host
