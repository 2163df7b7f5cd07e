// SPDX-License-Identifier: Apache-2.0
// Lines, fields, numbers and times of text traces.
#include "import_text.hpp"

#include <chrono>
#include <cmath>

#include "kernel_file.hpp"
#include "omen/csv_line.hpp"
#include "omen/telemetry/clock.hpp"

namespace omen::telemetry {
namespace {

constexpr int kLinesAtOnce = 1024;
constexpr std::int64_t kDayNs = 24LL * 3600 * kNsPerSecond;
constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::size_t kShownText = 60;  // of a line in an error
// Moments between these years have differences that fit into nanoseconds of 64 bits.
constexpr int kFirstYear = 1970, kLastYear = 2199;
constexpr double kLeastSeconds = -1e9, kMostSeconds = 7e9;
constexpr int kMostDevices = 1'000'000;
constexpr std::int64_t kMostDaysNs = 30'000 * kDayNs;

// Digits up to a separator; moves on behind it.
std::optional<int> take_integer(std::string_view& text, char separator) {
  const std::size_t end = separator ? text.find(separator) : text.size();
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  int value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + end, value);
  if (error != std::errc{} || at != text.data() + end) return std::nullopt;
  text.remove_prefix(std::min(end + 1, text.size()));
  return value;
}

// "12:34:56", with a fraction and AM or PM behind it.
std::optional<std::int64_t> clock_ns(std::string_view text) {
  bool afternoon = false, half_day = false;
  for (const std::string_view mark : {"AM", "PM"}) {
    if (text.size() < 3 || text.substr(text.size() - 2) != mark) continue;
    half_day = true;
    afternoon = mark == "PM";
    text = trim(text.substr(0, text.size() - 2));
  }
  auto hour = take_integer(text, ':');
  const auto minute = hour ? take_integer(text, ':') : std::nullopt;
  const auto second = minute ? parse_number(text) : std::nullopt;
  if (!second || *hour < 0 || *hour > 24 || *minute < 0 || *minute > 59 || *second < 0 ||
      *second >= 61)
    return std::nullopt;
  if (half_day) hour = *hour % 12 + (afternoon ? 12 : 0);
  return (*hour * 3600LL + *minute * 60LL) * kNsPerSecond + std::llround(*second * 1e9);
}

std::optional<std::int64_t> date_ns(std::string_view text) {
  const char separator = text.find('/') != std::string_view::npos ? '/' : '-';
  const auto a = take_integer(text, separator);
  const auto b = a ? take_integer(text, separator) : std::nullopt;
  const auto c = b ? take_integer(text, '\0') : std::nullopt;
  if (!c) return std::nullopt;
  // Year first, or month first as meters and dmon write it.
  const bool year_first = *a > 31;
  const int year = year_first ? *a : *c;
  if (year < kFirstYear || year > kLastYear) return std::nullopt;
  const std::chrono::year_month_day day{
      std::chrono::year(year), std::chrono::month(static_cast<unsigned>(year_first ? *b : *a)),
      std::chrono::day(static_cast<unsigned>(year_first ? *c : *b))};
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days(day).time_since_epoch().count() * kDayNs;
}

// Cuts "Z" or "+02:00" off the end of a time; the offset in nanoseconds, or nothing.
std::optional<std::int64_t> take_zone(std::string_view& time) {
  if (!time.empty() && time.back() == 'Z') {
    time.remove_suffix(1);
    return 0;
  }
  const std::size_t at = time.find_last_of("+-");
  if (at == std::string_view::npos || at < 5) return std::nullopt;
  std::string_view zone = time.substr(at + 1);
  const bool west = time[at] == '-';
  const auto hours = take_integer(zone, zone.find(':') == std::string_view::npos ? '\0' : ':');
  const auto minutes = zone.empty() ? std::optional(0) : take_integer(zone, '\0');
  if (!hours || !minutes || *hours < 0 || *hours > 14 || *minutes < 0 || *minutes > 59)
    return std::nullopt;
  time = time.substr(0, at);
  return (*hours * 3600LL + *minutes * 60LL) * kNsPerSecond * (west ? -1 : 1);
}

}  // namespace

TextImport::TextImport(const std::filesystem::path& path, const char* format)
    : path_(path), in_(path, std::ios::binary) {
  if (!in_) throw Error(OMEN_IO, "cannot open '" + path.string() + "'");
  metadata_["imported_from"] = format;
}

bool TextImport::next(std::vector<LogRow>& rows) {
  rows.clear();
  std::string line;
  for (int i = 0; i < kLinesAtOnce; ++i) {
    if (!std::getline(in_, line)) {
      if (rows_ + static_cast<std::int64_t>(rows.size()) == 0) fail_without_rows();
      if (skipped_ > 0) {
        metadata_["skipped_lines"] = std::to_string(skipped_);
        metadata_["first_skipped_line"] = std::to_string(first_skipped_);
      }
      rows_ += static_cast<std::int64_t>(rows.size());
      return !rows.empty();
    }
    ++line_;
    check_is_text(line);
    if (trim(line).empty()) continue;
    if (!take(line, rows)) skip(line);
  }
  rows_ += static_cast<std::int64_t>(rows.size());
  return true;
}

