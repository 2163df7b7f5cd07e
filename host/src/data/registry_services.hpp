// SPDX-License-Identifier: Apache-2.0
// omen.devices/1 and omen.datasets/1: what plugins of any language may look up by name.
#pragma once

#include <string>

#include "omen/ext/registry.h"
#include "omen/telemetry/device_registry.hpp"

namespace omen::host {

// The device that a spelling means; OMEN_NOT_FOUND with near names.
const telemetry::PublishedDevice& registered_device(const std::string& spelling);

const omen_devices_ext* devices_extension() noexcept;
const omen_datasets_ext* datasets_extension() noexcept;

}  // namespace omen::host
