// SPDX-License-Identifier: Apache-2.0
// Resolves plugin and component ids to manifests; never opens libraries.
#include "components/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "components/elf_exports.hpp"
#include "omen/near_names.hpp"
#include "worker/worker.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

void add_place(std::vector<SearchPlace>& places, const fs::path& directory, const char* origin,
               bool own = false) {
  if (directory.empty()) return;
  std::error_code ignored;
  const fs::path canonical = fs::weakly_canonical(directory, ignored);
  const fs::path& shown = canonical.empty() ? directory : canonical;
  for (SearchPlace& place : places)
    if (place.directory == shown) {
      place.own |= own;
      return;
    }
  places.push_back({shown, origin, fs::is_directory(shown, ignored), own});
}

void add_list(std::vector<SearchPlace>& places, std::string_view list, const char* origin) {
  while (!list.empty()) {
    const std::size_t end = list.find(':');
    add_place(places, fs::path(list.substr(0, end)), origin);
    list = end == list.npos ? std::string_view{} : list.substr(end + 1);
  }
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

// Plugin directories of one place, in name order; the place may itself be one.
std::vector<fs::path> plugin_directories(const fs::path& place) {
  std::error_code error;
  if (fs::exists(place / "plugin.json", error)) return {place};
  std::vector<fs::path> found;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error))
    if (std::error_code missing; fs::exists(at->path() / "plugin.json", missing))
      found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

// The first library of a directory that is a plugin but for its manifest; empty without one.
fs::path lone_library(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> libraries;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".so") libraries.push_back(at->path());
  std::sort(libraries.begin(), libraries.end());
  for (const fs::path& library : libraries) {
    try {
      const std::vector<std::string> symbols = exported_symbols(library);
      if (std::find(symbols.begin(), symbols.end(), "omen_plugin_entry") != symbols.end())
        return library;
    } catch (const Error&) {  // no library of this machine, so none that was forgotten
    }
  }
  return {};
}

Error without_manifest(const fs::path& library) {
  return Error(OMEN_INVALID_DATA,
               library.string() + " is a plugin's library without a plugin.json beside it",
               "write it with: omen-manifest " + library.string() + " -o " +
                   (library.parent_path() / "plugin.json").string());
}

// Libraries of one place that cannot be used because nothing describes them.
std::vector<BrokenPlugin> undescribed(const SearchPlace& place) {
  std::vector<BrokenPlugin> found;
  std::error_code error;
  const fs::path& directory = place.directory;
  if (!place.exists) {
    if (fs::is_regular_file(directory, error))
      found.push_back(
          {directory,
           Error(OMEN_INVALID_DATA, directory.string() + " is a file, not a place of plugins",
                 "name the directory: --plugin-path " + directory.parent_path().string()),
           directory});
    return found;
  }
  if (fs::exists(directory / "plugin.json", error)) return found;
  const auto look_in = [&](const fs::path& at) {
    if (const fs::path library = lone_library(at); !library.empty())
      found.push_back({at, without_manifest(library), library});
  };
  look_in(directory);
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (std::error_code missing;
        at->is_directory(missing) && !fs::exists(at->path() / "plugin.json", missing))
      look_in(at->path());
  return found;
}

// Whether the words "mine" and "mine.constant" mean the plugin that lies here.
bool lies_here(const BrokenPlugin& broken, std::string_view id) {
  const std::string family(id.substr(0, id.find('.')));
  return broken.directory.filename() == family || broken.directory.stem() == "lib" + family ||
         broken.library.filename() == "lib" + family + ".so";
}

// The build and the installation write <id>.sha256 beside the plugins that belong to them. The
// loader holds the library against the digest of the manifest.
bool is_listed(const SearchPlace& place, const Manifest& plugin) {
  if (!place.own || plugin.sha256.empty() || plugin.directory.parent_path() != place.directory)
    return false;
  std::ifstream list(place.directory / (plugin.id + ".sha256"));
  std::string digest;
  return list >> digest && digest == plugin.sha256;
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "'" : i + 1 == names.size() ? " or '" : ", '") + names[i] + "'";
  return text;
}

std::string looked_in(const std::vector<SearchPlace>& places) {
  std::string text = "\nlooked in: ";
  for (std::size_t i = 0; i < places.size(); ++i)
    text += (i ? ", " : "") + places[i].directory.string() + (places[i].exists ? "" : " (absent)");
  return text;
}

}  // namespace

std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates) {
  return omen::near_names(name, candidates);
}

std::string did_you_mean(const std::vector<std::string>& near) {
  return near.empty() ? "" : "did you mean " + quoted(near) + "?  ";
}

