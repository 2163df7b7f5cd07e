// SPDX-License-Identifier: Apache-2.0
// plugin.json: what a plugin says of itself, read without opening its library.
#ifndef OMEN_HOST_MANIFEST_HPP
#define OMEN_HOST_MANIFEST_HPP

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omen/abi.h"
#include "text/words.hpp"

namespace omen::host {

struct OptionInfo {
  std::string key, help, unit;
  std::optional<std::string> default_text;
  std::uint32_t type = OMEN_OPT_STRING;
  std::uint32_t flags = 0;
  double min = std::numeric_limits<double>::quiet_NaN();  // NaN: unbounded on that side
  double max = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> choices;
};

struct ModelInfo {
  std::string name;  // file name without its suffix
  std::string file;  // relative to the plugin's directory
  std::string sha256;
  std::string summary;  // metadata "summary" of the model
  bool is_default = false;
};

struct ComponentInfo {
  std::uint32_t kind = 0;  // OMEN_PROFILER ... OMEN_COMMAND
  std::string id, summary, cite;
  std::uint64_t caps = 0;
  std::vector<std::string> reads, writes;
  std::vector<OptionInfo> options;
  std::vector<ModelInfo> models;
  std::vector<std::string> names;     // what a front end knows without a file
  std::vector<std::string> examples;  // whole command lines, of a command; added by the build

  const ModelInfo* default_model() const noexcept;
  const OptionInfo* option(std::string_view key) const noexcept;
};

// Of a plugin: as the verb likes, or never in the host's process.
enum class Isolation { kDefault, kWorker };
template <>
struct WordTable<Isolation> {
  static constexpr const char* kWords[] = {"default", "worker"};
};

struct Manifest {
  int manifest_version = 1;
  std::string id, version, license, homepage;
  std::uint32_t abi_major = 0, abi_minor = 0;
  std::vector<std::string> platforms;  // every platform that the file offers a library for
  std::string library;                 // file name for this platform; empty where there is none
  std::string sha256;
  std::uint64_t size = 0;
  std::map<std::string, std::string> requirements;  // "requires" in the file
  Isolation isolation = Isolation::kDefault;
  std::vector<std::string> extensions, graph_suffixes;
  std::vector<ComponentInfo> components;
  std::filesystem::path directory;  // where plugin.json lies; not part of the file

  const ComponentInfo* component(std::uint32_t kind, std::string_view id) const noexcept;
  // The id up to the first '-': loadbalance-llvm serves components of the family loadbalance.
  std::string_view family() const noexcept;
};

// "profiler", "frontend", "predictor", "scorer", "command".
const char* kind_name(std::uint32_t kind) noexcept;
std::uint32_t kind_from_name(std::string_view name);  // throws OMEN_INVALID_ARGUMENT with the list
std::vector<std::string> cap_names(std::uint64_t caps);
// "linux_amd64": the key under "platforms" that this build reads.
const char* platform_key() noexcept;

// Names of the option types and flags as they stand in the file: "int", "required".
const char* option_type_name(std::uint32_t type) noexcept;
std::vector<std::string> option_flag_names(std::uint32_t flags);

// Throws OMEN_INVALID_DATA naming the field at fault; unknown fields are ignored.
Manifest parse_manifest(std::string_view json, const std::filesystem::path& directory);
Manifest read_manifest(const std::filesystem::path& plugin_json);
std::string to_json(const Manifest& manifest);

// What the library's own descriptors say: the part of a manifest that must equal the file.
Manifest describe(const omen_plugin& plugin);
// Names of the fields in which the descriptors and the file differ; empty where they agree.
std::vector<std::string> drift(const Manifest& file, const Manifest& descriptors);

}  // namespace omen::host

#endif  // OMEN_HOST_MANIFEST_HPP
