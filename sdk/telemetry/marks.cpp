// SPDX-License-Identifier: Apache-2.0
// Writes and reads marks.
#include "omen/telemetry/marks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "kernel_file.hpp"
#include "omen/telemetry/clock.hpp"
#include "omen/utf8.hpp"

namespace omen::telemetry {
namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::size_t kMostNames = 1000;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && find_invalid_utf8(name) == name.npos &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

class Marks final : public Source {
 public:
  Marks(const Context& context, const std::filesystem::path& file, std::int64_t start_ns)
      : metrics_(context.metrics), notes_(context.notes), start_ns_(start_ns) {
    fd_ = ::open(file.c_str(), O_RDONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0)
      throw Error(OMEN_IO, "cannot create '" + file.string() + "': " + std::strerror(errno));
  }
  ~Marks() override { ::close(fd_); }

  std::string_view name() const override { return "marks"; }

  void sample(std::int64_t, std::vector<Sample>& rows) override {
    std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t got = ::pread(fd_, buffer.data(), buffer.size(), position_);
      if (got <= 0) return;
      position_ += got;
      for (const char byte : std::string_view(buffer.data(), static_cast<std::size_t>(got)))
        take(byte, rows);
    }
  }

 private:
  // Bytes come as they come; a line that is too long for a mark is skipped as a whole.
  void take(char byte, std::vector<Sample>& rows) {
    if (byte != '\n') {
      if (line_.size() < 2 * kLongestName) line_.push_back(byte);
      return;
    }
    Scanner scanner(line_);
    const auto at_ns = scanner.number<std::int64_t>();
    const std::string_view name = trim(scanner.rest());
    if (at_ns && is_name(name)) {
      rows.push_back({*at_ns - start_ns_, static_cast<double>(++count_), metric_of(name), -1, 0});
    } else {
      notes_.add(NoteKind::kWarning, "marks", "a line of the mark file is no mark: left out",
                 "Leave marks with: omen mark NAME");
    }
    line_.clear();
  }

  std::int32_t metric_of(std::string_view name) {
    if (names_.find(name) == names_.end()) {
      if (names_.size() >= kMostNames) return metrics_.id("mark.other");
      names_.emplace(name);
    }
    return metrics_.id("mark." + std::string(name));
  }

  MetricTable& metrics_;
  Notes& notes_;
  std::int64_t start_ns_;
  int fd_ = -1;
  off_t position_ = 0;
  std::string line_;
  std::set<std::string, std::less<>> names_;
  std::int64_t count_ = 0;
};

}  // namespace

void write_mark(const std::filesystem::path& file, const std::string& name) {
  if (!is_name(name))
    throw Error(OMEN_INVALID_ARGUMENT, "a mark cannot be named '" + name.substr(0, 40) + "'",
                "Use 1 to 100 bytes of text without control characters.");
  const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0)
    throw Error(OMEN_NOT_FOUND, "no recording takes marks: cannot open '" + file.string() + "'",
                "Run the command under: omen profile -- COMMAND");
  const std::string line = std::to_string(machine_clock().now_ns()) + " " + name + "\n";
  const ssize_t written = ::write(fd, line.data(), line.size());
  ::close(fd);
  if (written != static_cast<ssize_t>(line.size()))
    throw Error(OMEN_IO, "cannot write '" + file.string() + "'");
}

SourcePtr make_marks(const Context& context, const std::filesystem::path& file,
                     std::int64_t start_ns) {
  return std::make_unique<Marks>(context, file, start_ns);
}

}  // namespace omen::telemetry
