// SPDX-License-Identifier: Apache-2.0
// Reads plugin.json and checks every field that the host relies on.
#include "components/manifest.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "omen/join.hpp"
#include "tables/json_node.hpp"

namespace omen::host {
namespace {

using nlohmann::json;

constexpr int kManifestVersion = 1;
constexpr std::size_t kMaxManifestBytes = std::size_t{4} << 20;

constexpr std::array<const char*, 6> kKindNames = {"",          "profiler", "frontend",
                                                   "predictor", "scorer",   "command"};
constexpr std::array<const char*, 7> kTypeNames = {"",       "bool",   "int", "real",
                                                   "string", "choice", "path"};
constexpr std::array<const char*, 9> kCapNames = {
    "concurrent-predict", "thread-affine",     "needs-cuda",
    "bitwise-repeatable", "seeded-repeatable", "uncertainty",
    "generates",          "warm-start",        "default"};
constexpr std::array<const char*, 5> kFlagNames = {"required", "advanced", "deprecated",
                                                   "no-effect-on-result", "repeated"};

template <std::size_t N>
std::vector<std::string> bit_names(std::uint64_t bits, const std::array<const char*, N>& names) {
  std::vector<std::string> set;
  for (std::size_t i = 0; i < N; ++i)
    if (bits >> i & 1) set.emplace_back(names[i]);
  return set;
}

// Names of a newer minor are ignored: a host may only use what it knows.
template <std::size_t N>
std::uint64_t bits_of(const std::vector<std::string>& names,
                      const std::array<const char*, N>& known) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < N; ++i)
    if (std::find(names.begin(), names.end(), known[i]) != names.end())
      bits |= std::uint64_t{1} << i;
  return bits;
}

using Node = JsonNode;

bool is_identifier(std::string_view text, std::string_view extra) {
  if (text.empty() || !std::islower(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return std::islower(static_cast<unsigned char>(c)) ||
           std::isdigit(static_cast<unsigned char>(c)) || extra.find(c) != extra.npos;
  });
}

OptionInfo parse_option(const Node& node) {
  OptionInfo option;
  option.key = node.text("key");
  if (!is_identifier(option.key, "_")) node.at("key").fail("is not snake_case");
  const std::string& type = node.text("type");
  const auto known = std::find(kTypeNames.begin() + 1, kTypeNames.end(), type);
  if (known == kTypeNames.end())
    node.at("type").fail("is '" + type + "'; known: " + join(std::span(kTypeNames).subspan(1)));
  option.type = static_cast<std::uint32_t>(known - kTypeNames.begin());
  option.help = node.text_or("help", "");
  option.unit = node.text_or("unit", "");
  if (node.has("default")) option.default_text = node.text("default");
  option.flags = static_cast<std::uint32_t>(bits_of(node.texts("flags"), kFlagNames));
  option.min = node.number_or_nan("min");
  option.max = node.number_or_nan("max");
  option.choices = node.texts("choices");
  if (option.type == OMEN_OPT_CHOICE && option.choices.empty()) node.fail("is a choice of nothing");
  return option;
}

ModelInfo parse_model(const Node& node) {
  ModelInfo model;
  model.name = node.text("name");
  model.file = node.text("file");
  model.sha256 = node.digest("sha256");
  model.summary = node.text_or("summary", "");
  model.is_default = node.flag("default");
  return model;
}

ComponentInfo parse_component(const Node& node, std::string_view family) {
  ComponentInfo component;
  const std::string& kind = node.text("kind");
  const auto known = std::find(kKindNames.begin() + 1, kKindNames.end(), kind);
  if (known == kKindNames.end())
    node.at("kind").fail("is '" + kind + "'; known: " + join(std::span(kKindNames).subspan(1)));
  component.kind = static_cast<std::uint32_t>(known - kKindNames.begin());
  component.id = node.text("id");
  const std::string prefix = std::string(family) + ".";
  if (!component.id.starts_with(prefix) || component.id.size() == prefix.size() ||
      !is_identifier(component.id, "._-"))
    node.at("id").fail("is '" + component.id + "'; expected '" + prefix + "<name>' in lower case");
  component.summary = node.text_or("summary", "");
  component.cite = node.text_or("cite", "");
  component.caps = bits_of(node.texts("caps"), kCapNames);
  component.reads = node.texts("reads");
  component.writes = node.texts("writes");
  for (const Node& item : node.items("options")) {
    OptionInfo option = parse_option(item);
    if (component.option(option.key)) item.at("key").fail("repeats '" + option.key + "'");
    component.options.push_back(std::move(option));
  }
  for (const Node& item : node.items("models")) component.models.push_back(parse_model(item));
  component.names = node.texts("names");
  component.examples = node.texts("examples");
  return component;
}

void parse_platform(const Node& root, Manifest& manifest) {
  const Node platforms = root.at("platforms");
  for (const auto& [key, value] : platforms.expect_object().items())
    manifest.platforms.push_back(key);
  if (!platforms.has(platform_key())) return;
  const Node mine = platforms.at(platform_key());
  manifest.library = mine.text("library");
  if (manifest.library.empty()) mine.at("library").fail("is empty");
  manifest.sha256 = mine.digest("sha256");
  manifest.size = mine.natural<std::uint64_t>("size");
}

