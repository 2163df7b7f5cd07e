// SPDX-License-Identifier: Apache-2.0
// Cases about plugin.json: it can be read, is true, and says what a user needs.
#include <algorithm>
#include <set>

#include "omen/container.hpp"
#include "synthetic.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

constexpr std::size_t kSummaryLength = 80;

void schema(Trial& trial) {
  try {
    trial.manifest();
  } catch (const Error& error) {
    fail(error.what());
  }
}

void digest(Trial& trial) {
  const PluginFacts& manifest = trial.manifest();
  std::error_code failed;
  const auto size = std::filesystem::file_size(manifest.library, failed);
  require(!failed, "library " + manifest.library_name + " is missing");
  require(size == manifest.size, "library has " + std::to_string(size) +
                                     " bytes, the manifest says " + std::to_string(manifest.size));
  require(container::sha256_file(manifest.library) == manifest.sha256,
          "sha256 of the library is not the one in the manifest");
}

void same_fields(const std::map<std::string, std::string>& file,
                 const std::map<std::string, std::string>& binary, const std::string& of) {
  std::set<std::string> keys;
  for (const auto& [key, value] : file) keys.insert(key);
  for (const auto& [key, value] : binary) keys.insert(key);
  for (const std::string& key : keys) {
    const auto a = file.find(key), b = binary.find(key);
    const std::string in_file = a == file.end() ? "nothing" : "'" + a->second + "'";
    const std::string in_binary = b == binary.end() ? "nothing" : "'" + b->second + "'";
    require(in_file == in_binary,
            of + key + " is " + in_file + " in the manifest and " + in_binary + " in the library");
  }
}

void descriptors(Trial& trial) {
  const PluginFacts& file = trial.manifest();
  const PluginFacts binary = facts_from_descriptor(trial.descriptor());
  same_fields(file.fields, binary.fields, "");
  for (const ComponentFacts& component : file.components) {
    const ComponentFacts* real = binary.find(component.kind, component.id);
    require(real != nullptr, std::string("the library has no ") + kind_name(component.kind) + " '" +
                                 component.id + "'");
    same_fields(component.fields, real->fields, component.id + ": ");
  }
  for (const ComponentFacts& component : binary.components)
    require(file.find(component.kind, component.id) != nullptr,
            "the manifest leaves out " + component.id);
}

void units(Trial& trial) {
  static const std::set<std::string> kKnown = {
      "s",      "ms",      "us",   "ns",    "J",     "mJ",  "Wh",    "W",    "mW",
      "B",      "KB",      "MB",   "GB",    "%",     "1",   "",      "Hz",   "V",
      "A",      "C",       "degC", "count", "items", "MHz", "GHz",   "FLOP", "GFLOP",
      "FLOP/s", "GFLOP/s", "B/s",  "MB/s",  "GB/s",  "1/s", "class", "USD",  "mm2"};
  for (const ComponentFacts& component : trial.manifest().components) {
    if (component.kind != OMEN_PREDICTOR) continue;
    for (const std::string& entry : component.writes) {
      if (entry == "*") continue;
      const TargetSpec target = targets_of(component)[static_cast<std::size_t>(
          std::find(component.writes.begin(), component.writes.end(), entry) -
          component.writes.begin())];
      if (!kKnown.count(target.unit))
        trial.warn(component.id + " writes " + target.name + " in '" + target.unit +
                   "', a unit that is not known here");
      require(
          target.direction.empty() || target.direction == "lower" || target.direction == "higher",
          component.id + ": direction of " + target.name + " is '" + target.direction +
              "', not lower or higher");
    }
  }
}

void summaries(Trial& trial) {
  for (const ComponentFacts& component : trial.manifest().components) {
    const std::string& summary = component.fields.at("summary");
    require(!summary.empty(), component.id + " has no summary");
    require(summary.size() <= kSummaryLength, "summary of " + component.id + " has " +
                                                  std::to_string(summary.size()) +
                                                  " characters, more than 80");
    const std::string family =
        trial.manifest().fields.at("id").substr(0, trial.manifest().fields.at("id").find('-'));
    require(component.id.rfind(family + ".", 0) == 0,
            "id " + component.id + " does not start with '" + family + ".'");
  }
}

}  // namespace

std::vector<Case> manifest_cases() {
  return {
      {"manifest.schema", "plugin.json is of a known version and has every required field.", 1, 10,
       0, nullptr, schema, false},
      {"manifest.digest", "size and sha256 in plugin.json are those of the library.", 1, 20, 0,
       nullptr, digest, false},
      {"manifest.descriptors", "plugin.json says what the library's descriptors say.", 1, 20, 0,
       nullptr, descriptors},
      {"manifest.units", "targets have a known unit and a direction.", 1, 10, 0, nullptr, units,
       false},
      {"manifest.summaries",
       "every component has a summary of at most 80 characters and an id of its plugin.", 1, 10, 0,
       nullptr, summaries, false},
  };
}

}  // namespace omen::conformance
