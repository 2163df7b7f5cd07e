// SPDX-License-Identifier: Apache-2.0
// Charts: the host alone writes them, from a Plotly figure and the table behind it.
#ifndef OMEN_HOST_FIGURE_HPP
#define OMEN_HOST_FIGURE_HPP

#include <filesystem>
#include <string>

#include "omen/table.hpp"

namespace omen::host {

// Writes <directory>/<name>.html, self-contained, and <name>.csv where the table has columns.
void write_figure(const std::filesystem::path& directory, const std::string& name,
                  const std::string& plotly_json, const Table& table);

}  // namespace omen::host

#endif  // OMEN_HOST_FIGURE_HPP
