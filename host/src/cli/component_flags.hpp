// SPDX-License-Identifier: Apache-2.0
// Flags and help that come from manifests: options of components, features of predictors, verbs of
// plugins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/globals.hpp"
#include "components/options.hpp"
#include "components/registry.hpp"

namespace omen::host::cli {

// Answers from manifests, which are read when the first question comes.
class ComponentFlags {
 public:
  // `words` are those of the whole command line, where components may be named.
  ComponentFlags(const Globals& globals, const std::vector<std::string>& words)
      : globals_(globals), words_(words) {}
  // True where every option of that key (or component.key) is a bool, so that no value need follow.
  // Only components that may take part count: a predictor that is named rules the others out, and
  // before a number (`next`) the flag is a feature unless a component that is named has the option.
  bool is_switch(std::string_view key, const std::string& next);
  // True where some component that is installed has an option or reads a column of that name.
  bool is_known(std::string_view key);

 private:
  void read_manifests();

  const Globals& globals_;
  const std::vector<std::string>& words_;
  std::optional<Registry> registry_;
  std::vector<ComponentRef> named_, possible_;
};

// Lines that describe the options of a component, as the help and `omen info` show them.
std::string option_help(const ComponentInfo& component, bool advanced, int width);
// The options of every component that `words` names; empty without one.
std::string component_help(const Globals& globals, const std::vector<std::string>& words);
// A section of command lines; empty without any.
std::string example_lines(const std::vector<std::string>& examples);
// Help of `omen PLUGIN`: its commands, one line each.
std::string plugin_help(const Globals& globals, const std::string& id);

}  // namespace omen::host::cli
