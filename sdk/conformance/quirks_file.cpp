// SPDX-License-Identifier: Apache-2.0
// Reads omen-verify.json, where a plugin says what is particular about it.
#include <fstream>

#include <nlohmann/json.hpp>

#include "omen/conformance/conformance.hpp"
#include "omen/error.hpp"

namespace omen::conformance {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

[[noreturn]] void bad_quirks(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, "omen-verify.json: " + what);
}

std::string as_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

ColumnQuirk column_from(const Json& json, const std::string& where) {
  if (!json.is_object()) bad_quirks("'" + where + "' is no object");
  ColumnQuirk quirk;
  for (const auto& [key, value] : json.items()) {
    if (key == "values")
      quirk.values = value.get<std::vector<std::string>>();
    else if (key == "min")
      quirk.minimum = value.get<double>();
    else if (key == "max")
      quirk.maximum = value.get<double>();
    else if (key == "integer")
      quirk.integer = value.get<bool>();
    else if (key == "width")
      quirk.width = value.get<std::int64_t>();
    else
      bad_quirks("'" + where + "." + key + "' is unknown");
  }
  return quirk;
}

ComponentQuirks component_from(const Json& json, const std::string& where) {
  if (!json.is_object()) bad_quirks("'" + where + "' is no object");
  ComponentQuirks quirks;
  for (const auto& [key, value] : json.items()) {
    if (key == "options")
      for (const auto& [option, text] : value.items()) quirks.options[option] = as_text(text);
    else if (key == "tolerance")
      quirks.tolerance = value.get<double>();
    else if (key == "timeout_factor")
      quirks.timeout_factor = value.get<double>();
    else if (key == "memory_mb")
      quirks.memory_mb = value.get<std::uint64_t>();
    else if (key == "workloads")
      quirks.workloads = value.get<std::int64_t>();
    else if (key == "operations")
      quirks.operations = value.get<std::vector<std::string>>();
    else if (key == "columns")
      for (const auto& [column, text] : value.items())
        quirks.columns[column] = column_from(text, where + ".columns." + column);
    else if (key == "sources")
      for (const Json& source : value) quirks.sources.emplace_back(source.get<std::string>());
    else if (key == "workload")
      quirks.workload_json = value.dump();
    else
      bad_quirks("'" + where + "." + key + "' is unknown");
  }
  return quirks;
}

class FileQuirks final : public PluginQuirks {
 public:
  FileQuirks(fs::path plugin_json, const Json& document) : PluginQuirks(std::move(plugin_json)) {
    if (!document.is_object()) bad_quirks("it is no JSON object");
    for (const auto& [key, value] : document.items()) {
      if (key == "format_version") {
        if (value != 1) bad_quirks("'format_version' is not 1");
      } else if (key == "off") {
        for (const auto& [id, reason] : value.items()) off_[id] = as_text(reason);
      } else if (key == "components") {
        for (const auto& [id, quirks] : value.items()) components_[id] = component_from(quirks, id);
      } else {
        bad_quirks("'" + key + "' is unknown");
      }
    }
  }
  std::optional<std::string> off(const std::string& case_id) const override {
    const auto known = off_.find(case_id);
    return known == off_.end() ? std::nullopt : std::optional(known->second);
  }
  ComponentQuirks component(const std::string& id) const override {
    const auto known = components_.find(id);
    return known == components_.end() ? ComponentQuirks{} : known->second;
  }

 private:
  std::map<std::string, std::string> off_;
  std::map<std::string, ComponentQuirks> components_;
};

}  // namespace

std::unique_ptr<PluginQuirks> quirks_from_file(const fs::path& plugin_json) {
  const fs::path directory = plugin_json.parent_path();
  for (const fs::path& place :
       {directory / "omen-verify.json", directory / "data/omen-verify.json"}) {
    std::ifstream in(place);
    if (!in) continue;
    try {
      return std::make_unique<FileQuirks>(plugin_json, Json::parse(in));
    } catch (const Json::exception& error) {
      bad_quirks(error.what());
    }
  }
  return std::make_unique<PluginQuirks>(plugin_json);
}

}  // namespace omen::conformance
