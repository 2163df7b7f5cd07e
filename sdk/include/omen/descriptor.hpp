// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself.
#ifndef OMEN_DESCRIPTOR_HPP
#define OMEN_DESCRIPTOR_HPP

#include <unistd.h>

#include <utility>

namespace omen {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const noexcept { return fd_; }
  bool open() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace omen

#endif  // OMEN_DESCRIPTOR_HPP
