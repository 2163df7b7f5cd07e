// SPDX-License-Identifier: Apache-2.0
// Tables of measured jobs: the 66 columns of the published workloads, any other of numbers, or
// recordings of runs.
#pragma once

#include <string>
#include <vector>

namespace omen::interference {

// Texts are numbered in the order of their first appearance; a version behind the last slash of a
// name does not count, so that x/3.2.0 and x/3.2.1 are one.
class JobTable {
 public:
  static JobTable read(const std::string& path);
  // What `omen profile` or another tool recorded, a row for each run: of every series METRIC the
  // columns METRIC_max (the greatest mean over 30 s), METRIC_mean and METRIC_min, and step_ms where
  // there are marks. Devices beyond the whole machine stand behind the metric, as in
  // gpu_util_pct.0.
  static JobTable of_traces(const std::vector<std::string>& paths);
  // One table that ends in .csv, else recordings. OMEN_INVALID_ARGUMENT for no path.
  static JobTable of(const std::vector<std::string>& paths);

  std::size_t rows() const { return rows_; }
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const;
  // NaN where a cell is empty. OMEN_INVALID_ARGUMENT where there is no such column.
  const std::vector<double>& column(const std::string& name) const;
  bool is_text(const std::string& name) const;
  // Whether a cell says true or 1; false where there is no such column.
  bool is_set(const std::string& name, std::size_t row) const;
  // The model of a row with its batch size, or its number.
  std::string name(std::size_t row) const;
  // The text of a cell; empty in columns of numbers.
  const std::string& text(const std::string& column, std::size_t row) const;

 private:
  std::size_t index(const std::string& name) const;
  void add(std::string name, std::vector<double> values, std::vector<std::string> texts);

  std::size_t rows_ = 0;
  std::vector<std::string> names_;
  std::vector<std::vector<double>> values_;
  std::vector<std::vector<std::string>> texts_;  // empty for numbers
};

// "a,b" as two names.
std::vector<std::string> listed_columns(const std::string& text);

}  // namespace omen::interference
