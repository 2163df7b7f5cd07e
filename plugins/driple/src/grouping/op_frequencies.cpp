// SPDX-License-Identifier: Apache-2.0
// The table of two columns that the profiles were published with.
#include "grouping/op_frequencies.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "omen/error.hpp"

namespace omen::driple {
namespace {

constexpr std::string_view kHeader = "Operation,Frequency";

std::string_view without_quotes(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

OpFrequencies::OpFrequencies(const std::map<std::string, std::int64_t, std::less<>>& counts) {
  std::int64_t total = 0, least = 0;
  for (const auto& [op, count] : counts) {
    total += count;
    least = least == 0 ? count : std::min(least, count);
  }
  if (total == 0) return;
  for (const auto& [op, count] : counts)
    shares_[op] = static_cast<double>(count) / static_cast<double>(total);
  other_ = static_cast<double>(least) / static_cast<double>(total);
}

OpFrequencies OpFrequencies::parse(std::string_view csv, const std::string& where) {
  OpFrequencies table;
  if (csv.substr(0, 3) == "\xef\xbb\xbf") csv.remove_prefix(3);
  for (std::size_t line_number = 1; !csv.empty(); ++line_number) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(csv.size(), end + 1));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || (line_number == 1 && line == kHeader)) continue;
    const std::size_t comma = line.rfind(',');
    double share = -1;
    if (comma != std::string_view::npos && comma > 0)
      std::from_chars(line.data() + comma + 1, line.data() + line.size(), share);
    if (!(share >= 0 && share <= 1))
      throw Error(
          OMEN_INVALID_DATA,
          where + " line " + std::to_string(line_number) + " is no operation with its share",
          "Give lines such as Conv2D,0.0123.");
    table.shares_[std::string(without_quotes(line.substr(0, comma)))] = share;
  }
  table.other_ = 1;
  for (const auto& [op, share] : table.shares_) table.other_ = std::min(table.other_, share);
  if (table.shares_.empty()) table.other_ = 0;
  return table;
}

std::string OpFrequencies::csv() const {
  std::string text(kHeader);
  text += '\n';
  for (const auto& [op, share] : shares_) {
    char number[32];
    const auto end = std::to_chars(number, number + sizeof number, share);
    text += op + ',' + std::string(number, end.ptr) + '\n';
  }
  return text;
}

double OpFrequencies::of(std::string_view op) const {
  const auto at = shares_.find(op);
  return at == shares_.end() ? other_ : at->second;
}

}  // namespace omen::driple
