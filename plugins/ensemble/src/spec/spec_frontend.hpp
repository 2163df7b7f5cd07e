// SPDX-License-Identifier: Apache-2.0
// GraphFrontend `ensemble.spec`: the JSON description of an ensemble as a graph.
#pragma once

#include <omen/plugin.hpp>

namespace omen::ensemble {

class SpecFrontend final : public GraphFrontend {
 public:
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;
};

Component spec_component();

}  // namespace omen::ensemble
