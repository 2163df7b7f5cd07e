// SPDX-License-Identifier: Apache-2.0
// Extents of blocks against sides and buffers of accelerators.
#include "learned/pairing.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <string_view>

#include "hardware/hardware_columns.hpp"
#include "nets/block_features.hpp"

namespace omen::power {
namespace {

enum Extent : std::int64_t {
  kPixels,
  kDepth,
  kFilters,
  kWindowRows,
  kOutRows,
  kInRows,
  kWeights,
  kInputs,
  kInputRow,
  kOutputs,
  kExtents
};

// Binary logarithm of the bits that one KB of a buffer holds for use; the other half is filled.
constexpr double kUsableBits = 12;
// Amounts of blocks without products: next to nothing, but with a logarithm.
constexpr double kNothing = 1e-3;
// Quotients of logarithms miss whole numbers by rounding.
constexpr double kRounding = 1e-4;

std::size_t feature(std::string_view name) {
  std::size_t at = 0;
  while (at < kBlockFeatures && name != kBlockFeatureNames[at]) ++at;
  return at;
}

std::int64_t column(std::string_view name) {
  std::int64_t at = 0;
  for (const HardwareColumn& one : kHardwareColumns) {
    if (name == one.name) break;
    ++at;
  }
  return at;
}

// Where the sizes stand among the features of a block.
struct Places {
  std::size_t matmul = feature("matmul"), pool = feature("pool"), other = feature("other"),
              cin = feature("log_cin"), cout = feature("log_cout"), window = feature("log_window"),
              groups = feature("log_groups"), h = feature("log_h"), w = feature("log_w"),
              ho = feature("log_ho"), wo = feature("log_wo"), macs = feature("log_macs"),
              weights = feature("log_weights"), inputs = feature("log_inputs"),
              outputs = feature("log_outputs");
};

struct BlockSizes {
  double extents[kExtents], amounts[kBlockAmounts], computes;
};

BlockSizes sizes_of(const float* features) {
  static const Places places;
  const auto size = [&](std::size_t at) { return std::round(std::expm1(double{features[at]})); };
  BlockSizes made;
  made.computes = features[places.macs] > 0 ? 1 : 0;
  const double groups = size(places.groups);
  const double depth = size(places.window) * size(places.cin) / groups;
  // The second operand of a product of activations counts as its weights.
  const double second =
      features[places.matmul] > 0 ? size(places.cin) * size(places.cout) / groups : 0;
  const double weights = second > 0 ? second : std::expm1(double{features[places.weights]}),
               inputs = std::expm1(double{features[places.inputs]}) - second,
               outputs = std::expm1(double{features[places.outputs]}),
               macs = std::expm1(double{features[places.macs]});
  const double values[kExtents] = {size(places.ho) * size(places.wo),
                                   depth,
                                   size(places.cout) / groups,
                                   std::sqrt(size(places.window)),
                                   size(places.ho),
                                   size(places.h),
                                   weights,
                                   inputs,
                                   size(places.w) * size(places.cin),
                                   outputs};
  for (std::int64_t i = 0; i < kExtents; ++i) made.extents[i] = std::log2(std::max(1.0, values[i]));
  made.amounts[0] = std::log(macs + outputs);
  made.amounts[1] = std::log(made.computes > 0 ? weights + inputs + outputs : kNothing);
  made.amounts[2] = std::log(made.computes > 0 ? macs : kNothing);
  return made;
}

// The whole number beside 2^x as a logarithm, with the slope of x.
at::Tensor whole_above(const at::Tensor& x) {
  const at::Tensor plain = x.clamp_min(0), steps = (plain.detach().exp2() - kRounding).ceil();
  return plain + (steps.clamp_min(1).log2() - plain.detach());
}
at::Tensor whole_below(const at::Tensor& x) {
  const at::Tensor plain = x.clamp_min(0), steps = (plain.detach().exp2() + kRounding).floor();
  return plain + (steps.clamp_min(1).log2() - plain.detach());
}

}  // namespace

BlockTensors block_tensors(const LearnedNet& net) {
  const auto layers = static_cast<std::int64_t>(net.layers());
  BlockTensors made;
  made.features = at::from_blob(const_cast<float*>(net.features.data()),
                                {layers, static_cast<std::int64_t>(kBlockFeatures)}, at::kFloat)
                      .clone();
  made.log_share =
      at::from_blob(const_cast<float*>(net.log_share.data()), {layers}, at::kFloat).clone();
  made.extents = at::empty({layers, kExtents}, at::kFloat);
  made.amounts = at::empty({layers, kBlockAmounts}, at::kFloat);
  made.computes = at::empty({layers}, at::kFloat);
  made.first = layers;
  for (std::int64_t i = 0; i < layers; ++i) {
    const BlockSizes sizes = sizes_of(&net.features[static_cast<std::size_t>(i) * kBlockFeatures]);
    std::copy_n(sizes.extents, kExtents, made.extents.data_ptr<float>() + i * kExtents);
    std::copy_n(sizes.amounts, kBlockAmounts, made.amounts.data_ptr<float>() + i * kBlockAmounts);
    made.computes.data_ptr<float>()[i] = static_cast<float>(sizes.computes);
    if (sizes.computes > 0 && made.first == layers) made.first = i;
  }
  if (made.first == layers) made.first = 0;
  return made;
}

at::Tensor pair_numbers(const BlockTensors& blocks, const at::Tensor& hardware) {
  static const std::int64_t rows = column("rows"), cols = column("cols"),
                            ifmap = column("ifmap_kb"), weight = column("weight_kb"),
                            ofmap = column("ofmap_kb"), bits_w = column("bits_w"),
                            bits_a = column("bits_a"), bits_sum = column("bits_psum");
  const auto of = [&](Extent extent) { return blocks.extents.select(1, extent).unsqueeze(0); };
  const auto on = [&](std::int64_t at) { return hardware.select(1, at).unsqueeze(1); };
  const auto room = [&](std::int64_t buffer, std::int64_t bits) {
    return on(buffer) - on(bits) + kUsableBits;  // words
  };
  const at::Tensor input_room = room(ifmap, bits_a), weight_room = room(weight, bits_w);
  const at::Tensor rows_held = whole_below(input_room - of(kInputRow));
  const at::Tensor row_folds = whole_above(of(kOutRows) - on(cols)),
                   copies = whole_below(on(rows) - of(kWindowRows));
  const at::Tensor all = at::stack(
      {whole_above(of(kPixels) - on(rows)), whole_above(of(kPixels) - on(cols)),
       whole_above(of(kFilters) - on(cols)), whole_above(of(kDepth) - on(rows)), row_folds,
       whole_above(of(kWindowRows) - on(rows)), copies, whole_below(on(cols) - of(kOutRows)),
       whole_above(of(kWeights) - weight_room), whole_above(of(kInputs) - input_room),
       whole_above(of(kInRows) - rows_held), whole_above(of(kOutputs) - room(ofmap, bits_sum)),
       whole_above(of(kDepth) - weight_room), whole_above(row_folds - copies),
       whole_below(copies - row_folds)},
      2);
  return all * blocks.computes.view({1, -1, 1});
}

}  // namespace omen::power
