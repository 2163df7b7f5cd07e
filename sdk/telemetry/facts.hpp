// SPDX-License-Identifier: Apache-2.0
// JSON at the edges of a recording: workloads in, devices and notes out.
#ifndef OMEN_TELEMETRY_FACTS_HPP
#define OMEN_TELEMETRY_FACTS_HPP

#include <string>
#include <vector>

#include "omen/telemetry/source.hpp"

namespace omen::telemetry {

std::string devices_json(const std::vector<DeviceInfo>& devices);
std::string notes_json(const std::vector<Note>& notes);
std::string words_json(const std::vector<std::string>& words);
std::string description_json(const std::vector<DeviceInfo>& devices,
                             const std::vector<Note>& notes);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_FACTS_HPP
