// SPDX-License-Identifier: Apache-2.0
// The files of data/devices as text; device_data.cpp is generated from them.
#ifndef OMEN_TELEMETRY_DEVICE_DATA_HPP
#define OMEN_TELEMETRY_DEVICE_DATA_HPP

#include <string_view>

namespace omen::telemetry {

extern const std::string_view kGpusJson, kProcessorsJson;

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_DEVICE_DATA_HPP
