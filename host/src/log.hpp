// SPDX-License-Identifier: Apache-2.0
// The host's log: stderr for people and, on demand, a rotating file per run.
#ifndef OMEN_HOST_LOG_HPP
#define OMEN_HOST_LOG_HPP

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "omen/abi.h"

namespace omen::host {

struct LogSettings {
  std::int32_t level = OMEN_LOG_WARN;  // what stderr shows; a file keeps OMEN_LOG_DEBUG and above
  std::filesystem::path file;          // empty: none
};

// Cheap: the sinks are made by the first message that passes the level. [any-thread]
void configure_log(const LogSettings& settings);
// Makes a message of this level visible somewhere. [any-thread]
bool log_enabled(std::int32_t level) noexcept;
// One line; `who` is a component id, a plugin id, or "omen". [any-thread]
void log(std::int32_t level, std::string_view who, std::string_view message);
void flush_log();

}  // namespace omen::host

#endif  // OMEN_HOST_LOG_HPP
