// SPDX-License-Identifier: Apache-2.0
// One tensor of constants in a fixed order.
#include "sim/profile_artifact.hpp"

#include <algorithm>
#include <cmath>
#include <omen/error.hpp>
#include <vector>

namespace omen::power {
namespace {

constexpr double EnergyProfile::*kConstants[] = {&EnergyProfile::node_nm,
                                                 &EnergyProfile::volts,
                                                 &EnergyProfile::mac_pj,
                                                 &EnergyProfile::register_pj,
                                                 &EnergyProfile::array_pj,
                                                 &EnergyProfile::buffer_pj,
                                                 &EnergyProfile::buffer_kb,
                                                 &EnergyProfile::buffer_exponent,
                                                 &EnergyProfile::clock_pj,
                                                 &EnergyProfile::op_pj,
                                                 &EnergyProfile::dram_background_w_per_gbps,
                                                 &EnergyProfile::element_leak_w,
                                                 &EnergyProfile::buffer_leak_w_per_kb,
                                                 &EnergyProfile::mac_um2,
                                                 &EnergyProfile::register_um2_per_b,
                                                 &EnergyProfile::buffer_um2_per_kb,
                                                 &EnergyProfile::factor};

[[noreturn]] void refuse_profile(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, "the model " + what, "Train it again with this version.");
}

}  // namespace

void save_profile(const EnergyProfile& profile, ArtifactWriter& out) {
  std::vector<double> constants;
  for (const auto field : kConstants) constants.push_back(profile.*field);
  out.put_meta("power.profile", profile.name);
  out.put("constants", constants);
  out.put("dram_pj_per_bit",
          std::vector<double>(profile.dram_pj_per_bit.begin(), profile.dram_pj_per_bit.end()));
  out.put("voltage_law", std::vector<double>{profile.law == VoltageLaw::square ? 1.0 : 0.0});
}

EnergyProfile load_profile(const ArtifactReader& in) {
  EnergyProfile made;
  made.name = in.meta("power.profile");
  const std::vector<double> constants = in.get<double>("constants"),
                            dram = in.get<double>("dram_pj_per_bit"),
                            law = in.get<double>("voltage_law");
  if (constants.size() != std::size(kConstants) || dram.size() != made.dram_pj_per_bit.size() ||
      law.size() != 1)
    refuse_profile("holds another number of constants");
  for (std::size_t i = 0; i < constants.size(); ++i) {
    if (!std::isfinite(constants[i]) || constants[i] < 0) refuse_profile("holds a bad constant");
    made.*kConstants[i] = constants[i];
  }
  if (!node_index(made.node_nm)) refuse_profile("is of a node without an energy curve");
  if (made.buffer_kb <= 0) refuse_profile("has a buffer of no size");
  for (std::size_t i = 0; i < dram.size(); ++i) {
    if (!std::isfinite(dram[i]) || dram[i] < 0) refuse_profile("holds a bad energy of memory");
    made.dram_pj_per_bit[i] = dram[i];
  }
  made.law = law[0] > 0 ? VoltageLaw::square : VoltageLaw::node_curves;
  return made;
}

}  // namespace omen::power
