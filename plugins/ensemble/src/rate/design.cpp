// SPDX-License-Identifier: Apache-2.0
// One table of designs and their names.
#include "rate/design.hpp"

#include <charconv>

namespace omen::ensemble {
namespace {

struct DesignEntry {
  Design design;
  const char* name;
  const char* abbreviation;
};

constexpr DesignEntry kDesignTable[] = {
    {Design::kNone, "none", "base"},
    {Design::kAllShared, "all-shared", "AS"},
    {Design::kSingleBroadcast, "single-broadcast", "SB"},
    {Design::kMultiBroadcast, "multi-broadcast", "MB-all-used"},
    {Design::kWastefulBroadcast, "multi-broadcast-published", "MB"},
    {Design::kSharedMemory, "shared-memory", "SHM"},
};

}  // namespace

std::optional<NamedDesign> parse_design(std::string_view text) {
  NamedDesign named;
  if (const std::size_t mark = text.rfind("_p"); mark != std::string_view::npos) {
    const std::string_view digits = text.substr(mark + 2);
    int count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc() || end != digits.data() + digits.size() || count < 1) return {};
    named.preprocessors = count;
    text = text.substr(0, mark);
  }
  for (const DesignEntry& entry : kDesignTable)
    if (text == entry.name || text == entry.abbreviation) {
      named.design = entry.design;
      return named;
    }
  return {};
}

const char* design_name(Design design) {
  for (const DesignEntry& entry : kDesignTable)
    if (entry.design == design) return entry.name;
  return "";
}

std::vector<std::string> design_names() {
  std::vector<std::string> names;
  for (const DesignEntry& entry : kDesignTable) names.emplace_back(entry.name);
  return names;
}

bool is_coupled(Design design) {
  return design != Design::kNone;
}

const char* pace_name(bool coupled) {
  return coupled ? "coupled" : "decoupled";
}

std::optional<bool> parse_pace(std::string_view text) {
  for (const bool coupled : {true, false})
    if (text == pace_name(coupled)) return coupled;
  return {};
}

bool has_preprocessors(Design design) {
  return design != Design::kNone && design != Design::kAllShared;
}

}  // namespace omen::ensemble
