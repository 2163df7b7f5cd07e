// SPDX-License-Identifier: Apache-2.0
// The host's log: stderr for people and, on demand, a rotating file per run.
#ifndef OMEN_HOST_LOG_HPP
#define OMEN_HOST_LOG_HPP

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "omen/abi.h"

namespace omen::host {

// What stderr shows: messages of this level and above, OMEN_LOG_WARN until told otherwise.
// [any-thread]
void set_log_level(std::int32_t level);
// Also keeps OMEN_LOG_DEBUG and above in a rotating file; an empty path ends that. [any-thread]
void set_log_file(const std::filesystem::path& file);
// Whether a message of this level is kept anywhere. [any-thread]
bool log_enabled(std::int32_t level) noexcept;
// One line; `who` is a component id, a plugin id, or "omen". [any-thread]
void log(std::int32_t level, std::string_view who, std::string_view message);
void flush_log();

}  // namespace omen::host

#endif  // OMEN_HOST_LOG_HPP
