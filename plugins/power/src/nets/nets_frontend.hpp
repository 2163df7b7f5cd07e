// SPDX-License-Identifier: Apache-2.0
// GraphFrontend `power.nets`: networks as lists of layers, with the accelerator they run on.
#pragma once

#include <omen/plugin.hpp>

namespace omen::power {

struct NetsOptions {
  std::string hardware;

  static auto spec() {
    return options(opt(&NetsOptions::hardware, "hardware",
                       "accelerator: a configuration of SCALE-Sim or a JSON object of parameters"));
  }
};

class NetsFrontend final : public GraphFrontend {
 public:
  explicit NetsFrontend(NetsOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  NetsOptions options_;
};

Component nets_component();

}  // namespace omen::power
