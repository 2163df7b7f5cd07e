// SPDX-License-Identifier: Apache-2.0
// `omen interference characterise`: which columns of measured jobs tell something about a target.
#pragma once

#include <omen/plugin.hpp>

namespace omen::interference {

struct CharacteriseOptions {
  std::string target = "MGUP", coefficient = "pearson", without = "ID";
  double least_r2 = 0.5, most_shared = 0.95;

  static auto spec() {
    using O = CharacteriseOptions;
    return options(
        opt(&O::target, "target", "column to explain"),
        opt(&O::coefficient, "coefficient", "how columns are compared")
            .choices("pearson", "spearman", "kendall"),
        opt(&O::without, "without", "columns to leave out"),
        opt(&O::least_r2, "least_r2", "of a chosen column, in units of Pearson's r squared")
            .range(0, 1),
        opt(&O::most_shared, "most_shared",
            "correlation with a chosen column from which another is redundant")
            .range(0, 1));
  }
};

class CharacteriseCommand final : public Command {
 public:
  explicit CharacteriseCommand(CharacteriseOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  CharacteriseOptions options_;
};

Component characterise_component();

}  // namespace omen::interference
