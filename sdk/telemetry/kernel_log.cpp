// SPDX-License-Identifier: Apache-2.0
// Records of /dev/kmsg: "priority,sequence,time,flags;message".
#include "kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "kernel_file.hpp"

namespace omen::telemetry {
namespace {

constexpr std::size_t kMostMessages = 50;
constexpr std::array<std::string_view, 9> kTelling = {
    "Out of memory", "oom-kill:",          "oom_kill",  "Killed process", "segfault at",
    "trap invalid",  "general protection", "NVRM: Xid", "GPU reset begin"};

}  // namespace

bool explains_an_end(std::string_view message) {
  for (const std::string_view part : kTelling)
    if (message.find(part) != std::string_view::npos) return true;
  return false;
}

KernelLog::KernelLog(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (fd_ >= 0) ::lseek(fd_, 0, SEEK_END);
}

KernelLog::~KernelLog() {
  if (fd_ >= 0) ::close(fd_);
}

std::vector<std::string> KernelLog::read_new() {
  std::vector<std::string> found;
  if (fd_ < 0) return found;
  std::array<char, 8192> buffer;
  std::string text;
  // The device gives one record a call and says EPIPE where older ones were overwritten.
  for (;;) {
    const ssize_t count = ::read(fd_, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  Scanner lines(text);
  while (!lines.at_end() && found.size() < kMostMessages) {
    const std::string_view line = lines.line();
    // Lines that start with a blank are further facts of the record before.
    if (line.empty() || line.front() == ' ') continue;
    const std::size_t prefix = line.find(';');
    const std::string_view message =
        prefix == std::string_view::npos ? line : line.substr(prefix + 1);
    if (explains_an_end(message)) found.emplace_back(message);
  }
  return found;
}

}  // namespace omen::telemetry
