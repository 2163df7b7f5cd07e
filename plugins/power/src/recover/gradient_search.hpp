// SPDX-License-Identifier: Apache-2.0
// Designs that a frozen predictor leads to: its slopes move relaxed parameters from many starts.
#pragma once

#include <functional>
#include <vector>

#include "recover/search.hpp"

namespace omen::power {

// Places for slopes: one for each ordered parameter of the design space, one for each word of a
// choice. Slopes of ordered parameters are those of logarithms by logarithms.
std::size_t slope_count();
std::size_t slope_place(std::size_t parameter);  // of its first one

// What a predictor says of an accelerator, which may lie between the legal ones.
struct SlopedGuess {
  Guess guess;
  double doubt = 0;                    // logarithm by which its latency may be higher
  std::vector<double> power, latency;  // slope_count() slopes each
};
using SlopedSurrogate = std::function<std::vector<SlopedGuess>(const std::vector<Hardware>&)>;

struct GradientOptions {
  std::size_t starts = 32;  // half of them centres of k-means, half spread over the space
  int steps = 100;
  double rate = 0.1;
  double caution = 0.25;  // part of the doubt that counts
  std::uint64_t seed = 1;
};

struct GradientResult {
  std::vector<Design> proposed;  // distinct, what the predictor prefers first
  // Of each start, the guessed power and latency after each step.
  std::vector<std::vector<Guess>> trajectories;
};

// Regresses the parameters through the predictor: bounded axes behind sigmoids, choices by
// straight-through estimates (arXiv:1308.3432), limits by an augmented Lagrangian, steps by Adam.
// What comes out is rounded to legal designs, which then step to better neighbours for as long as
// the predictor prefers these. The simulator is not asked.
GradientResult descend_slopes(const Objective& objective, const SlopedSurrogate& predictor,
                              const GradientOptions& options);

}  // namespace omen::power
