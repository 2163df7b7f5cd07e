// SPDX-License-Identifier: Apache-2.0
// driple.neusight: the graphs that NeuSight's measured steps belong to, for recipes.
#pragma once

#include <omen/plugin.hpp>

namespace omen::driple {

class NeusightFrontend final : public GraphFrontend {
 public:
  // Only a recipe asks for it, by name.
  static int sniff(const char*, std::string_view) { return 0; }
  // `path` is the table of labels; that of the models, models.csv, lies beside it.
  void lower(const char* path, const TablesOut& out, const Run& run) override;
};

}  // namespace omen::driple
