// SPDX-License-Identifier: Apache-2.0
// The Gaussian process of kernels: how alike their code is, times how alike their launches are.
#pragma once

#include <omen/learn/gaussian_process.hpp>

#include "cost/encoder.hpp"

namespace omen::loadbalance::cost {

// k = (kr R + kc C + kg G + k1) A with Matern 3/2 kernels R, C, G and A over the blocks of ratios,
// counts, Grewe's counts and launch (doi:10.7551/mitpress/3206.001.0001, eq. 4.17). Two kernels are
// alike as far as their code is, at launches that are alike.
struct ProcessScales {
  double ratios = 1.0, counts = 0.5, grewe = 0.5, launch = 0.3;  // amplitudes
  double code_length = 0.7, launch_length = 2.0;
  double noise = 0.03;  // variance of a measurement relative to an amplitude of 1
};

inline learn::GaussianProcess make_process(const ProcessScales& scales, bool with_grewe) {
  using learn::Kernel;
  const auto code = [&](Block block) {
    return Kernel::matern(kBlockNames[block], scales.code_length);
  };
  Kernel sum = scales.ratios * code(kRatios) + scales.counts * code(kCounts);
  if (with_grewe) sum = sum + scales.grewe * code(kGreweBlock);
  sum = sum + Kernel::constant(scales.launch);
  return {sum * Kernel::matern(kBlockNames[kLaunch], scales.launch_length), scales.noise};
}

}  // namespace omen::loadbalance::cost
