// SPDX-License-Identifier: Apache-2.0
// Small files of /proc and /sys: opened once, read again at every tick, scanned without copying.
#ifndef OMEN_TELEMETRY_KERNEL_FILE_HPP
#define OMEN_TELEMETRY_KERNEL_FILE_HPP

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace omen::telemetry {

// Keeps the descriptor, because opening costs more than reading.
class KernelFile {
 public:
  KernelFile() = default;
  explicit KernelFile(std::filesystem::path path);
  KernelFile(KernelFile&& other) noexcept;
  KernelFile& operator=(KernelFile&& other) noexcept;
  ~KernelFile();

  const std::filesystem::path& path() const noexcept { return path_; }
  // errno of the failed open or read; 0 after a success.
  int error() const noexcept { return error_; }
  // The whole text, valid until the next read; nothing where the file is gone or forbidden.
  std::optional<std::string_view> read();
  // The number at the start of the file.
  std::optional<std::int64_t> read_integer();

 private:
  std::filesystem::path path_;
  std::string buffer_;
  int fd_ = -1;
  int error_ = 0;
};

std::optional<std::string> read_small_file(const std::filesystem::path& path);

// Walks over words and numbers that are separated by blanks.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() {
    skip_blanks();
    return rest_.empty();
  }
  std::string_view word() {
    skip_blanks();
    std::size_t end = 0;
    while (end < rest_.size() && !is_blank(rest_[end])) ++end;
    return take(end);
  }
  template <class Number>
  std::optional<Number> number() {
    skip_blanks();
    Number value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) return std::nullopt;
    take(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  // Up to the line's end, which is dropped.
  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    const std::string_view found = take(end == std::string_view::npos ? rest_.size() : end);
    if (!rest_.empty()) rest_.remove_prefix(1);
    return found;
  }
  bool at_end() const noexcept { return rest_.empty(); }
  std::string_view rest() const noexcept { return rest_; }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view rest_;
};

std::string_view trim(std::string_view text);

// Rate of a counter that only grows: nothing at the first reading and after a reset.
class RateMeter {
 public:
  std::optional<double> per_second(std::int64_t t_ns, double counter) {
    const bool usable = seen_ && t_ns > t_ns_ && counter >= counter_;
    const double rate = usable ? (counter - counter_) * 1e9 / static_cast<double>(t_ns - t_ns_) : 0;
    seen_ = true;
    t_ns_ = t_ns;
    counter_ = counter;
    return usable ? std::optional(rate) : std::nullopt;
  }

 private:
  bool seen_ = false;
  std::int64_t t_ns_ = 0;
  double counter_ = 0;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_KERNEL_FILE_HPP
