// SPDX-License-Identifier: Apache-2.0
// Reads what a program predicted, and says exactly what is wrong with it.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <omen/container.hpp>
#include <optional>

#include "exchange.hpp"

namespace omen::external {
namespace {

constexpr const char* kNoAnswer = "no finite answer";

[[noreturn]] void bad(const std::string& what, const std::string& hint) {
  throw Error(OMEN_INVALID_DATA, std::string(kPredictionsFile) + ": " + what, hint);
}

template <class T>
std::vector<double> converted(const void* bytes, std::size_t count) {
  std::vector<double> values(count);
  const char* at = static_cast<const char*>(bytes);
  for (double& value : values) {
    T number;
    std::memcpy(&number, at, sizeof number);
    at += sizeof number;
    value = static_cast<double>(number);
  }
  return values;
}

std::vector<double> numbers(const container::Reader& file, const container::Entry& entry) {
  const bool column = entry.shape.size() == 2 && entry.shape[1] == 1;
  if (entry.shape.size() != 1 && !column)
    bad("'" + entry.name + "' has " + std::to_string(entry.shape.size()) + " dimensions",
        "write one number a row");
  const auto count = static_cast<std::size_t>(entry.shape[0]);
  const void* bytes = file.bytes(entry);
  if (entry.dtype == "F64") return converted<double>(bytes, count);
  if (entry.dtype == "F32") return converted<float>(bytes, count);
  if (entry.dtype == "I64") return converted<std::int64_t>(bytes, count);
  if (entry.dtype == "I32") return converted<std::int32_t>(bytes, count);
  if (entry.dtype == "I16") return converted<std::int16_t>(bytes, count);
  if (entry.dtype == "I8") return converted<std::int8_t>(bytes, count);
  if (entry.dtype == "U32") return converted<std::uint32_t>(bytes, count);
  if (entry.dtype == "U8" || entry.dtype == "BOOL") return converted<std::uint8_t>(bytes, count);
  bad("'" + entry.name + "' has type " + entry.dtype, "write float64, float32 or integers");
}

// Columns of the file in the order of the rows that are due.
class Answers {
 public:
  Answers(const container::Reader& file, const Learnt& learnt, const Rows& due)
      : file_(file), rows_(due) {
    if (learnt.per_node) {
      take_nodes();
    } else if (const auto ids = find("workload_id")) {
      place_by_id(*ids);
    } else {
      count_ = due.workload.size();
    }
  }

  const Rows& rows() const { return rows_; }
  const std::vector<std::int32_t>& nodes() const { return nodes_; }
  std::size_t size() const { return rows_.workload.size(); }

  // The row in question, for messages.
  std::string row_name(std::size_t row) const {
    std::string name = "workload " + std::to_string(rows_.workload[row]);
    if (!rows_.candidate.empty()) name += ", candidate " + std::to_string(rows_.candidate[row]);
    if (!nodes_.empty()) name += ", node " + std::to_string(nodes_[row]);
    return name;
  }

  std::optional<std::vector<double>> column(const std::string& name) const {
    std::optional<std::vector<double>> values = find(name);
    if (!values) return values;
    if (values->size() != count_)
      bad("'" + name + "' has " + std::to_string(values->size()) + " values for " +
              std::to_string(count_) + " rows",
          "write one value for every row, in the order of the rows, or add the tensor workload_id");
    if (place_.empty()) return values;
    std::vector<double> ordered;
    for (const std::size_t at : place_) ordered.push_back((*values)[at]);
    return ordered;
  }

  std::vector<double> required(const std::string& name) const {
    if (auto values = column(name)) return std::move(*values);
    std::string present;
    for (const container::Entry& entry : file_.entries())
      present += (present.empty() ? "" : ", ") + entry.name;
    bad("there is no tensor '" + name + "'",
        present.empty() ? "the file is empty" : "there are " + present);
  }

 private:
  std::optional<std::vector<double>> find(const std::string& name) const {
    const container::Entry* entry = file_.find(name);
    return entry ? std::optional(numbers(file_, *entry)) : std::nullopt;
  }

  void take_nodes() {
    const auto workload = find("workload_id"), node = find("node_id");
    if (!workload || !node || workload->size() != node->size())
      bad("a task per node needs workload_id and node_id, of the same length",
          "write both beside the answers");
    count_ = node->size();
    rows_ = {};
    rows_.workload.assign(workload->begin(), workload->end());
    nodes_.assign(node->begin(), node->end());
  }

  void place_by_id(const std::vector<double>& ids) {
    using Key = std::pair<std::int64_t, std::int64_t>;
    count_ = ids.size();
    const bool by_candidate = !rows_.candidate.empty();
    const std::vector<double> candidate =
        by_candidate ? required("candidate_id") : std::vector<double>(ids.size());
    std::map<Key, std::size_t> known;
    for (std::size_t at = 0; at < ids.size(); ++at) {
      const Key key(static_cast<std::int64_t>(ids[at]), static_cast<std::int64_t>(candidate[at]));
      if (!known.emplace(key, at).second)
        bad("workload " + std::to_string(key.first) + " comes twice", "write each row once");
    }
    for (std::size_t row = 0; row < rows_.workload.size(); ++row) {
      const auto found = known.find({rows_.workload[row], by_candidate ? rows_.candidate[row] : 0});
      if (found == known.end())
        bad("there is no row for " + row_name(row),
            "answer every row; one without an answer gets a status");
      place_.push_back(found->second);
    }
    if (known.size() != rows_.workload.size())
      bad(std::to_string(known.size() - rows_.workload.size()) + " rows were not asked for",
          "answer the rows of the input, no others");
  }

