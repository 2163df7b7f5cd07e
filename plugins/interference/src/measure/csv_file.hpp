// SPDX-License-Identifier: Apache-2.0
// Tables of numbers and texts as CSV files, for people and for `omen data import`.
#pragma once

#include <filesystem>
#include <omen/table.hpp>

namespace omen::interference {

// Numbers with six digits, texts in quotes where they need them. OMEN_IO where it cannot be
// written.
void write_csv(const Table& table, const std::filesystem::path& file);

}  // namespace omen::interference
