// SPDX-License-Identifier: Apache-2.0
// Words of the choices, and the checks of the numbers.
#include "hardware/hardware.hpp"

#include <cmath>
#include <cstdio>
#include <omen/join.hpp>
#include <vector>

namespace omen::power {
namespace {

constexpr double kLowestVolts = 0.5, kHighestVolts = 1.1;

struct Range {
  const char* name;
  double value, low, high;
  bool whole;
};

std::string node_list() {
  std::vector<std::string> names;
  for (const int node : kNodes) names.push_back(std::to_string(node));
  return join(names);
}

}  // namespace

std::optional<Dataflow> parse_dataflow(std::string_view name) {
  for (std::size_t i = 0; i < kDataflowNames.size(); ++i)
    if (name == kDataflowNames[i]) return static_cast<Dataflow>(i);
  return std::nullopt;
}

std::optional<Dram> parse_dram(std::string_view name) {
  for (std::size_t i = 0; i < kDramNames.size(); ++i)
    if (name == kDramNames[i]) return static_cast<Dram>(i);
  return std::nullopt;
}

std::optional<std::size_t> node_index(double nm) {
  for (std::size_t i = 0; i < kNodes.size(); ++i)
    if (nm == kNodes[i]) return i;
  return std::nullopt;
}

std::string fault_of(const Hardware& hw) {
  const Range ranges[] = {
      {"rows", hw.rows, 1, 4096, true},
      {"cols", hw.cols, 1, 4096, true},
      {"rf_b", hw.rf_b, 1, 1 << 20, false},
      {"ifmap_kb", hw.ifmap_kb, 0.25, 1 << 20, false},
      {"weight_kb", hw.weight_kb, 0.25, 1 << 20, false},
      {"ofmap_kb", hw.ofmap_kb, 0.25, 1 << 20, false},
      {"bw_gbps", hw.bw_gbps, 1e-3, 1e5, false},
      {"freq_mhz", hw.freq_mhz, 1e-3, 1e5, false},
      {"vdd", hw.vdd, kLowestVolts, kHighestVolts, false},
      {"bits_w", hw.bits_w, 1, 64, true},
      {"bits_a", hw.bits_a, 1, 64, true},
      {"bits_psum", hw.bits_psum, 1, 64, true},
      {"batch", hw.batch, 1, 65536, true},
  };
  for (const Range& range : ranges) {
    const bool inside = range.value >= range.low && range.value <= range.high;
    if (inside && (!range.whole || range.value == std::floor(range.value))) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%s is %g; allowed are %s%g to %g", range.name, range.value,
                  range.whole ? "whole numbers from " : "", range.low, range.high);
    return text;
  }
  if (!node_index(hw.node_nm)) {
    char text[64];
    std::snprintf(text, sizeof text, "node_nm is %g; energies are known for ", hw.node_nm);
    return text + node_list();
  }
  return {};
}

}  // namespace omen::power
