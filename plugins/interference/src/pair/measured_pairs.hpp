// SPDX-License-Identifier: Apache-2.0
// Directed rows with what was measured, and seeded masks that hide both directions of a pair.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pair/pair_rows.hpp"
#include "tables/directed_rows.hpp"

namespace omen::interference {

// Rows and speeds, aligned.
struct Measured {
  PairRows rows;
  std::vector<double> rho;
};
Measured measured_of(const std::vector<DirectedRow>& rows);
// A table of co-runs: job, partner, rho, and any feature X with its partner_X. Numbers are features
// where every cell of the column is one.
Measured read_coruns(const std::string& path);

// Which rows are seen when this part of the unordered pairs is.
std::vector<bool> seen_pairs(const Measured& all, double share, std::uint64_t seed);
Measured taken(const Measured& all, const std::vector<bool>& which, bool wanted);

}  // namespace omen::interference
