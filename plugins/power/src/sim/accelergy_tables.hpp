// SPDX-License-Identifier: Apache-2.0
// Energy and area reference tables of Accelergy as a profile.
#pragma once

#include <map>
#include <string>

#include "sim/energy_profile.hpp"

namespace omen::power {

// Components by the last part of their name, without the count in brackets.
struct ReferenceTables {
  std::map<std::string, std::map<std::string, double>> energy_pj;  // component, action
  std::map<std::string, double> area_um2;
};

// Reads an ERT or ART document and adds it to `into`; throws on anything else.
void read_reference_table(const std::string& text, const std::string& source,
                          ReferenceTables& into);

// The profile that these tables amount to: the component whose name holds "mac" computes, one that
// holds "spad", "reg" or "Buffer" beside it stores in the element, "glb" or "GlobalBuffer" is the
// shared buffer and "DRAM" the memory. Words of the buffers are taken as `buffer_word_bits`.
EnergyProfile profile_from(const ReferenceTables& tables, const std::string& name, double buffer_kb,
                           double buffer_word_bits);

}  // namespace omen::power
