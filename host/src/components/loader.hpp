// SPDX-License-Identifier: Apache-2.0
// Opens plugin libraries after checking them; handles are kept for ever.
#ifndef OMEN_HOST_LOADER_HPP
#define OMEN_HOST_LOADER_HPP

#include <memory>
#include <string_view>

#include "components/manifest.hpp"
#include "omen/abi.h"

namespace omen::host {

class HostServices;

class LoadedPlugin {
 public:
  const Manifest& manifest() const noexcept { return manifest_; }
  const omen_plugin& descriptor() const noexcept { return *plugin_; }
  // Exact id; NULL where the plugin has no such extension.
  const void* extension(const char* id) const;
  // omen.observe/1; OMEN_UNSUPPORTED, naming `component`, where the plugin has none.
  const omen_observe_ext& observe_extension(std::string_view component) const;
  // Commands included; throws OMEN_NOT_FOUND.
  const omen_component& component(std::uint32_t kind, std::string_view id) const;
  // The component's table at the host's own size: slots that an older plugin does not know are
  // NULL.
  template <class Vt>
  const Vt& vtable(std::uint32_t kind, std::string_view id) const {
    return *static_cast<const Vt*>(table(kind, id));
  }
  // Calls deinit once; no object may be left.
  void deinit();

  struct Access;  // the loader's way in
  LoadedPlugin();
  ~LoadedPlugin();
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;

 private:
  struct Tables;
  const void* table(std::uint32_t kind, std::string_view id) const;

  Manifest manifest_;
  const omen_plugin* plugin_ = nullptr;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<HostServices> services_;
  bool initialised_ = false;
};

// Every step has its own message: library inside its directory, no world-writable parent, digest,
// entry exported, opened, major equal, minor not newer, descriptors equal the manifest, init. A
// second load of the same library returns the first. [any-thread]
LoadedPlugin& load_plugin(const Manifest& manifest);

// What omen-manifest writes down: opens the library without a manifest, asks for its descriptors,
// and pins its digest.
Manifest describe_library(const std::filesystem::path& library);

}  // namespace omen::host

#endif  // OMEN_HOST_LOADER_HPP
