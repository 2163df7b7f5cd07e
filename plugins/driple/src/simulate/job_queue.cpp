// SPDX-License-Identifier: Apache-2.0
// Sorts the cells of a line by the names of their columns.
#include "simulate/job_queue.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <omen/csv_line.hpp>
#include <omen/error.hpp>
#include <omen/scaled_number.hpp>
#include <set>

namespace omen::driple {
namespace {

constexpr std::string_view kTimes = "time_s.";
constexpr const char* kQueueHint =
    "Give a column network, and steps, or epochs and samples, or total_tokens.";

struct NumberColumn {
  std::string_view name;
  double QueueRow::*place;
};
constexpr NumberColumn kNumbers[] = {{"arrival_s", &QueueRow::arrival_s},
                                     {"steps", &QueueRow::steps},
                                     {"epochs", &QueueRow::epochs},
                                     {"samples", &QueueRow::samples},
                                     {"total_tokens", &QueueRow::total_tokens}};

class QueueReader {
 public:
  QueueReader(std::vector<std::string> header, const std::string& where)
      : header_(std::move(header)), where_(where) {
    std::set<std::string> seen;
    for (const std::string& column : header_)
      if (!seen.insert(column).second) fail(1, "column '" + column + "' stands there twice");
    if (!seen.count("network")) fail(1, "there is no column network");
  }

  QueueRow row(const std::vector<std::string>& cells, std::size_t line) const {
    if (cells.size() != header_.size())
      fail(line, std::to_string(cells.size()) + " cells for " + std::to_string(header_.size()) +
                     " columns");
    QueueRow row;
    for (std::size_t c = 0; c < cells.size(); ++c) take(header_[c], cells[c], line, row);
    if (row.network.empty()) fail(line, "no network is named");
    if (row.name.empty()) row.name = row.network;
    return row;
  }

  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw Error(OMEN_INVALID_DATA, where_ + " line " + std::to_string(line) + ": " + what,
                kQueueHint);
  }

 private:
  void take(const std::string& column, const std::string& cell, std::size_t line,
            QueueRow& row) const {
    if (column == "network" || column == "name") {
      (column == "name" ? row.name : row.network) = cell;
      return;
    }
    for (const NumberColumn& number : kNumbers)
      if (column == number.name) {
        if (!cell.empty()) row.*number.place = not_negative(column, cell, line);
        return;
      }
    if (column.starts_with(kTimes))
      row.measured_s[column.substr(kTimes.size())] = cell.empty()
                                                         ? std::numeric_limits<double>::quiet_NaN()
                                                         : not_negative(column, cell, line);
    else if (!cell.empty())
      row.options.emplace_back(column, cell);
  }

  double not_negative(const std::string& column, const std::string& cell, std::size_t line) const {
    const std::optional<double> value = parse_scaled(cell);
    if (!value || *value < 0) fail(line, column + " is '" + cell + "', which is no number from 0");
    return *value;
  }

  std::vector<std::string> header_;
  const std::string& where_;
};

}  // namespace

std::vector<QueueRow> parse_queue(std::string_view text, const std::string& where) {
  std::vector<QueueRow> rows;
  std::optional<QueueReader> reader;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> cells = csv_cells(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (!reader)
      reader.emplace(cells, where);
    else if (cells.size() > 1 || !cells[0].empty())
      rows.push_back(reader->row(cells, line));
  }
  if (rows.empty()) throw Error(OMEN_INVALID_DATA, where + " holds no job", kQueueHint);
  return rows;
}

std::vector<QueueRow> read_queue(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_NOT_FOUND, "queue '" + path + "' cannot be read", kQueueHint);
  return parse_queue(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

}  // namespace omen::driple
