// SPDX-License-Identifier: Apache-2.0
// What a plugin says of itself, from plugin.json and from its descriptors.
#include "facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <nlohmann/json.hpp>

#include "omen/error.hpp"
#include "omen/join.hpp"
#include "omen/reads.hpp"

namespace omen::conformance {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array<const char*, 6> kKinds = {"unknown",   "profiler", "frontend",
                                               "predictor", "scorer",   "command"};
constexpr std::array<const char*, 9> kCaps = {
    "concurrent-predict", "thread-affine",     "needs-cuda",
    "bitwise-repeatable", "seeded-repeatable", "uncertainty",
    "generates",          "warm-start",        "default"};
constexpr std::array<const char*, 7> kTypes = {"?",      "bool",   "int", "real",
                                               "string", "choice", "path"};
constexpr std::array<const char*, 5> kFlags = {"required", "advanced", "deprecated",
                                               "no-effect-on-result", "repeated"};

[[noreturn]] void bad_facts(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, "plugin.json: " + what,
              "Let omen-manifest write it, which omen_add_plugin() does.");
}

const Json& member(const Json& object, const char* key, const std::string& where) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || at == object.end()) bad_facts("'" + where + key + "' is missing");
  return *at;
}

std::string text(const Json& object, const char* key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_string()) bad_facts("'" + where + key + "' is no text");
  return value.get<std::string>();
}

std::string optional_text(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::vector<std::string> texts(const Json& object, const char* key, const std::string& where) {
  std::vector<std::string> list;
  const auto at = object.find(key);
  if (at == object.end()) return list;
  if (!at->is_array()) bad_facts("'" + where + key + "' is no list");
  for (const Json& item : *at) {
    if (!item.is_string()) bad_facts("'" + where + key + "' holds something that is no text");
    list.push_back(item.get<std::string>());
  }
  return list;
}

std::uint64_t whole(const Json& object, const char* key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_number_unsigned()) bad_facts("'" + where + key + "' is no whole number");
  return value.get<std::uint64_t>();
}

std::string number(double value) {
  if (std::isnan(value)) return "";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  return digits;
}

template <std::size_t N>
std::vector<std::string> names_of(std::uint64_t bits, const std::array<const char*, N>& names) {
  std::vector<std::string> set;
  for (std::size_t i = 0; i < N; ++i)
    if (bits >> i & 1) set.emplace_back(names[i]);
  return set;
}

std::string or_empty(const char* value) {
  return value ? value : "";
}

std::vector<std::string> list_of(const char* const* items) {
  std::vector<std::string> list;
  for (; items && *items; ++items) list.emplace_back(*items);
  return list;
}

std::uint32_t kind_from_name(const std::string& name) {
  for (std::uint32_t kind = OMEN_PROFILER; kind <= OMEN_COMMAND; ++kind)
    if (name == kKinds[kind]) return kind;
  bad_facts("kind '" + name + "' is unknown");
}

void add_option(std::map<std::string, std::string>& fields, const Json& option) {
  const std::string key = text(option, "key", "options.");
  const std::string at = "options." + key + ".";
  fields[at + "type"] = text(option, "type", at);
  fields[at + "help"] = optional_text(option, "help");
  fields[at + "unit"] = optional_text(option, "unit");
  fields[at + "default"] = optional_text(option, "default");
  for (const char* bound : {"min", "max"})
    fields[at + bound] = option.contains(bound) && option[bound].is_number()
                             ? number(option[bound].get<double>())
                             : std::string();
  fields[at + "choices"] = join(texts(option, "choices", at));
  fields[at + "flags"] = join(texts(option, "flags", at));
}

void add_option(std::map<std::string, std::string>& fields, const omen_option_spec& option) {
  const std::string at = "options." + or_empty(option.key) + ".";
  fields[at + "type"] = kTypes[option.type <= OMEN_OPT_PATH ? option.type : 0];
  fields[at + "help"] = or_empty(option.help);
  fields[at + "unit"] = or_empty(option.unit);
  fields[at + "default"] = or_empty(option.default_text);
  fields[at + "min"] = number(option.min);
  fields[at + "max"] = number(option.max);
  fields[at + "choices"] = join(list_of(option.choices));
  fields[at + "flags"] = join(names_of(option.flags, kFlags));
}

void finish(ComponentFacts& component) {
  component.fields["caps"] = join(component.caps);
  component.fields["reads"] = join(component.reads);
  component.fields["writes"] = join(component.writes);
}

