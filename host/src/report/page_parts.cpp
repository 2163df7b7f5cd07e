// SPDX-License-Identifier: Apache-2.0
// Reads the chart library and escapes text for pages.
#include "page_parts.hpp"

#include <fstream>
#include <sstream>

#include "omen/error.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace {

std::string library_in(const std::filesystem::path& share) {
  std::ifstream in(share / "plotly.min.js", std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string chart_library_or_nothing() {
  return library_in(share_directory());
}

std::string chart_library() {
  return chart_library(share_directory());
}

std::string chart_library(const std::filesystem::path& share) {
  std::string text = library_in(share);
  if (text.empty())
    throw Error(OMEN_UNAVAILABLE, "charts need plotly.min.js, which is not in " + share.string(),
                "run ./run.sh once, which fetches it, or set OMEN_EXTRAS_DIR and configure again");
  return text;
}

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_script(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

}  // namespace omen::host
