// SPDX-License-Identifier: Apache-2.0
// A network: its primitive layers in the order they run, and who reads whom.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nets/primitive.hpp"

namespace omen::power {

struct Bits {
  int weight = 8, act = 8, psum = 32;
};

struct Net {
  std::string name;
  std::int64_t id = 0;
  int batch = 1;
  Shape input;
  Bits bits;
  std::vector<Primitive> layers;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // layer to layer
  // Of a model file, with what no layer multiplies by; 0 where the layers are all there is.
  double parameters = 0;
  double cache_bytes = 0;  // keys and values that are kept between steps
};

// Sums over a network for one image.
struct NetTotals {
  double macs = 0, ops = 0, weights = 0, activations = 0;
  double peak_live = 0;  // most elements alive at once: inputs, outputs and held skips of a layer
  double intensity = 0;  // MACs for each byte of weights, inputs and outputs
  double flops() const { return 2 * macs + ops; }
};

NetTotals totals_of(const Net& net);

// 16 hex digits of the layers and the precision; equal networks share them whatever their names.
std::string net_key(const Net& net);

}  // namespace omen::power