Manifest parse_root(const Node& root) {
  Manifest manifest;
  manifest.manifest_version = root.natural<int>("manifest_version");
  if (manifest.manifest_version != kManifestVersion)
    throw Error(OMEN_UNSUPPORTED,
                "manifest_version is " + std::to_string(manifest.manifest_version) +
                    "; this omen reads " + std::to_string(kManifestVersion),
                "Use an omen as new as the plugin.");
  manifest.id = root.text("id");
  if (!is_identifier(manifest.id, "_-"))
    root.at("id").fail("is '" + manifest.id + "'; expected lower-case letters, digits, '_' or '-'");
  manifest.version = root.text("version");
  manifest.license = root.text_or("license", "");
  manifest.homepage = root.text_or("homepage", "");
  const Node abi = root.at("abi");
  manifest.abi_major = abi.natural<std::uint32_t>("major");
  manifest.abi_minor = abi.natural<std::uint32_t>("minor");
  parse_platform(root, manifest);
  if (root.has("requires")) {
    const Node list = root.at("requires");
    for (const auto& [key, value] : list.expect_object().items())
      manifest.requirements[key] = list.text(key.c_str());
  }
  const std::string isolation = root.text_or("isolation", word_of(Isolation::kDefault));
  const auto known = from_word<Isolation>(isolation);
  if (!known) root.at("isolation").fail("is '" + isolation + "'; known: default, worker");
  manifest.isolation = *known;
  manifest.extensions = root.texts("extensions");
  manifest.graph_suffixes = root.texts("graph_suffixes");
  root.at("components");  // must be there, though it may be empty
  for (const Node& item : root.items("components")) {
    ComponentInfo component = parse_component(item, manifest.family());
    if (manifest.component(component.kind, component.id))
      item.at("id").fail("repeats the " + std::string(kind_name(component.kind)) + " '" +
                         component.id + "'");
    manifest.components.push_back(std::move(component));
  }
  return manifest;
}

std::string read_file(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    const std::string why = fd < 0 ? std::strerror(errno) : "not a file";
    if (fd >= 0) ::close(fd);
    throw Error(OMEN_IO, "cannot read " + path.string() + ": " + why);
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > kMaxManifestBytes) {
    ::close(fd);
    throw Error(OMEN_INVALID_DATA, path.string() + " has " + std::to_string(size) +
                                       " bytes; a manifest has at most " +
                                       std::to_string(kMaxManifestBytes));
  }
  std::string text(size, '\0');
  std::size_t done = 0;
  for (ssize_t got = 1; got > 0 && done < size; done += static_cast<std::size_t>(got))
    if ((got = ::read(fd, text.data() + done, size - done)) < 0) got = 0;
  ::close(fd);
  text.resize(done);
  return text;
}

}  // namespace

const ModelInfo* ComponentInfo::default_model() const noexcept {
  for (const ModelInfo& model : models)
    if (model.is_default) return &model;
  return nullptr;
}

const OptionInfo* ComponentInfo::option(std::string_view key) const noexcept {
  for (const OptionInfo& option : options)
    if (option.key == key) return &option;
  return nullptr;
}

const ComponentInfo* Manifest::component(std::uint32_t kind,
                                         std::string_view wanted) const noexcept {
  for (const ComponentInfo& component : components)
    if (component.kind == kind && component.id == wanted) return &component;
  return nullptr;
}

std::string_view Manifest::family() const noexcept {
  return std::string_view(id).substr(0, id.find('-'));
}

const char* kind_name(std::uint32_t kind) noexcept {
  return kind >= OMEN_PROFILER && kind <= OMEN_COMMAND ? kKindNames[kind] : "unknown";
}

std::uint32_t kind_from_name(std::string_view name) {
  const auto known = std::find(kKindNames.begin() + 1, kKindNames.end(), name);
  if (known != kKindNames.end()) return static_cast<std::uint32_t>(known - kKindNames.begin());
  throw Error(OMEN_INVALID_ARGUMENT, "unknown kind '" + std::string(name) + "'",
              "Use one of: " + join(std::span(kKindNames).subspan(1)) + ".");
}

std::vector<std::string> cap_names(std::uint64_t caps) {
  return bit_names(caps, kCapNames);
}

const char* option_type_name(std::uint32_t type) noexcept {
  return type >= OMEN_OPT_BOOL && type <= OMEN_OPT_PATH ? kTypeNames[type] : "unknown";
}

std::vector<std::string> option_flag_names(std::uint32_t flags) {
  return bit_names(flags, kFlagNames);
}

const char* platform_key() noexcept {
#if defined(__x86_64__)
  return "linux_amd64";
#elif defined(__aarch64__)
  return "linux_arm64";
#else
#error "name this platform before building plugins for it"
#endif
}

Manifest parse_manifest(std::string_view text, const std::filesystem::path& directory) {
  json document;
  try {
    document = json::parse(text.begin(), text.end());
  } catch (const json::exception& e) {
    throw Error(OMEN_INVALID_DATA, std::string("plugin.json is not valid JSON: ") + e.what());
  }
  if (!document.is_object()) throw Error(OMEN_INVALID_DATA, "plugin.json is not a JSON object");
  Manifest manifest = parse_root(Node(document));
  manifest.directory = directory;
  return manifest;
}

Manifest read_manifest(const std::filesystem::path& plugin_json) {
  const std::string text = read_file(plugin_json);
  try {
    return parse_manifest(text, plugin_json.parent_path());
  } catch (const Error& e) {
    const std::string hint =
        e.hint().empty() ? "Build the plugin again: omen-manifest writes this file." : e.hint();
    throw Error(e.code(), plugin_json.string() + ": " + e.what(), hint);
  }
}

}  // namespace omen::host
