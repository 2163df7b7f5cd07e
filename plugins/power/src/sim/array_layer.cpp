// SPDX-License-Identifier: Apache-2.0
// From a primitive to the product that the array computes.
#include "sim/array_layer.hpp"

namespace omen::power {

ArrayLayer array_layer(const Primitive& layer) {
  const Amounts amounts = amounts_of(layer);
  ArrayLayer made;
  made.m = amounts.m;
  made.k = amounts.k;
  made.n = amounts.n;
  made.groups = static_cast<double>(layer.groups);
  made.kh = static_cast<double>(layer.kh);
  made.kw = static_cast<double>(layer.kw);
  made.stride = static_cast<double>(layer.stride_h);
  made.channels = static_cast<double>(layer.cin) / made.groups;
  made.rows = static_cast<double>(layer.h);
  made.row_elements = static_cast<double>(layer.w) * static_cast<double>(layer.cin);
  made.out_rows = static_cast<double>(layer.ho);
  made.second_changes = layer.type == BlockType::matmul;
  made.weights = made.second_changes ? amounts.second : amounts.weights;
  made.inputs = amounts.inputs - amounts.second;
  made.outputs = amounts.outputs;
  made.macs = amounts.macs;
  made.ops = amounts.ops;
  made.share = layer.share;
  made.zero_frac = layer.act_zero_frac;
  made.computes = has_macs(layer.type);
  return made;
}

}  // namespace omen::power
