// SPDX-License-Identifier: Apache-2.0
// Turns a plugin's descriptors into a manifest, writes it, and compares it with the file.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "components/manifest.hpp"
#include "omen/draft/device_tensors.h"
#include "omen/error.hpp"

namespace omen::host {
namespace {

using nlohmann::ordered_json;

constexpr const char* kPluginExtensions[] = {OMEN_EXT_GRAPH_WRITER, OMEN_EXT_COMMAND,
                                             OMEN_EXT_OBSERVE, OMEN_EXT_NAMES,
                                             OMEN_EXT_DEVICE_TENSORS};

std::string text(const char* value) {
  return value ? value : "";
}

std::string required_text(const char* value, const std::string& what) {
  if (!value || !*value)
    throw Error(OMEN_INVALID_DATA, "plugin misbehaving: " + what + " is empty");
  return value;
}

std::vector<std::string> texts(const char* const* list) {
  std::vector<std::string> out;
  for (; list && *list; ++list) out.emplace_back(*list);
  return out;
}

double finite_or_nan(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN();
}

OptionInfo describe_option(const omen_option_spec& spec, const std::string& component) {
  if (!OMEN_HAS(omen_option_spec, &spec, choices))
    throw Error(OMEN_INVALID_DATA,
                "plugin misbehaving: an option of " + component + " is too short");
  OptionInfo option;
  option.key = required_text(spec.key, "an option key of " + component);
  option.help = text(spec.help);
  option.unit = text(spec.unit);
  if (spec.default_text) option.default_text = spec.default_text;
  option.type = spec.type;
  option.flags = spec.flags;
  option.min = finite_or_nan(spec.min);
  option.max = finite_or_nan(spec.max);
  option.choices = texts(spec.choices);
  return option;
}

ComponentInfo describe_component(const omen_component& c) {
  if (!OMEN_HAS(omen_component, &c, vtable))
    throw Error(OMEN_INVALID_DATA, "plugin misbehaving: a component descriptor is too short");
  ComponentInfo component;
  component.kind = c.kind;
  component.id = required_text(c.id, "a component id");
  component.summary = text(c.summary);
  component.cite = text(c.cite);
  component.caps = c.caps;
  component.reads = texts(c.reads);
  component.writes = texts(c.writes);
  for (const omen_option_spec* const* spec = c.options; spec && *spec; ++spec)
    component.options.push_back(describe_option(**spec, component.id));
  return component;
}

// Each list goes to the front end that it belongs to.
void describe_names(const omen_names_ext& ext, std::vector<ComponentInfo>& components) {
  for (auto* at = ext.frontends; at && *at; ++at) {
    const std::string id = required_text((*at)->component, "a front end with names");
    const auto found =
        std::find_if(components.begin(), components.end(), [&](const ComponentInfo& component) {
          return component.kind == OMEN_GRAPH_FRONTEND && component.id == id;
        });
    if (found == components.end())
      throw Error(OMEN_INVALID_DATA, "plugin misbehaving: it lists names of '" + id +
                                         "', which is no front end of it");
    found->names = texts((*at)->names);
  }
}

ordered_json number(double value) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  if (value == std::floor(value) && std::fabs(value) <= kExactIntegers)
    return static_cast<std::int64_t>(value);
  return value;
}

ordered_json to_json(const OptionInfo& option) {
  ordered_json j = {{"key", option.key}, {"type", option_type_name(option.type)}};
  if (option.default_text) j["default"] = *option.default_text;
  if (!std::isnan(option.min)) j["min"] = number(option.min);
  if (!std::isnan(option.max)) j["max"] = number(option.max);
  if (!option.unit.empty()) j["unit"] = option.unit;
  if (!option.choices.empty()) j["choices"] = option.choices;
  if (option.flags) j["flags"] = option_flag_names(option.flags);
  j["help"] = option.help;
  return j;
}

ordered_json to_json(const ModelInfo& model) {
  ordered_json j = {{"name", model.name}, {"file", model.file}, {"sha256", model.sha256}};
  if (!model.summary.empty()) j["summary"] = model.summary;
  j["default"] = model.is_default;
  return j;
}

ordered_json to_json(const ComponentInfo& component) {
  ordered_json j = {{"kind", kind_name(component.kind)}, {"id", component.id},
                    {"summary", component.summary},      {"caps", cap_names(component.caps)},
                    {"reads", component.reads},          {"writes", component.writes}};
  ordered_json options = ordered_json::array();
  for (const OptionInfo& option : component.options) options.push_back(to_json(option));
  j["options"] = std::move(options);
  ordered_json models = ordered_json::array();
  for (const ModelInfo& model : component.models) models.push_back(to_json(model));
  if (!models.empty()) j["models"] = std::move(models);
  if (!component.names.empty()) j["names"] = component.names;
  if (!component.examples.empty()) j["examples"] = component.examples;
  if (!component.cite.empty()) j["cite"] = component.cite;
  return j;
}

// Only fields that come from the descriptors; models and examples are added by the build.
ordered_json described(const ComponentInfo& component) {
  ordered_json j = to_json(component);
  j.erase("models");
  j.erase("examples");
  return j;
}

void compare_components(const Manifest& file, const Manifest& code, std::vector<std::string>& out) {
  for (const ComponentInfo& mine : code.components) {
    const ComponentInfo* listed = file.component(mine.kind, mine.id);
    if (!listed) {
      out.push_back("components: '" + mine.id + "' is not in the file");
      continue;
    }
    const ordered_json left = described(*listed);
    const ordered_json right = described(mine);
    for (const auto& [key, value] : right.items())
      if (!left.contains(key) || left[key] != value) out.push_back(mine.id + "." + key);
    for (const auto& [key, value] : left.items())
      if (!right.contains(key)) out.push_back(mine.id + "." + key);
  }
  for (const ComponentInfo& listed : file.components)
    if (!code.component(listed.kind, listed.id))
      out.push_back("components: '" + listed.id + "' is not in the library");
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  ordered_json j = {{"manifest_version", manifest.manifest_version},
                    {"id", manifest.id},
                    {"version", manifest.version},
                    {"license", manifest.license}};
  if (!manifest.homepage.empty()) j["homepage"] = manifest.homepage;
  j["abi"] = {{"major", manifest.abi_major}, {"minor", manifest.abi_minor}};
  j["platforms"][platform_key()] = {
      {"library", manifest.library}, {"sha256", manifest.sha256}, {"size", manifest.size}};
  j["requires"] = ordered_json::object();
  for (const auto& [key, value] : manifest.requirements) j["requires"][key] = value;
  j["isolation"] = word_of(manifest.isolation);
  j["extensions"] = manifest.extensions;
  if (!manifest.graph_suffixes.empty()) j["graph_suffixes"] = manifest.graph_suffixes;
  j["components"] = ordered_json::array();
  for (const ComponentInfo& component : manifest.components)
    j["components"].push_back(to_json(component));
  j["signature"] = nullptr;
  return j.dump(2) + "\n";
}

Manifest describe(const omen_plugin& plugin) {
  if (!OMEN_HAS(omen_plugin, &plugin, get_extension))
    throw Error(OMEN_INVALID_DATA, "plugin misbehaving: its descriptor is too short");
  Manifest manifest;
  manifest.id = required_text(plugin.id, "the plugin id");
  manifest.version = required_text(plugin.version, "the plugin version");
  manifest.license = text(plugin.license);
  manifest.homepage = text(plugin.homepage);
  manifest.abi_major = plugin.abi_major;
  manifest.abi_minor = plugin.abi_minor;
  for (auto* at = plugin.components; at && *at; ++at)
    manifest.components.push_back(describe_component(**at));
  if (!plugin.get_extension) return manifest;
  for (const char* id : kPluginExtensions) {
    const void* extension = plugin.get_extension(id);
    if (!extension) continue;
    manifest.extensions.emplace_back(id);
    if (std::strcmp(id, OMEN_EXT_COMMAND) == 0)
      for (auto* at = static_cast<const omen_command_ext*>(extension)->commands; at && *at; ++at)
        manifest.components.push_back(describe_component(**at));
    if (std::strcmp(id, OMEN_EXT_GRAPH_WRITER) == 0)
      manifest.graph_suffixes =
          texts(static_cast<const omen_graph_writer_ext*>(extension)->suffixes);
    if (std::strcmp(id, OMEN_EXT_NAMES) == 0)
      describe_names(*static_cast<const omen_names_ext*>(extension), manifest.components);
  }
  return manifest;
}

std::vector<std::string> drift(const Manifest& file, const Manifest& code) {
  std::vector<std::string> differing;
  const auto compare = [&](const char* field, bool equal) {
    if (!equal) differing.emplace_back(field);
  };
  compare("id", file.id == code.id);
  compare("version", file.version == code.version);
  compare("license", file.license == code.license);
  compare("homepage", file.homepage == code.homepage);
  compare("abi", file.abi_major == code.abi_major && file.abi_minor == code.abi_minor);
  compare("extensions", file.extensions == code.extensions);
  compare("graph_suffixes", file.graph_suffixes == code.graph_suffixes);
  compare_components(file, code, differing);
  return differing;
}

}  // namespace omen::host
