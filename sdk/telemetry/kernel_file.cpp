// SPDX-License-Identifier: Apache-2.0
// Reads files of /proc and /sys from offset 0, which makes the kernel produce them anew.
#include "kernel_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace omen::telemetry {

KernelFile::KernelFile(std::filesystem::path path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) error_ = errno;
}

KernelFile::KernelFile(KernelFile&& other) noexcept
    : path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      fd_(std::exchange(other.fd_, -1)),
      error_(other.error_) {}

KernelFile& KernelFile::operator=(KernelFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(buffer_, other.buffer_);
  std::swap(fd_, other.fd_);
  std::swap(error_, other.error_);
  return *this;
}

KernelFile::~KernelFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<std::string_view> KernelFile::read() {
  if (fd_ < 0) return std::nullopt;
  if (buffer_.empty()) buffer_.resize(1024);
  std::size_t size = 0;
  for (;;) {
    if (size == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    const ssize_t got =
        ::pread(fd_, buffer_.data() + size, buffer_.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      error_ = errno;
      return std::nullopt;
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  error_ = 0;
  return std::string_view(buffer_).substr(0, size);
}

std::optional<std::int64_t> KernelFile::read_integer() {
  const auto text = read();
  return text ? Scanner(*text).number<std::int64_t>() : std::nullopt;
}

std::optional<std::string> read_small_file(const std::filesystem::path& path) {
  KernelFile file(path);
  const auto text = file.read();
  return text ? std::optional(std::string(*text)) : std::nullopt;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace omen::telemetry
