// SPDX-License-Identifier: Apache-2.0
// What the checks share: where the data lies, and methods by one call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "pair/measured_pairs.hpp"
#include "pair/pair_forecast.hpp"

namespace omen::interference::checks {

std::optional<std::filesystem::path> data_directory();

PairForecast fitted(const Measured& seen, Method method, std::uint64_t seed = 1);
// What `baseline.gbt` says of all rows, having seen some of them.
std::vector<double> rho_of_gbt(const std::vector<DirectedRow>& rows, const std::vector<bool>& seen);
double mean_error(const std::vector<Speed>& said, const std::vector<double>& rho);

}  // namespace omen::interference::checks