std::int32_t TextImport::metric(const std::string& name) {
  const auto [at, fresh] = ids_.try_emplace(name, static_cast<std::int32_t>(metrics_.size()));
  if (fresh) metrics_.push_back(name);
  return at->second;
}

void TextImport::put(std::vector<LogRow>& rows, std::int64_t t_ns, const std::string& name,
                     double value, std::int32_t device, std::int32_t pid) {
  // A number that its unit takes out of range is no measurement.
  if (!std::isfinite(value)) return;
  rows.push_back({0, {t_ns, value, metric(name), device, pid}});
}

void TextImport::fail(const std::string& what, const std::string& hint) const {
  throw Error(OMEN_INVALID_DATA,
              "'" + path_.string() + "' line " + std::to_string(line_) + " " + what, hint);
}

void TextImport::check_is_text(const std::string& line) const {
  if (line.size() > kLongestLine)
    fail("is longer than " + std::to_string(kLongestLine) + " bytes",
         "Traces are text, line by line.");
  if (line.find('\0') != std::string::npos)
    fail("holds binary data", "Traces of other tools are text; check the file.");
}

void TextImport::skip(const std::string& line) {
  if (skipped_++ > 0) return;
  first_skipped_ = line_;
  first_skipped_text_ = std::string(trim(line).substr(0, kShownText));
}

void TextImport::fail_without_rows() const {
  std::string what =
      "'" + path_.string() + "' has no line of the format " + metadata_.at("imported_from") + ": ";
  what += skipped_ > 0
              ? "line " + std::to_string(first_skipped_) + " is '" + first_skipped_text_ + "'"
          : line_ > 0 ? "its last line is line " + std::to_string(line_) + ", a header without rows"
                      : "it ends before line 1";
  throw Error(OMEN_INVALID_DATA, what, "Name its format with format=..., or check the file.");
}

std::vector<std::string_view> split_blanks(std::string_view line) {
  std::vector<std::string_view> words;
  Scanner scanner(line);
  while (!scanner.done()) words.push_back(scanner.word());
  return words;
}

std::vector<std::string> split_csv(std::string_view line) {
  std::vector<std::string> fields = csv_cells(line);
  for (std::string& field : fields) field = std::string(trim(field));
  return fields;
}

std::optional<double> parse_number(std::string_view field) {
  std::string text(trim(field));
  // A decimal comma stands alone; files whose fields are separated by commas never have one.
  if (const std::size_t comma = text.find(','); comma != std::string::npos) text[comma] = '.';
  if (!text.empty() && text[0] == '+') text.erase(0, 1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int32_t> parse_device(std::string_view field) {
  const auto number = parse_number(field);
  if (!number || *number < 0 || *number >= kMostDevices || *number != std::floor(*number))
    return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

std::optional<Moment> parse_moment(std::string_view text) {
  text = trim(text);
  if (text.find(':') == std::string_view::npos) {
    // Nothing may follow the number: a date without a time starts like one.
    if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos ||
        text.find('-', 1) != std::string_view::npos)
      return std::nullopt;
    const auto number = parse_number(text);
    if (!number) return std::nullopt;
    // Counts beyond the year 5000 are milliseconds.
    const double seconds = *number > 1e11 ? *number * 1e-3 : *number;
    if (seconds < kLeastSeconds || seconds > kMostSeconds) return std::nullopt;
    return Moment{std::llround(seconds * 1e9), true, false};
  }
  const std::size_t gap = text.find_first_of(" T");
  const bool has_date = gap != std::string_view::npos && text.find(':') > gap;
  std::string_view time = has_date ? trim(text.substr(gap + 1)) : text;
  const auto zone = has_date ? take_zone(time) : std::nullopt;
  const auto clock = clock_ns(time);
  if (!clock) return std::nullopt;
  if (!has_date) return Moment{*clock, false, true};
  const auto date = date_ns(text.substr(0, gap));
  if (!date) return std::nullopt;
  return Moment{*date + *clock - zone.value_or(0), zone.has_value(), false};
}

std::int64_t Timeline::since_start(const Moment& moment) {
  if (!first_) {
    first_ = moment;
    last_ns_ = moment.ns;
  }
  // Only a step back of half a day or more is midnight; a smaller one is a clock that was set.
  const bool midnight = moment.is_clock && moment.ns + kDayNs / 2 < last_ns_;
  if (midnight && days_ns_ < kMostDaysNs) days_ns_ += kDayNs;
  last_ns_ = moment.ns;
  return moment.ns + days_ns_ - first_->ns;
}

std::optional<std::int64_t> Timeline::start_unix_ns() const {
  // A small count of seconds is a time since the start of something, not since 1970.
  constexpr std::int64_t kYear2000 = 946'684'800LL * kNsPerSecond;
  if (!first_ || !first_->is_utc || first_->ns < kYear2000) return std::nullopt;
  return first_->ns;
}

}  // namespace omen::telemetry
