// SPDX-License-Identifier: Apache-2.0
// What importers of text traces share: lines, fields, numbers, times and names of metrics.
#ifndef OMEN_TELEMETRY_IMPORT_TEXT_HPP
#define OMEN_TELEMETRY_IMPORT_TEXT_HPP

#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "omen/telemetry/imports.hpp"

namespace omen::telemetry {

inline constexpr double kMiB = 1024.0 * 1024;

// A column of another tool, the metric that it is here, and what one of its units is.
struct ColumnName {
  std::string_view column;
  const char* metric;
  double scale = 1;
};
template <std::size_t count>
const ColumnName* find_column(const std::array<ColumnName, count>& names, std::string_view column) {
  for (const ColumnName& name : names)
    if (name.column == column) return &name;
  return nullptr;
}

// Reads a text file line by line; a subclass turns each line into rows. Lines that do not fit are
// counted, and errors say which line they are about.
class TextImport : public RowReader {
 public:
  TextImport(const std::filesystem::path& path, const char* format);
  bool next(std::vector<LogRow>& rows) final;

 protected:
  // False for a line that does not fit.
  virtual bool take(std::string_view line, std::vector<LogRow>& rows) = 0;

  std::int32_t metric(const std::string& name);
  void put(std::vector<LogRow>& rows, std::int64_t t_ns, const std::string& name, double value,
           std::int32_t device = Sample::kWholeMachine, std::int32_t pid = 0);
  // "'FILE' line N " and what is wrong with it.
  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;

 private:
  void check_is_text(const std::string& line) const;
  void skip(const std::string& line);
  [[noreturn]] void fail_without_rows() const;

  std::filesystem::path path_;
  std::ifstream in_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::int64_t rows_ = 0, line_ = 0, skipped_ = 0, first_skipped_ = 0;
  std::string first_skipped_text_;
};

std::vector<std::string_view> split_blanks(std::string_view line);
// Fields of a CSV line without their quotes; blanks around a field are dropped.
std::vector<std::string> split_csv(std::string_view line);

// The number at the start of a field such as "12.5 %" or "0,50"; nothing for "[N/A]", "-" and
// "nan".
std::optional<double> parse_number(std::string_view field);

// A whole number of a device from 0 on; nothing for anything else.
std::optional<std::int32_t> parse_device(std::string_view field);

struct Moment {
  std::int64_t ns = 0;    // since 1970, or since midnight
  bool is_utc = false;    // a zone was given, or it is a count of seconds
  bool is_clock = false;  // a time of day only
};
// "2024/01/31 12:34:56.789", "2024-01-31T12:34:56Z", "01-31-2024 12:34:56", "12:34:56 PM",
// 1706704496.5
std::optional<Moment> parse_moment(std::string_view text);

// Turns moments into times since the first one; a clock that passes midnight goes on.
class Timeline {
 public:
  std::int64_t since_start(const Moment& moment);
  std::optional<std::int64_t> start_unix_ns() const;

 private:
  std::optional<Moment> first_;
  std::int64_t last_ns_ = 0, days_ns_ = 0;
};

RowReaderPtr import_mpstat(const std::filesystem::path& path);
RowReaderPtr import_nvidia_smi(const std::filesystem::path& path);
RowReaderPtr import_dmon(const std::filesystem::path& path, double period_s);
RowReaderPtr import_csv(const std::filesystem::path& path, double period_s);
RowReaderPtr import_ptdaemon(const std::filesystem::path& path);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_IMPORT_TEXT_HPP