std::vector<SearchPlace> Registry::search_places(const std::vector<fs::path>& plugin_path) {
  std::vector<SearchPlace> places;
  for (const fs::path& directory : plugin_path) add_place(places, directory, "--plugin-path");
  if (const char* list = environment("OMEN_PLUGIN_PATH"))
    add_list(places, list, "OMEN_PLUGIN_PATH");
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path prefix = self.parent_path().parent_path();
    add_place(places, prefix / "plugins", "beside omen", true);
    add_place(places, prefix / OMEN_INSTALL_RELATIVE_LIBDIR "/omen/plugins", "installed", true);
  }
  add_place(places, OMEN_INSTALL_LIBDIR "/omen/plugins", "installed", true);
  const char* user = environment("HOME");
  if (const char* home = environment("XDG_DATA_HOME"))
    add_place(places, fs::path(home) / "omen/plugins", "user");
  else if (user)
    add_place(places, fs::path(user) / ".local/share/omen/plugins", "user");
  // Where `cmake --install --prefix ~/.local` puts them.
  if (user) add_place(places, fs::path(user) / ".local/lib/omen/plugins", "user");
  return places;
}

Registry Registry::discover(const std::vector<fs::path>& plugin_path) {
  Registry registry;
  registry.plugin_path_ = plugin_path;
  registry.places_ = search_places(plugin_path);
  std::map<std::string, std::string> used;  // id -> directory of the plugin that wins
  for (const SearchPlace& place : registry.places_) {
    for (BrokenPlugin& broken : undescribed(place)) registry.broken_.push_back(std::move(broken));
    if (!place.exists) continue;
    for (const fs::path& directory : plugin_directories(place.directory)) {
      try {
        FoundPlugin found{read_manifest(directory / "plugin.json")};
        found.own = is_listed(place, found.manifest);
        const auto [at, fresh] = used.try_emplace(found.manifest.id, directory.string());
        if (!fresh) found.shadowed_by = at->second;
        registry.plugins_.push_back(std::move(found));
      } catch (const Error& e) {
        registry.broken_.push_back({directory, e, {}});
      }
    }
  }
  std::stable_sort(registry.plugins_.begin(), registry.plugins_.end(),
                   [](const FoundPlugin& a, const FoundPlugin& b) {
                     return std::make_pair(!a.shadowed_by.empty(), a.manifest.id) <
                            std::make_pair(!b.shadowed_by.empty(), b.manifest.id);
                   });
  return registry;
}

const FoundPlugin& Registry::plugin(std::string_view id) const {
  std::vector<std::string> names;
  for (const FoundPlugin& found : plugins_) {
    if (!found.shadowed_by.empty()) continue;
    if (found.manifest.id == id) return found;
    names.push_back(found.manifest.id);
  }
  for (const BrokenPlugin& broken : broken_)
    if (lies_here(broken, id))
      throw Error(broken.error.code(),
                  "plugin '" + std::string(id) + "' cannot be used: " + broken.error.what(),
                  broken.error.hint());
  const std::vector<std::string> near = near_names(id, names);
  throw Error(OMEN_NOT_FOUND, "plugin '" + std::string(id) + "' not found" + looked_in(places_),
              did_you_mean(near) +
                  std::string("see all with: omen list; add a directory with OMEN_PLUGIN_PATH"));
}

ComponentRef Registry::component(std::uint32_t kind, std::string_view id) const {
  std::vector<std::string> names;
  ComponentRef match;
  for (const ComponentRef& ref : components(kind)) {
    names.push_back(ref.info->id);
    if (ref.info->id != id) continue;
    if (match.info && match.info->kind != ref.info->kind) continue;
    if (match.info)
      throw Error(OMEN_INVALID_ARGUMENT,
                  std::string(kind_name(match.info->kind)) + " '" + std::string(id) +
                      "' is in two plugins: " + match.plugin->manifest.directory.string() +
                      " and " + ref.plugin->manifest.directory.string(),
                  "Remove one of the two directories from the search path.");
    match = ref;
  }
  if (match.info) return match;
  const std::string what = kind == 0 ? "component" : kind_name(kind);
  std::vector<std::string> near;
  for (const ComponentRef& ref : components(kind))
    if (ref.plugin->manifest.id == id && near.size() < 3) near.push_back(ref.info->id);
  if (near.empty()) near = near_names(id, names);
  for (const ComponentRef& ref : components(0))
    if (ref.info->id == id)
      throw Error(OMEN_NOT_FOUND,
                  "'" + std::string(id) + "' is a " + kind_name(ref.info->kind) + ", not a " + what,
                  "See what it does with: omen info " + std::string(id));
  for (const BrokenPlugin& broken : broken_)
    if (lies_here(broken, id))
      throw unloadable(
          Error(broken.error.code(),
                what + " '" + std::string(id) + "' cannot be used: " + broken.error.what(),
                broken.error.hint()));
  throw Error(OMEN_NOT_FOUND, what + " '" + std::string(id) + "' not found" + looked_in(places_),
              did_you_mean(near) +
                  std::string("see all with: omen list; add a directory with OMEN_PLUGIN_PATH"));
}

std::vector<ComponentRef> Registry::components(std::uint32_t kind) const {
  std::vector<ComponentRef> refs;
  for (const FoundPlugin& found : plugins_) {
    if (!found.shadowed_by.empty()) continue;
    for (const ComponentInfo& info : found.manifest.components)
      if (kind == 0 || info.kind == kind) refs.push_back({&found, &info});
  }
  return refs;
}

}  // namespace omen::host
