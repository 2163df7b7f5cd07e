// SPDX-License-Identifier: Apache-2.0
// The omen_host that one plugin receives: its directory, the log, and the host's extensions.
#ifndef OMEN_HOST_SERVICES_HPP
#define OMEN_HOST_SERVICES_HPP

#include <string>

#include "components/manifest.hpp"
#include "omen/abi.h"

namespace omen::host {

class HostServices {
 public:
  explicit HostServices(const Manifest& manifest);
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  const omen_host* c() const noexcept { return &host_; }

 private:
  std::string plugin_id_, plugin_dir_;
  omen_host host_{};
};

}  // namespace omen::host

#endif  // OMEN_HOST_SERVICES_HPP
