// SPDX-License-Identifier: Apache-2.0
// Opens plugin libraries after checking them; handles are kept for ever.
#ifndef OMEN_HOST_LOADER_HPP
#define OMEN_HOST_LOADER_HPP

#include <memory>
#include <string_view>

#include "omen/abi.h"
#include "omen/host/manifest.hpp"

namespace omen::host {

class LoadedPlugin {
 public:
  const Manifest& manifest() const noexcept { return manifest_; }
  const omen_plugin& descriptor() const noexcept { return *plugin_; }
  // Exact id; NULL where the plugin has no such extension.
  const void* extension(const char* id) const;
  // Commands included; throws OMEN_NOT_FOUND.
  const omen_component& component(std::uint32_t kind, std::string_view id) const;
  template <class Vt>
  const Vt& vtable(std::uint32_t kind, std::string_view id) const {
    return *static_cast<const Vt*>(component(kind, id).vtable);
  }
  // Calls deinit once; no object may be left.
  void deinit();

  struct Access;  // the loader's way in

 private:
  Manifest manifest_;
  const omen_plugin* plugin_ = nullptr;
  bool initialised_ = false;
};

// Every step has its own message: library inside its directory, no world-writable parent, digest, entry exported, opened,
// major equal, minor not newer, descriptors equal the manifest, init. A second load of the same library returns the first.
// [any-thread]
LoadedPlugin& load_plugin(const Manifest& manifest);

}  // namespace omen::host

#endif  // OMEN_HOST_LOADER_HPP
