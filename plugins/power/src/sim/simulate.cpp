// SPDX-License-Identifier: Apache-2.0
// Adds up what the layers cost.
#include "sim/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace omen::power {
namespace {

constexpr double kPico = 1e-12, kWord = 16, kHalfKbBytes = 512, kMegahertz = 1e6, kGiga = 1e9;

// Joules of one action on one accelerator, worked out once for all layers.
struct ActionCosts {
  ActionCosts(const EnergyProfile& profile, const Hardware& hw) {
    const double scale = energy_scale(profile, hw) * profile.factor * kPico;
    mac = profile.mac_pj * scale * hw.bits_w * hw.bits_a / (kWord * kWord);
    registers = profile.register_pj * scale * (hw.bits_w + hw.bits_a + 2 * hw.bits_psum) / kWord;
    wire = profile.array_pj * scale / kWord;
    const auto buffer = [&](double kb, double bits) {
      return profile.buffer_pj * scale * std::pow(kb / profile.buffer_kb, profile.buffer_exponent) *
             bits / kWord;
    };
    ifmap = buffer(hw.ifmap_kb, hw.bits_a);
    weight = buffer(hw.weight_kb, hw.bits_w);
    ofmap = buffer(hw.ofmap_kb, hw.bits_psum);
    op = profile.op_pj * scale * hw.bits_a / kWord;
    cycle = hw.rows * hw.cols * profile.clock_pj * scale;
    dram_byte = 8 * profile.dram_pj_per_bit[static_cast<std::size_t>(hw.dram)] * kPico;
  }
  double mac, registers, wire, ifmap, weight, ofmap, op, cycle, dram_byte;
};

LayerCost cost_beside_array(const ArrayLayer& layer, const Hardware& hw, const ActionCosts& costs,
                            const SimOptions& options) {
  LayerCost made;
  made.mac_j = layer.ops * hw.batch * costs.op;
  if (options.fuse_other_layers) return made;
  const double words = (layer.inputs + layer.outputs) * hw.batch;
  made.array.cycles = layer.outputs * hw.batch / hw.cols;
  made.array.ifmap_reads = layer.inputs * hw.batch;
  made.array.ofmap_writes = layer.outputs * hw.batch;
  made.dram_bytes = words * hw.bits_a / 8;
  made.buffer_j = made.array.ifmap_reads * costs.ifmap +
                  made.array.ofmap_writes * costs.ofmap * hw.bits_a / hw.bits_psum;
  return made;
}

LayerCost cost_on_array(const ArrayLayer& layer, const Hardware& hw, const ActionCosts& costs) {
  LayerCost made;
  made.array = count_array(layer, hw);
  made.dram_bytes = dram_traffic(layer, hw).bytes;
  const double at_work = layer.macs * hw.batch * (hw.zero_gate ? 1 - layer.zero_frac : 1);
  made.mac_j = at_work * costs.mac;
  made.register_j = at_work * costs.registers;
  made.network_j =
      costs.wire * (made.array.ifmap_reads * hw.bits_a + made.array.filter_reads * hw.bits_w +
                    made.array.ofmap_writes * hw.bits_psum);
  made.buffer_j = made.array.ifmap_reads * costs.ifmap + made.array.filter_reads * costs.weight +
                  made.array.ofmap_writes * costs.ofmap;
  return made;
}

// Bytes that stay on chip between two layers where outputs and weights fit together.
double kept_bytes(const ArrayLayer& layer, const ArrayLayer& next, const Hardware& hw) {
  if (!layer.computes || !next.computes || layer.outputs != next.inputs) return 0;
  const double outputs = layer.outputs * hw.batch * hw.bits_a / 8;
  const double weights = next.weights * hw.bits_w / 8;
  return outputs <= hw.ifmap_kb * kHalfKbBytes && weights <= hw.weight_kb * kHalfKbBytes ? outputs
                                                                                         : 0;
}

double cold_start_bytes(const ArrayLayer& first, const Hardware& hw) {
  const DramTraffic least = dram_traffic(first, hw);
  return std::min((hw.ifmap_kb + hw.weight_kb) * kHalfKbBytes, least.inputs + least.weights);
}

}  // namespace

ArrayNet::ArrayNet(const Net& net) {
  layers_.reserve(net.layers.size());
  for (const Primitive& layer : net.layers) layers_.push_back(array_layer(layer));
}

NetCost simulate(const ArrayNet& net, const Hardware& hw, const EnergyProfile& profile,
                 const SimOptions& options, std::vector<LayerCost>* layers) {
  const ActionCosts costs(profile, hw);
  const double cycles_per_byte = hw.freq_mhz * kMegahertz / (hw.bw_gbps * kGiga);
  NetCost total;
  double cycles = 0, core_j = 0, kept = 0;
  bool cold = true;
  for (std::size_t i = 0; i < net.layers().size(); ++i) {
    const ArrayLayer& layer = net.layers()[i];
    LayerCost cost = layer.computes ? cost_on_array(layer, hw, costs)
                                    : cost_beside_array(layer, hw, costs, options);
    if (options.fuse_layers) {
      cost.dram_bytes -= kept;
      kept = i + 1 < net.layers().size() ? kept_bytes(layer, net.layers()[i + 1], hw) : 0;
      cost.dram_bytes = std::max(0.0, cost.dram_bytes - kept);
    }
    const double waiting = cost.dram_bytes * cycles_per_byte;
    cost.bound = waiting > cost.array.cycles ? Bound::memory : Bound::compute;
    cost.cycles = std::max(cost.array.cycles, waiting);
    if (cold && layer.computes) {
      cost.cycles += cold_start_bytes(layer, hw) * cycles_per_byte;
      cold = false;
    }
    cost.clock_j = cost.cycles * costs.cycle;
    cost.dram_j = cost.dram_bytes * costs.dram_byte;
    cycles += layer.share * cost.cycles;
    core_j += layer.share * cost.core_j();
    total.dram_bytes += layer.share * cost.dram_bytes;
    total.macs += layer.share * layer.macs * hw.batch;
    total.weights += layer.second_changes ? 0 : layer.share * layer.weights;
    if (layers) layers->push_back(cost);
  }
  total.latency_s = cycles / (hw.freq_mhz * kMegahertz);
  total.leak_w = (hw.rows * hw.cols * profile.element_leak_w +
                  (hw.ifmap_kb + hw.weight_kb + hw.ofmap_kb) * profile.buffer_leak_w_per_kb) *
                 hw.vdd;
  total.memory_w = profile.dram_background_w_per_gbps * hw.bw_gbps;
  total.core_w = total.leak_w;
  if (total.latency_s > 0) {
    total.core_w += core_j / total.latency_s;
    total.memory_w += total.dram_bytes * costs.dram_byte / total.latency_s;
  }
  total.area_mm2 = area_mm2(profile, hw);
  return total;
}

std::string illegal_because(const Hardware& hw) {
  if (std::string fault = fault_of(hw); !fault.empty()) return fault;
  const double most = fastest_mhz(hw.node_nm, hw.vdd);
  if (hw.freq_mhz <= most) return {};
  char text[160];
  std::snprintf(text, sizeof text, "freq_mhz is %g; at %g V the %g nm node reaches %.0f MHz",
                hw.freq_mhz, hw.vdd, hw.node_nm, most);
  return text;
}

}  // namespace omen::power
