// SPDX-License-Identifier: Apache-2.0
// Published energies, the curves of the nodes, clocks and areas.
#include "sim/energy_profile.hpp"

#include <algorithm>
#include <cmath>
#include <omen/error.hpp>

namespace omen::power {
namespace {

struct NodeCurve {
  double square, linear, constant;  // of energy over voltage
  double nominal_volts;             // placeholder, as are the next two constants
};
// In the order of kNodes.
constexpr std::array<NodeCurve, kNodes.size()> kCurves = {{{3.755, -4.398, 1.975, 1.1},
                                                           {1.103, -0.362, 0.2767, 1.0},
                                                           {0.9559, -0.7823, 0.471, 0.95},
                                                           {0.373, -0.1582, 0.04104, 0.9},
                                                           {0.2958, -0.1241, 0.03024, 0.8},
                                                           {0.2363, -0.09675, 0.02239, 0.8},
                                                           {0.2068, -0.09311, 0.02375, 0.75},
                                                           {0.1776, -0.09097, 0.02447, 0.7}}};
constexpr double kThresholdVolts = 0.35, kNominalMhz = 1000, kSaturation = 1.3;
constexpr double kAreaNode = 45, kUm2PerMm2 = 1e6;

const NodeCurve& curve_of(double node_nm) {
  const auto index = node_index(node_nm);
  if (!index)
    throw Error(OMEN_INVALID_DATA,
                "node_nm is " + std::to_string(node_nm) + ", which no energy curve is known for",
                "Known are 65, 45, 32, 20, 16, 14, 10 and 7 nm.");
  return kCurves[*index];
}

double speed_at(double volts) {
  return volts <= kThresholdVolts ? 0 : std::pow(volts - kThresholdVolts, kSaturation) / volts;
}

EnergyProfile tetris() {
  EnergyProfile made;
  made.name = "tetris-65";
  return made;
}

// Normalised to a MAC of 16 bits; one unit is taken as 1 pJ.
EnergyProfile eyeriss_norm() {
  EnergyProfile made;
  made.name = "eyeriss-norm";
  made.mac_pj = made.register_pj = 1;
  made.array_pj = 2;
  made.buffer_pj = 6;
  made.buffer_kb = 100;
  made.op_pj = 0.2;
  made.dram_pj_per_bit.fill(200.0 / 16);
  return made;
}

// Horowitz, ISSCC 2014: 16-bit figures between those of 8 and 32 bits, SRAM of 64 bits a quarter.
EnergyProfile horowitz() {
  EnergyProfile made;
  made.name = "horowitz-45";
  made.node_nm = 45;
  made.volts = 0.9;
  made.mac_pj = 0.85;
  made.register_pj = 0.15;
  made.array_pj = 0.6;
  made.buffer_pj = 5;
  made.buffer_kb = 32;
  made.buffer_exponent = 0.47;
  made.clock_pj = 1.0;
  made.op_pj = 0.05;
  return made;
}

}  // namespace

std::vector<std::string> profile_names() {
  return {"tetris-65", "eyeriss-norm", "horowitz-45"};
}

std::optional<EnergyProfile> named_profile(std::string_view name) {
  for (const EnergyProfile& known : {tetris(), eyeriss_norm(), horowitz()})
    if (known.name == name) return known;
  return std::nullopt;
}

double switching_energy(double node_nm, double volts) {
  const NodeCurve& curve = curve_of(node_nm);
  return curve.square * volts * volts + curve.linear * volts + curve.constant;
}

double energy_scale(const EnergyProfile& profile, const Hardware& hw) {
  const double reference = switching_energy(profile.node_nm, profile.volts);
  if (profile.law == VoltageLaw::node_curves)
    return switching_energy(hw.node_nm, hw.vdd) / reference;
  const double nominal = curve_of(hw.node_nm).nominal_volts;
  return switching_energy(hw.node_nm, nominal) / reference * (hw.vdd * hw.vdd) /
         (nominal * nominal);
}

double fastest_mhz(double node_nm, double volts) {
  return kNominalMhz * speed_at(volts) / speed_at(curve_of(node_nm).nominal_volts);
}

double area_mm2(const EnergyProfile& profile, const Hardware& hw) {
  const double bits = hw.bits_w * hw.bits_a / 256;
  const double element = profile.mac_um2 * bits + profile.register_um2_per_b * hw.rf_b;
  const double buffers = profile.buffer_um2_per_kb * (hw.ifmap_kb + hw.weight_kb + hw.ofmap_kb);
  const double shrink = hw.node_nm / kAreaNode;
  return (hw.rows * hw.cols * element + buffers) * shrink * shrink / kUm2PerMm2;
}

}  // namespace omen::power
