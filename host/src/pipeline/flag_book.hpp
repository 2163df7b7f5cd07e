// SPDX-License-Identifier: Apache-2.0
// Shares the flags of one command line between the components that take part in it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "components/manifest.hpp"
#include "components/options.hpp"
#include "tables/dataset_tables.hpp"

namespace omen::host {

// `--hidden 64` goes to the component that declares it, `--driple.hidden 64` to that plugin or
// component; what no component declares may be a feature of the workloads, also as
// `--workloads.threads 4`. Components take part one after the other, as the pipeline finds them.
class FlagBook {
 public:
  FlagBook() = default;
  FlagBook(const TextPairs& flags, std::string config_json);

  // Everything that concerns this component; it takes part from now on.
  OptionSources sources_for(const ComponentInfo& component);
  // Flags that name one of these columns, or with `any` every flag that no component took so far.
  TextPairs features(const std::vector<std::string>& names, bool any = false);
  // Flags without a dot that no component took so far.
  std::vector<std::string> unused() const;
  // OMEN_INVALID_ARGUMENT for a flag or a key of the file that nobody took, or that two components
  // declare.
  void finish() const;

 private:
  struct Flag {
    std::string key, value;  // key with '_' for '-'
    std::set<std::string> takers;
  };
  std::vector<Flag> flags_;
  std::string config_json_;
  std::set<std::string> config_keys_, config_taken_;
  std::map<std::string, ComponentInfo> parties_;
  std::vector<std::string> feature_names_;
};

}  // namespace omen::host
