// SPDX-License-Identifier: Apache-2.0
// Fits and compares.
#include "masked_pairs.hpp"

#include <cmath>
#include <cstdlib>
#include <omen/boosting/gbt.hpp>
#include <omen/learn/tabular_predictor.hpp>

#include "omen/testing/ready_run.hpp"

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

std::vector<double> rho_of_gbt(const std::vector<DirectedRow>& rows,
                               const std::vector<bool>& seen) {
  std::vector<DirectedRow> known;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (seen[row]) known.push_back(rows[row]);
  const auto put = [](MemoryDataset& data, const std::vector<DirectedRow>& of) {
    DirectedTables tables = to_tables(of);
    data.put("workloads", tables.workloads);
    data.put("targets", tables.targets);
  };
  const test::ReadyRun run;
  learn::TabularPredictor gbt(
      "baseline.gbt", [] { return std::make_unique<learn::GbtLearner>(learn::GbtOptions{}); },
      {learn::LogMode::kAuto, learn::LogMode::kOff, 5, {}});
  MemoryDataset train, all;
  put(train, known);
  put(all, rows);
  gbt.fit(train.view(), Dataset(nullptr), run);
  // Rows come back in the order of the workloads.
  return gbt.predict(all.view(), run).read_all().numbers(kRhoColumn);
}

double mean_error(const std::vector<Speed>& said, const std::vector<double>& rho) {
  double sum = 0;
  for (std::size_t i = 0; i < rho.size(); ++i) sum += std::abs(said[i].mean - rho[i]);
  return sum / static_cast<double>(rho.size());
}

}  // namespace omen::interference::checks
