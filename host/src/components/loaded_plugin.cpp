// SPDX-License-Identifier: Apache-2.0
// Checks a plugin against its manifest, starts it, and keeps it for ever.
#include "components/loader.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "components/components.hpp"
#include "components/host_services.hpp"
#include "library.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

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

// The CUDA driver and dlopen take locks in opposite orders, so the driver starts before a plugin
// that uses it is opened.
void start_cuda_if_wanted(const Manifest& manifest) {
  const auto wanted = manifest.requirements.find("cuda");
  const bool listed = wanted != manifest.requirements.end();
  const auto needs_cuda = [](const ComponentInfo& c) {
    return (c.caps & OMEN_CAP_NEEDS_CUDA) != 0;
  };
  if (!listed && std::none_of(manifest.components.begin(), manifest.components.end(), needs_cuda))
    return;
  if (!start_cuda_driver() && listed && wanted->second != "optional")
    throw Error(OMEN_UNAVAILABLE,
                "plugin '" + manifest.id + "' needs CUDA " + wanted->second +
                    ", but libcuda.so.1 is missing or finds no device",
                "Run it on a machine with an NVIDIA driver.");
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

// Every plugin that was started, for ever.
struct Loaded {
  std::recursive_mutex mutex;  // init may call other components, which loads them
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

const omen_observe_ext& LoadedPlugin::observe_extension(std::string_view component) const {
  const auto* found = static_cast<const omen_observe_ext*>(extension(OMEN_EXT_OBSERVE));
  if (!found)
    throw Error(OMEN_UNSUPPORTED,
                std::string(component) + " does not learn from single measurements",
                "Train it again with them.");
  return *found;
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
  drop_idle_components();
  if (plugin_->deinit) plugin_->deinit();
}

LoadedPlugin& load_plugin(const Manifest& manifest) {
  const std::string who = "plugin '" + manifest.id + "'";
  check_abi(who, manifest.abi_major, manifest.abi_minor);
  const fs::path path = resolve_library(manifest);
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  if (const auto known = all.plugins.find(path); known != all.plugins.end()) return *known->second;
  check_permissions(manifest, path);
  check_digest(manifest, path);
  start_cuda_if_wanted(manifest);
  const omen_plugin& plugin = open_plugin_library(who, path);
  check_drift(manifest, plugin);
  return *(all.plugins[path] = LoadedPlugin::Access::start(manifest, plugin));
}

}  // namespace omen::host
