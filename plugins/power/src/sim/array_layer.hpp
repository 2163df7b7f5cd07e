// SPDX-License-Identifier: Apache-2.0
// A layer as the array sees it: one product for each group, and the bytes around it.
#pragma once

#include "nets/primitive.hpp"

namespace omen::power {

// Everything is a double: counts exceed 32 bits and are multiplied with each other.
struct ArrayLayer {
  double m = 0, k = 0, n = 0;  // product of one group and one image
  double groups = 1;
  double kh = 1, kw = 1, stride = 1, channels = 1;  // channels of one group
  double rows = 1, row_elements = 1;                // of the input of one image
  double out_rows = 1;
  double weights = 0, inputs = 0, outputs = 0;  // inputs and outputs of one image
  double macs = 0, ops = 0;                     // of one image
  double zero_frac = 0;
  double share = 1;             // how likely the layer runs at all
  bool computes = true;         // false: runs beside the array
  bool second_changes = false;  // the second operand is another one for each image
};

ArrayLayer array_layer(const Primitive& layer);

// The smallest whole number that is not below a / b; both below 2^53.
inline double ceil_div(double a, double b) {
  const double quotient = a / b;
  const auto whole = static_cast<double>(static_cast<long long>(quotient));
  return whole < quotient ? whole + 1 : whole;
}
inline double floor_div(double a, double b) {
  return static_cast<double>(static_cast<long long>(a / b));
}

}  // namespace omen::power
