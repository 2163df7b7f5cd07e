// SPDX-License-Identifier: Apache-2.0
// Manifest text of any kind; what is accepted writes itself and reads back the same.
// covers: host/src/components/manifest.cpp
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "components/manifest.hpp"
#include "omen/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omen::host;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Manifest manifest = parse_manifest(text, "plugins/fuzz");
    const std::string json = to_json(manifest);
    const Manifest back = parse_manifest(json, "plugins/fuzz");
    if (!drift(manifest, back).empty() || to_json(back) != json) std::abort();
    for (const ComponentInfo& component : manifest.components) {
      if (kind_from_name(kind_name(component.kind)) != component.kind) std::abort();
      if (manifest.component(component.kind, component.id) != &component) std::abort();
      cap_names(component.caps);
      component.default_model();
    }
  } catch (const omen::Error& error) {
    if (error.code() != OMEN_INVALID_DATA && error.code() != OMEN_UNSUPPORTED) std::abort();
  }
  return 0;
}