  const container::Reader& file_;
  Rows rows_;
  std::vector<std::int32_t> nodes_;
  std::size_t count_ = 0;           // values in every tensor of the file
  std::vector<std::size_t> place_;  // of each row in the file; empty where it is the same
};

// Labels of the codes in tensor `status`, and one for rows whose answer is no number.
class Status {
 public:
  Status(const Answers& answers, const container::Reader& file)
      : codes_(answers.size(), 0), labels_{"ok", "extrapolating", kNoAnswer} {
    const auto given = answers.column("status");
    if (!given) return;
    std::map<std::int64_t, std::int32_t> known{{0, 0}, {1, 1}};
    for (std::size_t row = 0; row < given->size(); ++row) {
      const auto code = static_cast<std::int64_t>((*given)[row]);
      const auto [place, added] = known.emplace(code, static_cast<std::int32_t>(labels_.size()));
      if (added) labels_.push_back(label(file, code, answers.row_name(row)));
      codes_[row] = place->second;
    }
  }

  void refuse(std::size_t row) {
    if (codes_[row] <= 1) codes_[row] = 2;
  }
  bool refused(std::size_t row) const { return codes_[row] > 1; }
  void add_to(TableBuilder& table) const { table.add_dictionary("status", codes_, labels_); }

 private:
  static std::string label(const container::Reader& file, std::int64_t code,
                           const std::string& row) {
    const std::string key = "status." + std::to_string(code);
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end() || found->second.empty())
      bad("the status of " + row + " is " + std::to_string(code),
          "0 is ok, 1 extrapolating; say what others mean in the metadata, as '" + key + "'");
    return found->second;
  }

  std::vector<std::int32_t> codes_;
  std::vector<std::string> labels_;
};

std::vector<bool> present(const Status& status, std::size_t rows) {
  std::vector<bool> all(rows);
  for (std::size_t row = 0; row < rows; ++row) all[row] = !status.refused(row);
  return all;
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

struct TargetAnswers {
  std::vector<double> value;
  std::vector<std::pair<std::string, std::vector<double>>> more;  // bounds or probabilities
};

TargetAnswers answers_of(const Target& target, const Answers& answers) {
  TargetAnswers found{answers.required(target.name), {}};
  std::vector<std::string> names{target.name + ".lo", target.name + ".hi"};
  if (target.is_class) names.clear();
  for (const std::string& label : target.classes) names.push_back(target.name + ".p." + label);
  for (const std::string& name : names)
    if (auto values = answers.column(name)) found.more.emplace_back(name, std::move(*values));
  return found;
}

void refuse_unanswered(const TargetAnswers& target, Status& status) {
  for (std::size_t row = 0; row < target.value.size(); ++row) {
    bool whole = std::isfinite(target.value[row]);
    for (const auto& [name, values] : target.more) whole = whole && std::isfinite(values[row]);
    if (!whole) status.refuse(row);
  }
}

std::vector<std::int32_t> class_codes(const Target& target, const std::vector<double>& values,
                                      const Answers& answers, const Status& status) {
  std::vector<std::int32_t> codes(values.size(), 0);
  const auto classes = static_cast<double>(target.classes.size());
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (status.refused(row)) continue;
    if (!(values[row] >= 0 && values[row] < classes) || values[row] != std::floor(values[row]))
      bad("'" + target.name + "' of " + answers.row_name(row) + " is " + short_text(values[row]),
          "write the number of a class, from 0 to " + short_text(classes - 1));
    codes[row] = static_cast<std::int32_t>(values[row]);
  }
  return codes;
}

void add_target(TableBuilder& table, const Target& target, TargetAnswers found,
                const Answers& answers, const Status& status, double level) {
  const std::vector<bool> valid = present(status, answers.size());
  if (target.is_class)
    table
        .add_dictionary(target.name, class_codes(target, found.value, answers, status),
                        target.classes, target.metadata)
        .valid(valid);
  else
    table.add(target.name, std::move(found.value), target.metadata).valid(valid);
  for (auto& [name, values] : found.more) {
    Metadata metadata;
    if (!target.is_class) {
      metadata = target.metadata;
      metadata.emplace_back("omen.level", short_text(level));
    }
    table.add(name, std::move(values), metadata).valid(valid);
  }
}

}  // namespace

Table read_predictions(const std::filesystem::path& path, const Learnt& learnt, const Rows& due,
                       double level) {
  if (!std::filesystem::exists(path))
    bad("the program ended without writing it", "write it to the directory given as last argument");
  const container::Reader file = container::Reader::open(path);
  const Answers answers(file, learnt, due);
  Status status(answers, file);
  std::vector<TargetAnswers> found;
  for (const Target& target : learnt.targets) {
    found.push_back(answers_of(target, answers));
    refuse_unanswered(found.back(), status);
  }
  TableBuilder table;
  table.add("workload_id", answers.rows().workload);
  if (!answers.rows().candidate.empty()) table.add("candidate_id", answers.rows().candidate);
  if (learnt.per_node) table.add("node_id", answers.nodes());
  for (std::size_t t = 0; t < found.size(); ++t)
    add_target(table, learnt.targets[t], std::move(found[t]), answers, status, level);
  status.add_to(table);
  return table.finish();
}

}  // namespace omen::external
