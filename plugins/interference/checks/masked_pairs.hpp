// SPDX-License-Identifier: Apache-2.0
// Seeded masks over pairs that hide both directions, for the checks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <omen/dataset.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pair/pair_forecast.hpp"
#include "tables/directed_rows.hpp"

namespace omen::interference::checks {

std::optional<std::filesystem::path> data_directory();

// Rows with what was measured, aligned.
struct Measured {
  PairRows rows;
  std::vector<double> rho;
};
Measured measured_of(const std::vector<DirectedRow>& rows);

// Which rows are seen when this part of the unordered pairs is.
std::vector<bool> seen_pairs(const Measured& all, double share, std::uint64_t seed);
Measured taken(const Measured& all, const std::vector<bool>& which, bool wanted);

PairForecast fitted(const Measured& seen, Method method, std::uint64_t seed = 1);
double mean_error(const std::vector<Speed>& said, const std::vector<double>& rho);

}  // namespace omen::interference::checks
