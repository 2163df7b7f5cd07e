// SPDX-License-Identifier: Apache-2.0
// Marks that a job leaves while it is recorded: lines in a file that the environment names.
#ifndef OMEN_TELEMETRY_MARKS_HPP
#define OMEN_TELEMETRY_MARKS_HPP

#include <filesystem>
#include <string>

#include "omen/telemetry/source.hpp"

namespace omen::telemetry {

// A file rather than a socket: it works from any language, out of containers that see the path, and
// when nobody listens. A line is "CLOCK_MONOTONIC_ns name"; appending one line is atomic.
inline constexpr const char* kMarkVariable = "OMEN_MARK_FILE";

// Appends a mark with the time of the call. OMEN_NOT_FOUND where no recording is running (no such
// file), OMEN_INVALID_ARGUMENT for a name that is empty, longer than 100 bytes or has control
// characters.
void write_mark(const std::filesystem::path& file, const std::string& name);

// Rows mark.NAME with the number of the mark as value, at the time that the mark names. Creates the
// file. Names beyond the thousandth distinct one count as mark.other.
SourcePtr make_marks(const Context& context, const std::filesystem::path& file,
                     std::int64_t start_ns);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_MARKS_HPP
