// SPDX-License-Identifier: Apache-2.0
// Turns option texts into the typed, complete and valid set that `create` receives.
#ifndef OMEN_HOST_OPTIONS_HPP
#define OMEN_HOST_OPTIONS_HPP

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "components/manifest.hpp"
#include "omen/abi.h"

namespace omen::host {

// Every declared option with its value, ready for `create`.
class OptionValues {
 public:
  OptionValues() = default;
  OptionValues(OptionValues&&) = default;
  OptionValues& operator=(OptionValues&&) = default;

  const omen_option* data() const noexcept { return values_.data(); }
  std::size_t size() const noexcept { return values_.size(); }
  // Options that change the result, keys sorted: what a run records and hashes.
  const std::string& canonical_json() const noexcept { return canonical_json_; }
  std::string hash() const;

 private:
  friend OptionValues resolve_options(const ComponentInfo&, const struct OptionSources&);
  std::vector<omen_option> values_;
  std::deque<std::string> texts_;  // a deque keeps the strings where values_ points
  std::string canonical_json_;
};

// Precedence: flags, then OMEN_OPT_<COMPONENT>_<KEY> and OMEN_OPT_<KEY>, then the file, then the
// default.
struct OptionSources {
  std::vector<std::pair<std::string, std::string>>
      flags;                // in the order given; '-' equals '_' in keys
  std::string config_json;  // {"key": value, "component": {"key": value}}, or empty
  bool use_environment = true;
};

// Keys are compared with '_' for '-'.
std::string normal_key(std::string_view key);

// OMEN_INVALID_ARGUMENT for an unknown key (with near spellings), a bad number, a value out of
// range or choices. Numbers take k, M, G suffixes (powers of 1000; Ki, Mi, Gi of 1024).
OptionValues resolve_options(const ComponentInfo& component, const OptionSources& sources);

// "1..4096", "mean|sum", "0..": what the help shows behind an option.
std::string describe_range(const OptionInfo& option);

}  // namespace omen::host

#endif  // OMEN_HOST_OPTIONS_HPP
