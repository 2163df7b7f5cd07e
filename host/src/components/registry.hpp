// SPDX-License-Identifier: Apache-2.0
// Finds plugins in the ordered search places and resolves names; never opens a library.
#ifndef OMEN_HOST_REGISTRY_HPP
#define OMEN_HOST_REGISTRY_HPP

#include <string>
#include <string_view>
#include <vector>

#include "components/manifest.hpp"
#include "omen/error.hpp"

namespace omen::host {

struct SearchPlace {
  std::filesystem::path directory;
  std::string origin;  // "--plugin-path", "OMEN_PLUGIN_PATH", "beside omen", "installed", "user"
  bool exists = false;
  bool own = false;  // of this build or installation, so that a list beside its plugins counts
};

struct FoundPlugin {
  Manifest manifest;
  bool own = false;  // this installation lists its digest; others run in a worker
  std::string shadowed_by =
      {};  // directory of the plugin of the same id that is used instead, or empty
};

struct BrokenPlugin {
  std::filesystem::path directory;
  Error error;
  std::filesystem::path library = {};  // one that nothing describes, or empty
};

struct ComponentRef {
  const FoundPlugin* plugin = nullptr;
  const ComponentInfo* info = nullptr;
};

class Registry {
 public:
  // Order: --plugin-path, OMEN_PLUGIN_PATH, <directory of omen>/../plugins, the installed libdir,
  // the user's data home.
  static Registry discover(const std::vector<std::filesystem::path>& plugin_path);
  static std::vector<SearchPlace> search_places(
      const std::vector<std::filesystem::path>& plugin_path);

  const std::vector<SearchPlace>& places() const noexcept { return places_; }
  // What discover() was given, for processes that this one starts.
  const std::vector<std::filesystem::path>& plugin_path() const noexcept { return plugin_path_; }
  const std::vector<FoundPlugin>& plugins() const noexcept {
    return plugins_;
  }  // sorted by id, shadowed ones behind
  const std::vector<BrokenPlugin>& broken() const noexcept { return broken_; }

  // OMEN_NOT_FOUND with every path tried, near spellings, and the variable that would add a place.
  const FoundPlugin& plugin(std::string_view id) const;
  ComponentRef component(std::uint32_t kind, std::string_view id) const;
  // kind 0: any.
  std::vector<ComponentRef> components(std::uint32_t kind) const;

 private:
  std::vector<std::filesystem::path> plugin_path_;
  std::vector<SearchPlace> places_;
  std::vector<FoundPlugin> plugins_;
  std::vector<BrokenPlugin> broken_;
};

// At most three of `candidates` that look like `name`, nearest first.
std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates);
// "did you mean 'a' or 'b'?  " for the beginning of a hint; nothing for no names.
std::string did_you_mean(const std::vector<std::string>& near);

}  // namespace omen::host

#endif  // OMEN_HOST_REGISTRY_HPP
