// SPDX-License-Identifier: Apache-2.0
// Fits and compares.
#include "masked_pairs.hpp"

#include <cmath>
#include <cstdlib>

namespace omen::interference::checks {

std::optional<std::filesystem::path> data_directory() {
  const char* data = std::getenv("OMEN_DATA");
  if (!data || !*data) return std::nullopt;
  const std::filesystem::path directory = std::filesystem::path(data) / "interference";
  if (!std::filesystem::is_directory(directory)) return std::nullopt;
  return directory;
}

PairForecast fitted(const Measured& seen, Method method, std::uint64_t seed) {
  learn::Context context;
  context.seed = seed;
  return PairForecast::fit(seen.rows, seen.rho, method, {}, context);
}

double mean_error(const std::vector<Speed>& said, const std::vector<double>& rho) {
  double sum = 0;
  for (std::size_t i = 0; i < rho.size(); ++i) sum += std::abs(said[i].mean - rho[i]);
  return sum / static_cast<double>(rho.size());
}

}  // namespace omen::interference::checks
