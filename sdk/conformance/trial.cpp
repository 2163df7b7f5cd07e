// SPDX-License-Identifier: Apache-2.0
// One run of one case.
#include "trial.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace omen::conformance {
namespace {

// For kits without a host: no extensions, and a log that nobody reads.
const omen_host& plain_host() {
  static const omen_host host = [] {
    omen_host h{};
    h.struct_size = sizeof h;
    h.abi_major = OMEN_ABI_MAJOR;
    h.abi_minor = OMEN_ABI_MINOR;
    h.name = "omen conformance kit";
    h.version = "0.1.0";
    h.get_extension = [](const omen_host*, const char*) -> const void* { return nullptr; };
    h.log_enabled = [](const omen_host*, std::int32_t) { return false; };
    h.log = [](const omen_host*, std::int32_t, const char*, const char*) {};
    return h;
  }();
  return host;
}

[[noreturn]] void bad_value(const omen_option_spec& spec, const std::string& text) {
  throw Error(OMEN_INVALID_ARGUMENT,
              "'" + text + "' is no value for option '" + std::string(spec.key) + "'");
}

// A library whose constructors throw ends the process, because the linker's frames cannot be
// unwound. A direct call of dlopen counts as one that never throws, and clang then lets the
// exception through.
void* open_library(const char* path) noexcept {
  void* (*volatile const open)(const char*, int) = &dlopen;
  return open(path, RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

OptionSet::OptionSet(const omen_component& component) : component_(component) {
  for (const omen_option_spec* const* o = component.options; o && *o; ++o) {
    if ((*o)->default_text)
      values_.push_back(parse(**o, (*o)->default_text));
    else if ((*o)->flags & OMEN_OPTF_REQUIRED)
      values_.push_back(parse(**o, "1"));
  }
}

const omen_option_spec* OptionSet::spec(const std::string& key) const {
  for (const omen_option_spec* const* o = component_.options; o && *o; ++o)
    if (key == (*o)->key) return *o;
  return nullptr;
}

omen_option OptionSet::parse(const omen_option_spec& spec, const std::string& text) {
  omen_option value{};
  value.key = spec.key;
  value.type = spec.type;
  char* end = nullptr;
  errno = 0;
  switch (spec.type) {
    case OMEN_OPT_BOOL:
      if (text != "true" && text != "false" && text != "1" && text != "0") bad_value(spec, text);
      value.i = text == "true" || text == "1";
      break;
    case OMEN_OPT_INT:
      value.i = std::strtoll(text.c_str(), &end, 10);
      if (text.empty() || *end || errno) bad_value(spec, text);
      break;
    case OMEN_OPT_REAL:
      value.r = std::strtod(text.c_str(), &end);
      if (text.empty() || *end) bad_value(spec, text);
      break;
    default:
      value.s = texts_.emplace_back(text).c_str();
  }
  return value;
}

void OptionSet::set(const std::string& key, const std::string& text) {
  const omen_option_spec* known = spec(key);
  if (!known)
    throw Error(OMEN_INVALID_ARGUMENT, "component has no option '" + key + "'",
                "Correct omen-verify.json.");
  const omen_option value = parse(*known, text);
  for (omen_option& present : values_)
    if (key == present.key) {
      present = value;
      return;
    }
  values_.push_back(value);
}

Trial::Trial(const PluginQuirks& quirks, const Environment& environment, std::string component,
             std::uint32_t kinds)
    : quirks_(quirks),
      environment_(environment),
      component_id_(std::move(component)),
      kinds_(kinds) {
  if (!component_id_.empty()) component_quirks_ = quirks.component(component_id_);
}

const PluginFacts& Trial::manifest() {
  if (!manifest_) manifest_ = facts_from_manifest(quirks_.plugin_json());
  return *manifest_;
}

void* Trial::library() {
  if (library_) return library_;
  // Kept open for ever, as the host does.
  library_ = open_library(manifest().library.c_str());
  if (!library_) fail(std::string("library does not open: ") + dlerror());
  return library_;
}

omen_plugin_entry_fn Trial::entry() {
  void* symbol = dlsym(library(), "omen_plugin_entry");
  if (!symbol) fail("library exports no omen_plugin_entry");
  omen_plugin_entry_fn function = nullptr;
  std::memcpy(&function, &symbol, sizeof function);
  return function;
}

const omen_plugin& Trial::descriptor() {
  const omen_plugin_entry_fn function = entry();
  const omen_plugin* plugin =
      across("the entry", [&] { return function(OMEN_ABI_MAJOR, OMEN_ABI_MINOR); });
  if (!plugin) skip("entry gives no descriptor for this ABI; see binary.right-major");
  if (plugin->abi_major != OMEN_ABI_MAJOR)
    skip("descriptor is for ABI major " + std::to_string(plugin->abi_major) +
         "; see binary.right-major");
  return *plugin;
}

const omen_plugin& Trial::plugin() {
  const omen_plugin& plugin = descriptor();
  if (initialised_) return plugin;
  initialised_ = true;
  if (!plugin.init) return plugin;
  ErrorOut error;
  const omen_status status = across("init", [&] {
    return plugin.init(environment_.host ? environment_.host : &plain_host(), error);
  });
  try {
    error.check(status);
  } catch (const Error& e) {
    if (e.code() == OMEN_UNAVAILABLE) skip(std::string("init: ") + e.what());
    fail(std::string("init failed: ") + e.what());
  }
  return plugin;
}

const omen_component& Trial::component() {
  for (const omen_component* found : components_of(plugin()))
    if (found->id && component_id_ == found->id && kinds_ >> found->kind & 1) return *found;
  skip("library has no component '" + component_id_ + "'; see manifest.descriptors");
}

const ComponentFacts& Trial::facts() {
  for (const ComponentFacts& facts : manifest().components)
    if (facts.id == component_id_ && kinds_ >> facts.kind & 1) return facts;
  skip("manifest has no component '" + component_id_ + "'");
}

}  // namespace omen::conformance
