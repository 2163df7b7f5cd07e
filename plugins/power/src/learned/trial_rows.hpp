// SPDX-License-Identifier: Apache-2.0
// Parts of a dataset that trainings are compared on.
#pragma once

#include <cstdint>

#include "learned/learned_rows.hpp"

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

}  // namespace omen::power
