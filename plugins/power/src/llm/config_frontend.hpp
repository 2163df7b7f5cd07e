// SPDX-License-Identifier: Apache-2.0
// Front end `power.config`: config.json of a transformer as the shape that its energy follows from.
#pragma once

#include <omen/plugin.hpp>
#include <string_view>

#include "llm/serving.hpp"

namespace omen::power {

// What a config.json says; OMEN_INVALID_DATA, OMEN_UNSUPPORTED or OMEN_NOT_FOUND where it cannot be
// read.
struct ConfiguredModel {
  std::string name, precision;
  ModelShape shape;
};
ConfiguredModel load_model(const std::string& path);

class ConfigFrontend final : public GraphFrontend {
 public:
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;
};

Component config_component();

}  // namespace omen::power
