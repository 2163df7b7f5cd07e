// SPDX-License-Identifier: Apache-2.0
// Reads, masks and fits.
#include "masked_pairs.hpp"

#include <cmath>
#include <cstdlib>
#include <omen/learn/random.hpp>

namespace omen::interference::checks {

std::optional<std::filesystem::path> data_directory() {
  const char* data = std::getenv("OMEN_DATA");
  if (!data || !*data) return std::nullopt;
  const std::filesystem::path directory = std::filesystem::path(data) / "interference";
  if (!std::filesystem::is_directory(directory)) return std::nullopt;
  return directory;
}

Measured measured_of(const std::vector<DirectedRow>& rows) {
  const DirectedTables tables = to_tables(rows);
  MemoryDataset data;
  data.put("workloads", tables.workloads);
  data.put("targets", tables.targets);
  Measured all{read_pair_rows(data.view(), nullptr, [] {}), {}};
  all.rho = read_rho(data.view(), all.rows);
  return all;
}

std::vector<bool> seen_pairs(const Measured& all, double share, std::uint64_t seed) {
  std::int32_t groups = 0;
  for (const PairRow& row : all.rows.rows) groups = std::max(groups, row.group + 1);
  const std::vector<std::ptrdiff_t> order = learn::Random(seed, 15).permutation(groups);
  std::vector<bool> seen_group(static_cast<std::size_t>(groups), false);
  const auto count = static_cast<std::size_t>(std::lround(share * groups));
  for (std::size_t i = 0; i < count; ++i) seen_group[static_cast<std::size_t>(order[i])] = true;
  std::vector<bool> seen;
  for (const PairRow& row : all.rows.rows)
    seen.push_back(seen_group[static_cast<std::size_t>(row.group)]);
  return seen;
}

Measured taken(const Measured& all, const std::vector<bool>& which, bool wanted) {
  Measured some{all.rows, {}};
  some.rows.rows.clear();
  for (std::size_t row = 0; row < all.rho.size(); ++row) {
    if (which[row] != wanted) continue;
    some.rows.rows.push_back(all.rows.rows[row]);
    some.rho.push_back(all.rho[row]);
  }
  return some;
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
