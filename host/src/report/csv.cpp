// SPDX-License-Identifier: Apache-2.0
// Every answer of a comparison as one CSV line, for people who plot for themselves.
#include <cmath>
#include <ostream>

#include "report/report.hpp"
#include "report/wording.hpp"
#include "text/number_text.hpp"

namespace omen::host {
namespace {

using namespace report;

void append_text(std::string& line, const std::string& text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string::npos && text == trim(text);
  if (plain) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line += c == '"' ? "\"\"" : std::string(1, c);
  line += '"';
}

std::string text_at(const std::vector<std::string>& texts, std::size_t at) {
  return at < texts.size() ? texts[at] : std::string();
}

void append_value(std::string& line, const std::vector<double>& values, std::size_t at) {
  line += ',';
  if (at < values.size() && !std::isnan(values[at])) append_number(line, values[at]);
}

// Classes by name; what a decision picked stands in columns of its own.
void append_answer(std::string& line, const WorkloadRow& row, std::size_t contestant,
                   bool is_class) {
  line += ',';
  if (is_class)
    append_text(line, row.truth_class);
  else if (!std::isnan(row.truth))
    append_number(line, row.truth);
  if (is_class && contestant < row.predicted_class.size()) {
    line += ',';
    append_text(line, row.predicted_class[contestant]);
  } else {
    append_value(line, row.predicted, contestant);
  }
  append_value(line, row.lo, contestant);
  append_value(line, row.hi, contestant);
  append_value(line, row.loss, contestant);
}

void write_target(std::ostream& out, const Comparison& comparison, const TaskResult& task,
                  const TargetResult& target, const char* folds) {
  std::string line;
  for (const WorkloadRow& row : target.rows)
    for (std::size_t c = 0; c < comparison.contestants.size(); ++c) {
      line.clear();
      append_text(line, task.task);
      for (const std::string& text :
           {target.target, std::string(folds), comparison.contestants[c].label}) {
        line += ',';
        append_text(line, text);
      }
      line += "," + std::to_string(row.workload_id);
      for (const std::string& text : {row.name, row.group}) {
        line += ',';
        append_text(line, text);
      }
      append_answer(line, row, c, target.kind == TargetKind::kClass);
      const bool decision = target.kind == TargetKind::kDecision;
      for (const std::string& text : {target.unit, target.loss_unit, text_at(row.status, c),
                                      decision ? row.truth_class : std::string(),
                                      decision ? text_at(row.predicted_class, c) : std::string()}) {
        line += ',';
        append_text(line, text);
      }
      out << line << '\n';
    }
}

}  // namespace

void report_csv(std::ostream& out, const Comparison& comparison) {
  out << "task,target,folds,contestant,workload_id,name,group,truth,predicted,lo,hi,loss,unit,"
         "loss_unit,status,best,pick\n";
  for (const TaskResult& task : comparison.tasks) {
    for (const TargetResult& target : task.targets)
      write_target(out, comparison, task, target, kAsSplit);
    for (const TargetResult& target : task.grouped_targets)
      write_target(out, comparison, task, target, kDuplicatesTogether);
  }
}

}  // namespace omen::host
