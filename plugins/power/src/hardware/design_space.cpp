// SPDX-License-Identifier: Apache-2.0
// Legal values, and points that fill the space evenly.
#include "hardware/design_space.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/hardware_columns.hpp"

namespace omen::power {
namespace {

std::vector<double> powers(int first, int last) {
  std::vector<double> made;
  for (int i = first; i <= last; ++i) made.push_back(std::ldexp(1.0, i));
  return made;
}

std::vector<double> steps(double first, double step, int count) {
  std::vector<double> made;
  for (int i = 0; i < count; ++i) made.push_back(first + step * i);
  return made;
}

std::vector<double> ordinals(std::size_t count) {
  return steps(0, 1, static_cast<int>(count));
}

double on_axis(double value, bool logarithmic) {
  return logarithmic ? std::log2(value) : value;
}

}  // namespace

double Parameter::get(const Hardware& hardware) const {
  if (name == "dataflow") return static_cast<double>(hardware.dataflow);
  if (name == "dram") return static_cast<double>(hardware.dram);
  for (const HardwareColumn& column : kHardwareColumns)
    if (name == column.name) return hardware.*column.field;
  return 0;
}

void Parameter::set(Hardware& hardware, double value) const {
  if (name == "dataflow") hardware.dataflow = static_cast<Dataflow>(static_cast<int>(value));
  if (name == "dram") hardware.dram = static_cast<Dram>(static_cast<int>(value));
  for (const HardwareColumn& column : kHardwareColumns)
    if (name == column.name) hardware.*column.field = value;
}

std::size_t Parameter::nearest(double value) const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (std::abs(on_axis(values[i], logarithmic) - on_axis(value, logarithmic)) <
        std::abs(on_axis(values[best], logarithmic) - on_axis(value, logarithmic)))
      best = i;
  return best;
}

const std::vector<Parameter>& design_space() {
  static const std::vector<Parameter> space = [] {
    const std::vector<double> sides = {8, 12, 14, 16, 24, 32, 48, 64, 96, 128};
    std::vector<double> nodes(kNodes.begin(), kNodes.end());
    std::sort(nodes.begin(), nodes.end());
    return std::vector<Parameter>{
        {"rows", "1", ParameterKind::integer, sides, true},
        {"cols", "1", ParameterKind::integer, sides, true},
        {"dataflow", "1", ParameterKind::choice, ordinals(kDataflowNames.size()), false},
        {"rf_b", "B", ParameterKind::pow2, powers(6, 10), true},
        {"ifmap_kb", "KB", ParameterKind::pow2, powers(3, 10), true},
        {"weight_kb", "KB", ParameterKind::pow2, powers(3, 10), true},
        {"ofmap_kb", "KB", ParameterKind::pow2, powers(3, 10), true},
        {"bw_gbps", "GB/s", ParameterKind::continuous, {1.6, 3.2, 6.4, 12.8, 25.6, 51.2}, true},
        {"dram", "1", ParameterKind::choice, ordinals(kDramNames.size()), false},
        {"freq_mhz", "MHz", ParameterKind::continuous, steps(100, 50, 19), true},
        {"vdd", "V", ParameterKind::continuous, steps(0.55, 0.05, 12), false},
        {"node_nm", "nm", ParameterKind::choice, nodes, true}};
  }();
  return space;
}

Hardware hardware_of(const Design& design, const Hardware& fixed) {
  Hardware made = fixed;
  const std::vector<Parameter>& space = design_space();
  for (std::size_t i = 0; i < space.size(); ++i) space[i].set(made, space[i].values[design[i]]);
  return made;
}

Design nearest_design(const Hardware& hardware) {
  Design made;
  for (const Parameter& parameter : design_space())
    made.push_back(parameter.nearest(parameter.get(hardware)));
  return made;
}

Design spread_design(std::uint64_t index, std::uint64_t seed) {
  static const double root = [] {
    double x = 2;
    const double power = 1.0 / (static_cast<double>(design_space().size()) + 1);
    for (int i = 0; i < 64; ++i) x = std::pow(1 + x, power);
    return x;
  }();
  Design made;
  double step = 1;
  std::uint64_t state = seed;
  for (const Parameter& parameter : design_space()) {
    step /= root;
    // A different start on every axis, from the seed alone (splitmix64).
    std::uint64_t mixed = state += 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    const double start = static_cast<double>((mixed ^ (mixed >> 31)) >> 11) * 0x1.0p-53;
    double whole = 0;
    const double place = std::modf(start + step * static_cast<double>(index + 1), &whole);
    const auto count = static_cast<double>(parameter.values.size());
    made.push_back(static_cast<std::size_t>(std::min(count - 1, place * count)));
  }
  return made;
}

}  // namespace omen::power
