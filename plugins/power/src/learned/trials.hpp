// SPDX-License-Identifier: Apache-2.0
// Trainings that are compared on networks which none of them saw.
#pragma once

#include <string>
#include <vector>

#include "learned/fitting.hpp"

namespace omen::power {

// Networks to learn from and others to judge by.
struct TrialRows {
  LearnedRows seen, held;
};
// A share of the networks is held out, by the seed. OMEN_INVALID_DATA for fewer than four networks.
TrialRows split_trials(const LearnedRows& rows, double held_share, std::uint64_t seed);

// Rows of a share of the networks, or a share of the rows of all networks; the same ones of a seed,
// and more of them for a larger share.
LearnedRows part_of_networks(const LearnedRows& rows, double share, std::uint64_t seed);
LearnedRows part_of_rows(const LearnedRows& rows, double share, std::uint64_t seed);
std::size_t networks_in(const LearnedRows& rows);

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
