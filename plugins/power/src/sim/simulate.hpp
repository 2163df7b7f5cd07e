// SPDX-License-Identifier: Apache-2.0
// Time, energy and power of a network on an accelerator, layer by layer.
#pragma once

#include <vector>

#include "nets/net.hpp"
#include "sim/array_counts.hpp"
#include "sim/dram_traffic.hpp"
#include "sim/energy_profile.hpp"

namespace omen::power {

struct SimOptions {
  // Layers beside the array run while results pass by; else they take time and traffic.
  bool fuse_other_layers = true;
  // Outputs that fit beside the next layer's weights never leave.
  bool fuse_layers = false;
};

enum class Bound { compute, memory };

struct LayerCost {
  ArrayCounts array;
  double cycles = 0;  // with waiting for memory
  double dram_bytes = 0;
  double mac_j = 0, register_j = 0, network_j = 0, buffer_j = 0, clock_j = 0, dram_j = 0;
  Bound bound = Bound::compute;
  double core_j() const { return mac_j + register_j + network_j + buffer_j + clock_j; }
};

struct NetCost {
  double core_w = 0, memory_w = 0, latency_s = 0, area_mm2 = 0, leak_w = 0;
  double macs = 0, weights = 0, dram_bytes = 0;
  double power_w() const { return core_w + memory_w; }
  double energy_j() const { return power_w() * latency_s; }  // of one batch
};

// A network prepared for many accelerators.
class ArrayNet {
 public:
  explicit ArrayNet(const Net& net);
  const std::vector<ArrayLayer>& layers() const { return layers_; }

 private:
  std::vector<ArrayLayer> layers_;
};

// `layers`, where given, gets what each layer costs. The parameters must be free of faults.
NetCost simulate(const ArrayNet& net, const Hardware& hardware, const EnergyProfile& profile,
                 const SimOptions& options = {}, std::vector<LayerCost>* layers = nullptr);

// Why this accelerator cannot be built or clocked; empty where it can.
std::string illegal_because(const Hardware& hardware);

}  // namespace omen::power
