// SPDX-License-Identifier: Apache-2.0
// Lines of text over a socket.
#include "line_channel.hpp"

#include <array>
#include <cerrno>

#include <sys/socket.h>

namespace omen::host {
namespace {

constexpr std::size_t kLongestMessage = std::size_t{64} << 20;

}  // namespace

bool LineChannel::send(std::string line) {
  line += '\n';
  const std::lock_guard lock(send_mutex_);
  std::size_t sent = 0;
  while (sent < line.size()) {
    // MSG_NOSIGNAL: a dead peer is an answer, not a SIGPIPE.
    const ssize_t put = ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (put > 0)
      sent += static_cast<std::size_t>(put);
    else if (errno != EINTR)
      return false;
  }
  return true;
}

std::optional<std::string> LineChannel::buffered() {
  const auto end = pending_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = pending_.size();
    return std::nullopt;
  }
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

bool LineChannel::fill() {
  if (pending_.size() > kLongestMessage) return false;
  std::array<char, 65536> buffer;
  ssize_t got;
  do got = recv(fd_, buffer.data(), buffer.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  pending_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> LineChannel::receive() {
  for (;;) {
    if (std::optional<std::string> line = buffered()) return line;
    if (!fill()) return std::nullopt;
  }
}

}  // namespace omen::host