ComponentFacts component_from(const Json& json) {
  ComponentFacts component;
  component.kind = kind_from_name(text(json, "kind", "components."));
  component.id = text(json, "id", "components.");
  const std::string where = component.id + ".";
  component.fields["summary"] = text(json, "summary", where);
  component.fields["cite"] = optional_text(json, "cite");
  component.caps = texts(json, "caps", where);
  component.reads = texts(json, "reads", where);
  component.names = texts(json, "names", where);
  component.writes = texts(json, "writes", where);
  for (const Json& option : json.value("options", Json::array()))
    add_option(component.fields, option);
  for (const Json& model : json.value("models", Json::array()))
    if (model.is_object() && model.value("default", false))
      component.default_model = text(model, "file", where + "models.");
  finish(component);
  return component;
}

ComponentFacts component_from(const omen_component& c) {
  ComponentFacts component;
  component.kind = c.kind;
  component.id = or_empty(c.id);
  component.fields["summary"] = or_empty(c.summary);
  component.fields["cite"] = or_empty(c.cite);
  component.caps = names_of(c.caps, kCaps);
  component.reads = list_of(c.reads);
  component.writes = list_of(c.writes);
  for (const omen_option_spec* const* o = c.options; o && *o; ++o)
    add_option(component.fields, **o);
  finish(component);
  return component;
}

const Json& platform_entry(const Json& document) {
  const Json& platforms = member(document, "platforms", "");
#if defined(__x86_64__)
  return member(platforms, "linux_amd64", "platforms.");
#else
  return member(platforms, "linux_arm64", "platforms.");
#endif
}

}  // namespace

const char* kind_name(std::uint32_t kind) noexcept {
  return kKinds[kind <= OMEN_COMMAND ? kind : 0];
}

bool ComponentFacts::has_cap(std::string_view name) const {
  return std::find(caps.begin(), caps.end(), name) != caps.end();
}

bool ComponentFacts::reads_table(std::string_view table) const {
  return omen::reads_table(reads, table);
}

const ComponentFacts* PluginFacts::find(std::uint32_t kind, const std::string& id) const {
  for (const ComponentFacts& component : components)
    if (component.kind == kind && component.id == id) return &component;
  return nullptr;
}

PluginFacts facts_from_manifest(const fs::path& plugin_json) {
  std::ifstream in(plugin_json);
  if (!in)
    throw Error(OMEN_IO, "cannot read " + plugin_json.string(),
                "Give a plugin.json or its directory.");
  const Json document = Json::parse(in, nullptr, false);
  if (!document.is_object()) bad_facts("it is no JSON object");
  if (whole(document, "manifest_version", "") != 1) bad_facts("'manifest_version' is not 1");
  PluginFacts facts;
  for (const char* key : {"id", "version", "license"}) facts.fields[key] = text(document, key, "");
  facts.fields["homepage"] = optional_text(document, "homepage");
  const Json& abi = member(document, "abi", "");
  facts.fields["abi"] = std::to_string(whole(abi, "major", "abi.")) + "." +
                        std::to_string(whole(abi, "minor", "abi."));
  const Json& platform = platform_entry(document);
  facts.library_name = text(platform, "library", "platforms.");
  facts.sha256 = text(platform, "sha256", "platforms.");
  facts.size = whole(platform, "size", "platforms.");
  facts.library = plugin_json.parent_path() / facts.library_name;
  const Json& components = member(document, "components", "");
  if (!components.is_array()) bad_facts("'components' is no list");
  for (const Json& component : components) facts.components.push_back(component_from(component));
  return facts;
}

std::vector<const omen_component*> components_of(const omen_plugin& plugin) {
  std::vector<const omen_component*> all;
  for (const omen_component* const* c = plugin.components; c && *c; ++c) all.push_back(*c);
  const void* found = OMEN_HAS(omen_plugin, &plugin, get_extension) && plugin.get_extension
                          ? plugin.get_extension(OMEN_EXT_COMMAND)
                          : nullptr;
  if (const auto* commands = static_cast<const omen_command_ext*>(found))
    for (const omen_component* const* c = commands->commands; c && *c; ++c) all.push_back(*c);
  return all;
}

PluginFacts facts_from_descriptor(const omen_plugin& plugin) {
  PluginFacts facts;
  facts.fields["id"] = or_empty(plugin.id);
  facts.fields["version"] = or_empty(plugin.version);
  facts.fields["license"] = or_empty(plugin.license);
  facts.fields["homepage"] = or_empty(plugin.homepage);
  facts.fields["abi"] = std::to_string(plugin.abi_major) + "." + std::to_string(plugin.abi_minor);
  for (const omen_component* component : components_of(plugin))
    facts.components.push_back(component_from(*component));
  return facts;
}

}  // namespace omen::conformance
