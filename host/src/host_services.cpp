// SPDX-License-Identifier: Apache-2.0
// Fills the omen_host of a plugin; every callback may come from any thread.
#include "omen/host/host_services.hpp"

#include "omen/host/log.hpp"

namespace omen::host {

HostServices::HostServices(const Manifest& manifest)
    : plugin_id_(manifest.id), plugin_dir_(manifest.directory.string()) {
  host_.struct_size = sizeof host_;
  host_.abi_major = OMEN_ABI_MAJOR;
  host_.abi_minor = OMEN_ABI_MINOR;
  host_.name = "omen";
  host_.version = OMEN_VERSION;
  host_.plugin_dir = plugin_dir_.c_str();
  host_.host_data = this;
  host_.get_extension = [](const omen_host*, const char*) -> const void* { return nullptr; };
  host_.log_enabled = [](const omen_host*, std::int32_t level) { return host::log_enabled(level); };
  host_.log = [](const omen_host* host, std::int32_t level, const char* who, const char* message) {
    const auto* self = static_cast<const HostServices*>(host->host_data);
    try {
      host::log(level, who && *who ? who : self->plugin_id_.c_str(), message ? message : "");
    } catch (...) {  // a full disk must not reach the plugin as an exception
    }
  };
}

}  // namespace omen::host
