// SPDX-License-Identifier: Apache-2.0
// Reads a document and says line and column of a syntax error.
#include "data/json_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "components/registry.hpp"
#include "tables/byte_window.hpp"
#include "tables/json_node.hpp"

namespace omen::host {
namespace {

std::string file_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || std::filesystem::is_directory(file) || !(text << in.rdbuf()))
    throw Error(OMEN_IO,
                "cannot read '" + file.string() + "': " + std::strerror(in ? EISDIR : errno),
                "Check the path and its permissions.");
  return text.str();
}

Place place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t newline = before.rfind('\n');
  return {std::count(before.begin(), before.end(), '\n') + 1,
          static_cast<std::int64_t>(newline == before.npos ? before.size() + 1
                                                           : before.size() - newline)};
}

nlohmann::json parse(const std::filesystem::path& file, const std::string& text) {
  try {
    // A name twice in one object would silently win over the first.
    std::vector<std::vector<std::string>> seen;
    const auto check = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
      using Event = nlohmann::json::parse_event_t;
      if (event == Event::object_start) seen.emplace_back();
      if (event == Event::object_end) seen.pop_back();
      if (event != Event::key) return true;
      const auto& key = value.get_ref<const std::string&>();
      if (std::find(seen.back().begin(), seen.back().end(), key) != seen.back().end())
        throw Error(OMEN_INVALID_DATA, file.string() + ": '" + key + "' stands twice in one object",
                    "Remove one of them.");
      seen.back().push_back(key);
      return true;
    };
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::parse_error& e) {
    throw Error(
        OMEN_INVALID_DATA,
        to_text(file.string(), place_of(text, e.byte > 0 ? e.byte - 1 : 0)) + ": this is not JSON",
        "Look for a missing comma, quote or bracket there.");
  }
}

}  // namespace

void read_json_file(const std::filesystem::path& file,
                    const std::function<void(const JsonNode& root)>& read) {
  const nlohmann::json document = parse(file, file_text(file));
  try {
    const JsonNode root(document);
    root.expect_object();
    read(root);
  } catch (const Error& e) {
    throw Error(e.code(), file.string() + ": " + e.what(), e.hint());
  }
}

void expect_members(const JsonNode& node, const std::vector<std::string>& known) {
  for (const auto& [key, value] : node.expect_object().items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const auto near = near_names(key, known);
    node.fail("has an unknown member '" + key + "'",
              near.empty() ? "Remove it." : "Did you mean '" + near[0] + "'?");
  }
}

}  // namespace omen::host
