// SPDX-License-Identifier: Apache-2.0
// The host's log: stderr for people, a rotating file per run, or forwarding to the parent process.
#ifndef OMEN_HOST_LOG_HPP
#define OMEN_HOST_LOG_HPP

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "omen/abi.h"

namespace omen::host {

struct LogSettings {
  std::int32_t level = OMEN_LOG_WARN;  // what stderr shows, or what is forwarded
  std::filesystem::path file;          // keeps OMEN_LOG_DEBUG and above; empty: none
  // Takes the place of stderr where set; called by one thread at a time.
  std::function<void(std::int32_t level, std::string_view who, std::string_view message)> forward;
};

// Cheap: the sinks are made by the first message that passes the level. [any-thread]
void configure_log(LogSettings settings);
// Changes only the level. [any-thread]
void set_log_level(std::int32_t level);
// Whether a message of this level is kept anywhere. [any-thread]
bool log_enabled(std::int32_t level) noexcept;
// One line; `who` is a component id, a plugin id, or "omen". [any-thread]
void log(std::int32_t level, std::string_view who, std::string_view message);
void flush_log();
// From now on messages go to `take` alone, as a worker sends them to its host. [any-thread]
using LogTaker =
    std::function<void(std::int32_t level, std::string_view who, std::string_view message)>;
void forward_log(LogTaker take);

}  // namespace omen::host

#endif  // OMEN_HOST_LOG_HPP
