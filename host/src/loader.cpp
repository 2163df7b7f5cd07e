// SPDX-License-Identifier: Apache-2.0
// Checks a plugin library, opens it and starts the plugin; the only file that knows Boost.DLL.
#include "omen/host/loader.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/host/elf_exports.hpp"
#include "omen/host/host_services.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace dll = boost::dll;
namespace {

constexpr const char* kEntry = "omen_plugin_entry";
constexpr const char* kRebuild = "Build or install the plugin again.";

union AnyTable {
  omen_profiler_vt profiler;
  omen_graph_frontend_vt frontend;
  omen_predictor_vt predictor;
  omen_scorer_vt scorer;
  omen_command_vt command;
};

struct NamedSlot {
  const char* name;
  std::size_t offset;
};

// Slots that a host may call without asking, per kind.
const std::vector<NamedSlot>& required_slots(std::uint32_t kind) {
#define OMEN_SLOT(T, slot) \
  { #slot, offsetof(T, slot) }
  static const std::vector<NamedSlot> kSlots[] = {
      {},
      {OMEN_SLOT(omen_profiler_vt, create), OMEN_SLOT(omen_profiler_vt, destroy),
       OMEN_SLOT(omen_profiler_vt, probe), OMEN_SLOT(omen_profiler_vt, collect)},
      {OMEN_SLOT(omen_graph_frontend_vt, create), OMEN_SLOT(omen_graph_frontend_vt, destroy),
       OMEN_SLOT(omen_graph_frontend_vt, sniff), OMEN_SLOT(omen_graph_frontend_vt, lower)},
      {OMEN_SLOT(omen_predictor_vt, create), OMEN_SLOT(omen_predictor_vt, destroy),
       OMEN_SLOT(omen_predictor_vt, fit), OMEN_SLOT(omen_predictor_vt, predict),
       OMEN_SLOT(omen_predictor_vt, save), OMEN_SLOT(omen_predictor_vt, load)},
      {OMEN_SLOT(omen_scorer_vt, create), OMEN_SLOT(omen_scorer_vt, destroy),
       OMEN_SLOT(omen_scorer_vt, score)},
      {OMEN_SLOT(omen_command_vt, create), OMEN_SLOT(omen_command_vt, destroy),
       OMEN_SLOT(omen_command_vt, run)}};
#undef OMEN_SLOT
  return kSlots[kind <= OMEN_COMMAND ? kind : 0];
}

std::size_t table_size(std::uint32_t kind) {
  constexpr std::size_t kSizes[] = {0,
                                    sizeof(omen_profiler_vt),
                                    sizeof(omen_graph_frontend_vt),
                                    sizeof(omen_predictor_vt),
                                    sizeof(omen_scorer_vt),
                                    sizeof(omen_command_vt)};
  return kind <= OMEN_COMMAND ? kSizes[kind] : 0;
}

// Copies the plugin's table into one of the host's size, and insists on the required slots.
AnyTable widen(const omen_component& component) {
  AnyTable table;
  std::memset(&table, 0, sizeof table);
  const std::string who = "component '" + std::string(component.id) + "'";
  const std::size_t size = table_size(component.kind);
  if (size == 0 || !component.vtable)
    throw Error(OMEN_INVALID_DATA,
                "plugin misbehaving: " + who + " has an unknown kind or no table");
  std::uint32_t written = 0;
  std::memcpy(&written, component.vtable, sizeof written);
  std::memcpy(&table, component.vtable, std::min<std::size_t>(size, written));
  for (const NamedSlot& slot : required_slots(component.kind)) {
    void* function = nullptr;
    std::memcpy(&function, reinterpret_cast<const char*>(&table) + slot.offset, sizeof function);
    if (!function)
      throw Error(OMEN_INVALID_DATA,
                  "plugin misbehaving: " + who + " leaves slot '" + slot.name + "' empty");
  }
  return table;
}

fs::path resolve_library(const Manifest& manifest) {
  const std::string who = "plugin '" + manifest.id + "'";
  if (manifest.library.empty()) {
    std::string offered;
    for (const std::string& platform : manifest.platforms)
      offered += (offered.empty() ? "" : ", ") + platform;
    throw Error(OMEN_UNSUPPORTED,
                who + " has no library for " + platform_key() + "; it offers " +
                    (offered.empty() ? "none" : offered),
                "Build the plugin on this platform.");
  }
  const fs::path relative = manifest.library;
  const bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
  std::error_code error;
  const fs::path directory = fs::canonical(manifest.directory, error);
  const fs::path library =
      error || climbs ? fs::path() : fs::canonical(directory / relative, error);
  if (!climbs && !relative.is_absolute() && error)
    throw Error(
        OMEN_IO,
        who + ": cannot find " + (manifest.directory / relative).string() + ": " + error.message(),
        kRebuild);
  const auto [end, ignored] =
      std::mismatch(directory.begin(), directory.end(), library.begin(), library.end());
  if (climbs || relative.is_absolute() || end != directory.end())
    throw Error(OMEN_INVALID_DATA,
                who + ": library '" + manifest.library + "' lies outside its directory " +
                    manifest.directory.string(),
                "Put the library beside its plugin.json.");
  return library;
}

// A directory with the sticky bit is fine: others cannot replace what is in it.
void check_permissions(const Manifest& manifest, const fs::path& library) {
  for (fs::path at = library;; at = at.parent_path()) {
    struct stat info {};
    if (::stat(at.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) &&
        !(S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX)))
      throw Error(OMEN_INVALID_DATA,
                  "plugin '" + manifest.id + "': anyone may write to " + at.string(),
                  "Run: chmod o-w " + at.string());
    if (at == at.parent_path()) return;
  }
}

void check_digest(const Manifest& manifest, const fs::path& library) {
  const std::string digest = container::sha256_file(library);
  if (digest != manifest.sha256)
    throw Error(OMEN_INVALID_DATA,
                "plugin '" + manifest.id + "': " + library.filename().string() + " has sha256 " +
                    digest.substr(0, 12) + ", its manifest pins " + manifest.sha256.substr(0, 12),
                "The library changed after its manifest was written. " + std::string(kRebuild));
}

void check_export(const std::string& who, const fs::path& library) {
  const std::vector<std::string> symbols = exported_symbols(library);
  if (std::find(symbols.begin(), symbols.end(), kEntry) == symbols.end())
    throw Error(OMEN_INVALID_DATA,
                who + ": " + library.filename().string() + " does not export " + kEntry,
                "Define it with OMEN_PLUGIN(...) and build with omen_add_plugin().");
}

dll::shared_library open_library(const std::string& who, const fs::path& path) {
  try {
    return dll::shared_library(path, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (const std::exception& e) {  // the throwing constructor carries the text of dlerror()
    throw Error(OMEN_UNAVAILABLE, who + " cannot be opened: " + e.what(),
                "Install the missing library; omen doctor says what each plugin needs.");
  }
}

// The CUDA driver and dlopen take locks in opposite orders, so the driver starts before a plugin
// that uses it is opened.
void start_cuda_driver(const Manifest& manifest) {
  const auto wanted = manifest.requirements.find("cuda");
  const bool required = wanted != manifest.requirements.end() && wanted->second != "optional";
  const bool uses =
      wanted != manifest.requirements.end() ||
      std::any_of(manifest.components.begin(), manifest.components.end(),
                  [](const ComponentInfo& c) { return c.caps & OMEN_CAP_NEEDS_CUDA; });
  if (!uses) return;
  static const bool started = [] {
    boost::dll::fs::error_code error;
    static auto* const driver = new dll::shared_library;  // stays open for ever
    driver->load("libcuda.so.1", error,
                 dll::load_mode::rtld_now | dll::load_mode::rtld_local |
                     dll::load_mode::search_system_folders);
    return !error && driver->has("cuInit") && driver->get<int(unsigned)>("cuInit")(0) == 0;
  }();
  if (required && !started)
    throw Error(
        OMEN_UNAVAILABLE,
        "plugin '" + manifest.id + "' needs a CUDA driver and a device; libcuda.so.1 offers none",
        "Run it on a machine with an NVIDIA driver.");
}

const omen_plugin& call_entry(const std::string& who, const dll::shared_library& library) {
  const auto entry = library.get<const omen_plugin*(std::uint32_t, std::uint32_t)>(kEntry);
  const omen_plugin* plugin = entry(OMEN_ABI_MAJOR, OMEN_ABI_MINOR);
  const std::string host = std::to_string(OMEN_ABI_MAJOR) + "." + std::to_string(OMEN_ABI_MINOR);
  if (!plugin)
    throw Error(OMEN_UNSUPPORTED,
                who + " was built for another ABI major and refuses this host, which has " + host,
                "Build the plugin against the SDK of this omen.");
  const std::string theirs =
      std::to_string(plugin->abi_major) + "." + std::to_string(plugin->abi_minor);
  if (plugin->abi_major != OMEN_ABI_MAJOR)
    throw Error(
        OMEN_UNSUPPORTED,
        who + " has ABI " + theirs + ", this host has " + host + "; the majors must be equal",
        "Build the plugin against the SDK of this omen.");
  if (plugin->abi_minor > OMEN_ABI_MINOR)
    throw Error(OMEN_UNSUPPORTED, who + " has ABI " + theirs + ", newer than this host's " + host,
                "Use an omen as new as the plugin.");
  return *plugin;
}

void check_drift(const Manifest& manifest, const omen_plugin& plugin) {
  std::string fields;
  for (const std::string& field : drift(manifest, describe(plugin)))
    fields += (fields.empty() ? "" : ", ") + field;
  if (!fields.empty())
    throw Error(OMEN_INVALID_DATA,
                "plugin '" + manifest.id + "': plugin.json differs from the library in " + fields,
                "Write the manifest again with omen-manifest.");
}

// Keeps everything that was ever opened reachable, so that leak checkers stay quiet and nothing is
// unloaded.
struct Loaded {
  std::mutex mutex;
  std::vector<dll::shared_library> libraries;
  std::map<fs::path, std::unique_ptr<LoadedPlugin>> plugins;
};

Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

}  // namespace

struct LoadedPlugin::Tables {
  std::map<std::pair<std::uint32_t, std::string>, std::pair<const omen_component*, AnyTable>> by_id;

  void add(const omen_component* const* list) {
    for (; list && *list; ++list) by_id[{(*list)->kind, (*list)->id}] = {*list, widen(**list)};
  }
};

struct LoadedPlugin::Access {
  static std::unique_ptr<LoadedPlugin> start(const Manifest& manifest, const omen_plugin& plugin) {
    auto made = std::make_unique<LoadedPlugin>();
    made->manifest_ = manifest;
    made->plugin_ = &plugin;
    made->tables_->add(plugin.components);
    if (const auto* commands =
            static_cast<const omen_command_ext*>(made->extension(OMEN_EXT_COMMAND)))
      made->tables_->add(commands->commands);
    made->services_ = std::make_unique<HostServices>(manifest);
    if (plugin.init) {
      try {
        ErrorOut error;
        error.check(plugin.init(made->services_->c(), error));
      } catch (const Error& e) {
        throw Error(e.code(), "plugin '" + manifest.id + "' failed to start: " + e.what(), e.hint(),
                    e.details_json());
      }
    }
    made->initialised_ = true;
    return made;
  }
};

LoadedPlugin::LoadedPlugin() : tables_(std::make_unique<Tables>()) {}
LoadedPlugin::~LoadedPlugin() = default;

const void* LoadedPlugin::extension(const char* id) const {
  return plugin_->get_extension ? plugin_->get_extension(id) : nullptr;
}

const omen_component& LoadedPlugin::component(std::uint32_t kind, std::string_view id) const {
  const auto found = tables_->by_id.find({kind, std::string(id)});
  if (found == tables_->by_id.end())
    throw Error(
        OMEN_NOT_FOUND,
        "plugin '" + manifest_.id + "' has no " + kind_name(kind) + " '" + std::string(id) + "'",
        "See what it has with: omen info " + manifest_.id);
  return *found->second.first;
}

const void* LoadedPlugin::table(std::uint32_t kind, std::string_view id) const {
  component(kind, id);
  return &tables_->by_id.at({kind, std::string(id)}).second;
}

void LoadedPlugin::deinit() {
  if (!std::exchange(initialised_, false)) return;
  if (plugin_->deinit) plugin_->deinit();
}

LoadedPlugin& load_plugin(const Manifest& manifest) {
  const std::string who = "plugin '" + manifest.id + "'";
  const fs::path path = resolve_library(manifest);
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  if (const auto known = all.plugins.find(path); known != all.plugins.end()) return *known->second;
  check_permissions(manifest, path);
  check_digest(manifest, path);
  check_export(who, path);
  start_cuda_driver(manifest);
  const dll::shared_library& library = all.libraries.emplace_back(open_library(who, path));
  const omen_plugin& plugin = call_entry(who, library);
  check_drift(manifest, plugin);
  return *(all.plugins[path] = LoadedPlugin::Access::start(manifest, plugin));
}

Manifest describe_library(const fs::path& path) {
  const std::string who = path.filename().string();
  check_export(who, path);
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  const dll::shared_library& library =
      all.libraries.emplace_back(open_library(who, fs::absolute(path)));
  Manifest manifest = describe(call_entry(who, library));
  manifest.library = path.filename().string();
  manifest.sha256 = container::sha256_file(path);
  manifest.size = fs::file_size(path);
  return manifest;
}

}  // namespace omen::host
