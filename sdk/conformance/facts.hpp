// SPDX-License-Identifier: Apache-2.0
// What a plugin says of itself, from plugin.json and from its descriptors, in one comparable shape.
#ifndef OMEN_CONFORMANCE_FACTS_HPP
#define OMEN_CONFORMANCE_FACTS_HPP

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "omen/abi.h"
#include "omen/conformance/conformance.hpp"

namespace omen::conformance {

struct ComponentFacts {
  std::uint32_t kind = 0;
  std::string id;
  // Everything that the manifest repeats from the descriptor, as text: "summary", "caps",
  // "reads", "writes", "cite", "options.hidden.max" ...
  std::map<std::string, std::string> fields;
  std::vector<std::string> caps, reads, writes;
  std::vector<std::string> names;  // that a front end lists; from the manifest alone
  std::string default_model;       // relative to the plugin's directory, or empty

  bool has_cap(std::string_view name) const;
  // Whether a table is read at all, optional or not.
  bool reads_table(std::string_view table) const;
};

struct PluginFacts {
  std::map<std::string, std::string> fields;  // "id", "version", "license", "homepage", "abi"
  std::filesystem::path library;              // as the manifest names it, inside its directory
  std::string library_name, sha256;
  std::uint64_t size = 0;
  std::vector<ComponentFacts> components;

  const ComponentFacts* find(std::uint32_t kind, const std::string& id) const;
};

const char* kind_name(std::uint32_t kind) noexcept;

// Throws OMEN_INVALID_DATA with the field at fault.
PluginFacts facts_from_manifest(const std::filesystem::path& plugin_json);
PluginFacts facts_from_descriptor(const omen_plugin& plugin);
// Commands included.
std::vector<const omen_component*> components_of(const omen_plugin& plugin);

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_FACTS_HPP
