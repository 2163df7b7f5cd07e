// SPDX-License-Identifier: Apache-2.0
// Trainings that are compared on networks which none of them saw.
#pragma once

#include <string>
#include <vector>

#include "learned/fitting.hpp"

namespace omen::power {

struct TrialResult {
  CostErrors errors{};       // relative, of the networks that were held out
  std::int64_t weights = 0;  // numbers that are learnt
  double mean() const { return (errors[0] + errors[1] + errors[2]) / 3; }
};
// Trains from a start that the seed chooses; nothing is written.
TrialResult run_trial(const LearnedRows& seen, const LearnedRows& held, NetworkKind kind,
                      const LearnedOptions& options, std::uint64_t seed, const Run& run);

// Widths and depths drawn at random, the usual sizes first.
std::vector<LearnedOptions> drawn_sizes(const LearnedOptions& usual, int count, std::uint64_t seed);

}  // namespace omen::power
