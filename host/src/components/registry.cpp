// SPDX-License-Identifier: Apache-2.0
// Resolves plugin and component ids to manifests; never opens libraries.
#include "components/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

namespace omen::host {
namespace fs = std::filesystem;
namespace {

void add_place(std::vector<SearchPlace>& places, const fs::path& directory, const char* origin) {
  if (directory.empty()) return;
  std::error_code ignored;
  const fs::path canonical = fs::weakly_canonical(directory, ignored);
  const fs::path& shown = canonical.empty() ? directory : canonical;
  for (const SearchPlace& place : places)
    if (place.directory == shown) return;
  places.push_back({shown, origin, fs::is_directory(shown, ignored)});
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

// Edits between two names where a swap of neighbours counts once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
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
  std::set<std::tuple<std::size_t, std::string>> ranked;
  for (const std::string& candidate : candidates) {
    const std::size_t dot = candidate.rfind('.');
    const bool is_last_part = dot != candidate.npos && candidate.substr(dot + 1) == name;
    const bool is_start = name.size() >= 3 && candidate.starts_with(name);
    const std::size_t distance = is_last_part || is_start ? 1 : edit_distance(name, candidate);
    if (distance <= std::max<std::size_t>(1, std::min<std::size_t>(3, name.size() / 3)))
      ranked.emplace(distance, candidate);
  }
  std::vector<std::string> nearest;
  for (const auto& [distance, candidate] : ranked)
    if (nearest.size() < 3) nearest.push_back(candidate);
  return nearest;
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
    add_place(places, prefix / "plugins", "beside omen");
    add_place(places, prefix / OMEN_INSTALL_RELATIVE_LIBDIR "/omen/plugins", "installed");
  }
  add_place(places, OMEN_INSTALL_LIBDIR "/omen/plugins", "installed");
  if (const char* home = environment("XDG_DATA_HOME")) {
    add_place(places, fs::path(home) / "omen/plugins", "user");
  } else if (const char* user = environment("HOME")) {
    add_place(places, fs::path(user) / ".local/share/omen/plugins", "user");
  }
  return places;
}

Registry Registry::discover(const std::vector<fs::path>& plugin_path) {
  Registry registry;
  registry.plugin_path_ = plugin_path;
  registry.places_ = search_places(plugin_path);
  std::map<std::string, std::string> used;  // id -> directory of the plugin that wins
  for (const SearchPlace& place : registry.places_) {
    if (!place.exists) continue;
    for (const fs::path& directory : plugin_directories(place.directory)) {
      try {
        FoundPlugin found{read_manifest(directory / "plugin.json"), {}};
        const auto [at, fresh] = used.try_emplace(found.manifest.id, directory.string());
        if (!fresh) found.shadowed_by = at->second;
        registry.plugins_.push_back(std::move(found));
      } catch (const Error& e) {
        registry.broken_.push_back({directory, e});
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
    if (broken.directory.filename() == fs::path(id))
      throw Error(broken.error.code(),
                  "plugin '" + std::string(id) + "' cannot be used: " + broken.error.what(),
                  broken.error.hint());
  const std::vector<std::string> near = near_names(id, names);
  throw Error(OMEN_NOT_FOUND, "plugin '" + std::string(id) + "' not found" + looked_in(places_),
              (near.empty() ? "" : "did you mean " + quoted(near) + "?  ") +
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
  throw Error(OMEN_NOT_FOUND, what + " '" + std::string(id) + "' not found" + looked_in(places_),
              (near.empty() ? "" : "did you mean " + quoted(near) + "?  ") +
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
