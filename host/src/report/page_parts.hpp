// SPDX-License-Identifier: Apache-2.0
// What every page that Omen writes needs: the chart library, and text that stays text.
#pragma once

#include <filesystem>
#include <string>

namespace omen::host {

// Plotly.js as it lies in the share directory; empty where the set-up did not fetch it.
std::string chart_library_or_nothing();
// The same; OMEN_UNAVAILABLE with a hint where it is missing.
std::string chart_library();
// The same from another directory than the program's own.
std::string chart_library(const std::filesystem::path& share);
// For element content and quoted attributes.
std::string escape_html(const std::string& text);
// JSON inside <script>: neither "</script>" nor "<!--" can end or change it.
std::string escape_script(const std::string& json);

}  // namespace omen::host
