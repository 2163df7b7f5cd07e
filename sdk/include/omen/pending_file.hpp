// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name all at once.
#ifndef OMEN_PENDING_FILE_HPP
#define OMEN_PENDING_FILE_HPP

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "omen/error.hpp"

namespace omen {

// A file under a temporary name beside its target; removed unless it is committed.
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path target) : target_(std::move(target)) {
    static std::atomic<unsigned> counter{0};
    do {
      temporary_ =
          target_.string() + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
      fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd_ < 0 && errno == EEXIST);
    if (fd_ < 0) fail("create");
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }

  // The name until commit(), for who reads back what was written.
  const std::string& temporary() const noexcept { return temporary_; }

  void append(const void* bytes, std::size_t size) {
    const char* at = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t count = ::write(fd_, at, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write");
      at += count;
      size -= static_cast<std::size_t>(count);
    }
  }

  // Writes at a place of its own, behind the end or over what stands there.
  void overwrite(const void* bytes, std::size_t size, std::uint64_t offset) {
    const char* at = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t count = ::pwrite(fd_, at, size, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write");
      at += count;
      size -= static_cast<std::size_t>(count);
      offset += static_cast<std::uint64_t>(count);
    }
  }

  void commit() {
    if (::fsync(fd_) != 0) fail("write");
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace");
    ::close(fd_);
    fd_ = -1;
    sync_directory();
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(
        OMEN_IO,
        std::string("cannot ") + what + " '" + target_.string() + "': " + std::strerror(errno),
        "Check that the directory exists, is writable and has room.");
  }
  // The new name survives a power cut only once its directory is on disk; some file systems refuse,
  // which is no error.
  void sync_directory() const {
    const std::filesystem::path parent = target_.has_parent_path() ? target_.parent_path() : ".";
    const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    ::fsync(directory);
    ::close(directory);
  }

  std::filesystem::path target_;
  std::string temporary_;
  int fd_ = -1;
};

// Readers see the old text or the new one, never a part.
inline void replace_file(const std::filesystem::path& path, std::string_view text) {
  PendingFile file(path);
  file.append(text.data(), text.size());
  file.commit();
}

}  // namespace omen

#endif  // OMEN_PENDING_FILE_HPP
