// SPDX-License-Identifier: Apache-2.0
// Each buffer is doubled, so half of it holds a tile while the other half is filled.
#include "sim/dram_traffic.hpp"

#include <algorithm>
#include <limits>

namespace omen::power {
namespace {

constexpr double kHalfKb = 512;  // usable bytes for each KB
constexpr int kLargestFilterPower = 12;

// Partial sums stay: `filters` x `pixels` of them at a time.
double sums_resident(const ArrayLayer& layer, const DramTraffic& least, double pixels,
                     double sum_words) {
  double best = std::numeric_limits<double>::infinity();
  double previous = 0;
  for (int power = 0; power <= kLargestFilterPower; ++power) {
    const double filters = std::min(static_cast<double>(1 << power), layer.n);
    if (filters == previous) break;
    previous = filters;
    const double held = std::max(1.0, floor_div(sum_words, filters));
    best = std::min(best, least.weights * ceil_div(pixels, held) +
                              least.inputs * ceil_div(layer.n, filters) + least.outputs);
  }
  return best;
}

}  // namespace

DramTraffic dram_traffic(const ArrayLayer& layer, const Hardware& hw) {
  const double weight_bits = layer.second_changes ? hw.bits_a : hw.bits_w;
  const double copies = layer.second_changes ? hw.batch : 1;
  DramTraffic made;
  made.weights = layer.weights * copies * weight_bits / 8;
  made.inputs = layer.inputs * hw.batch * hw.bits_a / 8;
  made.outputs = layer.outputs * hw.batch * hw.bits_a / 8;
  const double weight_room = hw.weight_kb * kHalfKb, input_room = hw.ifmap_kb * kHalfKb,
               sum_room = hw.ofmap_kb * kHalfKb;
  const double weight_tiles = ceil_div(made.weights, weight_room);
  const double rows_held = std::max(1.0, floor_div(input_room, layer.row_elements * hw.bits_a / 8));
  const double strips = ceil_div(layer.rows, rows_held);
  const double halo = 1 + (strips - 1) * std::max(0.0, layer.kh - layer.stride) / layer.rows;
  // A filter that does not fit is accumulated in pieces, and its sums may have to leave.
  double outputs = made.outputs;
  const double pieces = ceil_div(layer.k * weight_bits / 8, weight_room);
  const double sums = made.outputs * hw.bits_psum / hw.bits_a;
  if (pieces > 1 && sums > sum_room) outputs = sums * (2 * pieces - 1);
  const double a =
      made.weights + made.inputs * (made.inputs <= input_room ? 1 : weight_tiles) + outputs;
  const double b = made.weights * (weight_tiles > 1 ? strips : 1) + made.inputs * halo + outputs;
  const double c = sums_resident(layer, made, layer.m * (layer.second_changes ? 1 : hw.batch),
                                 floor_div(sum_room, hw.bits_psum / 8));
  made.bytes = std::min({a, b, c});
  made.tiling = made.bytes == a   ? Tiling::weights_resident
                : made.bytes == b ? Tiling::inputs_resident
                                  : Tiling::sums_resident;
  return made;
}

}  // namespace omen::power
