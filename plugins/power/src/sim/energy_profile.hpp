// SPDX-License-Identifier: Apache-2.0
// What one action costs in energy and area, and how that changes with voltage and node.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/hardware.hpp"

namespace omen::power {

// How energy follows the supply: fitted curves of each node, or the square of the voltage alone.
enum class VoltageLaw { node_curves, square };

// Energies are pJ at the profile's node and voltage for words of 16 bits.
struct EnergyProfile {
  std::string name;
  double node_nm = 65, volts = 1.0;
  double mac_pj = 2.0, register_pj = 1.0, array_pj = 4.0;
  double buffer_pj = 15.0, buffer_kb = 108, buffer_exponent = 0.5;
  double clock_pj = 3.2;  // of one processing element in one cycle
  double op_pj = 0.4;     // of one operation beside the array
  std::array<double, kDramNames.size()> dram_pj_per_bit = {8, 40, 70, 14, 3.9};
  double dram_background_w_per_gbps = 4e-3;
  double element_leak_w = 20e-6, buffer_leak_w_per_kb = 15e-6;  // at one volt
  // um^2 at 45 nm, after the area tables of a published Eyeriss-like design.
  double mac_um2 = 191.82, register_um2_per_b = 13.66, buffer_um2_per_kb = 1698.2;
  VoltageLaw law = VoltageLaw::node_curves;
  double factor = 1;  // fitted to measured power of the core
};

std::vector<std::string> profile_names();
std::optional<EnergyProfile> named_profile(std::string_view name);

// Energy of an action on this hardware over the same at the profile's node and voltage.
double energy_scale(const EnergyProfile& profile, const Hardware& hardware);
// Relative energy of switching at a node and a voltage (doi:10.1016/j.vlsi.2017.02.002).
double switching_energy(double node_nm, double volts);
// Fastest clock at a voltage. The threshold and the 1 GHz at nominal voltage are placeholders.
double fastest_mhz(double node_nm, double volts);
double area_mm2(const EnergyProfile& profile, const Hardware& hardware);

}  // namespace omen::power
