// SPDX-License-Identifier: Apache-2.0
// Parameters of accelerators as columns of a table.
#pragma once

#include <omen/table.hpp>
#include <string>
#include <vector>

#include "hardware/hardware.hpp"

namespace omen::power {

// Numeric columns by name; the choices `dataflow` and `dram` are texts beside them.
struct HardwareColumn {
  const char* name;
  const char* unit;
  double Hardware::*field;
};
inline constexpr HardwareColumn kHardwareColumns[] = {{"rows", "1", &Hardware::rows},
                                                      {"cols", "1", &Hardware::cols},
                                                      {"rf_b", "B", &Hardware::rf_b},
                                                      {"ifmap_kb", "KB", &Hardware::ifmap_kb},
                                                      {"weight_kb", "KB", &Hardware::weight_kb},
                                                      {"ofmap_kb", "KB", &Hardware::ofmap_kb},
                                                      {"bw_gbps", "GB/s", &Hardware::bw_gbps},
                                                      {"freq_mhz", "MHz", &Hardware::freq_mhz},
                                                      {"vdd", "V", &Hardware::vdd},
                                                      {"node_nm", "nm", &Hardware::node_nm},
                                                      {"bits_w", "1", &Hardware::bits_w},
                                                      {"bits_a", "1", &Hardware::bits_a},
                                                      {"bits_psum", "1", &Hardware::bits_psum},
                                                      {"batch", "1", &Hardware::batch}};

struct HardwareRow {
  Hardware hardware;
  std::string fault;  // why the row describes no accelerator; empty: it does
};

// Columns that are absent or null keep the value of `otherwise`.
std::vector<HardwareRow> read_hardware(const Table& workloads, const Hardware& otherwise);

// Columns that are everywhere as a default Hardware has them may be left out to save room.
enum class ConstantColumns : std::uint8_t { kept, left_out };
void add_hardware(TableBuilder& table, const std::vector<Hardware>& rows, ConstantColumns constant);

}  // namespace omen::power
