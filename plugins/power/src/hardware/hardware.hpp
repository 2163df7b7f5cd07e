// SPDX-License-Identifier: Apache-2.0
// A parametrised accelerator: an array of processing elements, three buffers, a memory, a clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace omen::power {

enum class Dataflow : std::uint8_t { os, ws, is, rs };
enum class Dram : std::uint8_t { lpddr4, lpddr, ddr3, gddr5, hbm2 };

inline constexpr std::array kDataflowNames = {"os", "ws", "is", "rs"};
inline constexpr std::array kDramNames = {"lpddr4", "lpddr", "ddr3", "gddr5", "hbm2"};
// Nodes whose energy can be scaled to, in nm.
inline constexpr std::array kNodes = {65, 45, 32, 20, 16, 14, 10, 7};

std::optional<Dataflow> parse_dataflow(std::string_view name);
std::optional<Dram> parse_dram(std::string_view name);
// Place of a node in kNodes.
std::optional<std::size_t> node_index(double nm);

struct Hardware {
  double rows = 32, cols = 32;
  Dataflow dataflow = Dataflow::os;
  double rf_b = 520;  // bytes of registers in each processing element
  double ifmap_kb = 128, weight_kb = 128, ofmap_kb = 64;
  double bw_gbps = 12.8;
  Dram dram = Dram::lpddr4;
  double freq_mhz = 700, vdd = 0.8, node_nm = 16;
  double bits_w = 8, bits_a = 8, bits_psum = 32;
  double batch = 1;
  bool zero_gate = false;
};

// Why the parameters describe no accelerator; empty where they do.
std::string fault_of(const Hardware& hardware);

}  // namespace omen::power
