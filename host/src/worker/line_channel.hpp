// SPDX-License-Identifier: Apache-2.0
// Lines of text over a socket, for the control messages between host and worker.
#ifndef OMEN_HOST_SRC_LINE_CHANNEL_HPP
#define OMEN_HOST_SRC_LINE_CHANNEL_HPP

#include <mutex>
#include <optional>
#include <string>

namespace omen::host {

class LineChannel {
 public:
  // Borrows the descriptor.
  explicit LineChannel(int fd) : fd_(fd) {}

  // False when the other side is gone. [any-thread]
  bool send(std::string line);
  // The next line, waiting for it; nothing when the other side is gone or sent a line beyond the
  // limit. [one thread]
  std::optional<std::string> receive();
  // Reads once what is there; false when the other side is gone or sent a line beyond the limit.
  bool fill();
  // A line that has already arrived in full.
  std::optional<std::string> buffered();

 private:
  int fd_;
  std::mutex send_mutex_;
  std::string pending_;
  std::size_t searched_ = 0;
};

}  // namespace omen::host

#endif  // OMEN_HOST_SRC_LINE_CHANNEL_HPP
