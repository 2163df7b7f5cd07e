// SPDX-License-Identifier: Apache-2.0
// Pairs of the Gavel campaign: what isolated rates on all GPUs tell of a job, and both directions.
#include <algorithm>
#include <cmath>
#include <map>

#include "tables/csv_text.hpp"
#include "tables/directed_rows.hpp"

namespace omen::interference {
namespace {

struct GavelJob {
  std::string model;
  double batch;  // NaN: the job has none
  bool operator<(const GavelJob& other) const {
    const auto key = [](const GavelJob& job) {
      return std::pair(job.model, std::isnan(job.batch) ? -1 : job.batch);
    };
    return key(*this) < key(other);
  }
};
using GavelRates = std::map<std::string, std::map<GavelJob, double>>;  // by GPU

double rate_of(const GavelRates& rates, const std::string& gpu, const GavelJob& job) {
  const auto device = rates.find(gpu);
  if (device == rates.end()) return std::nan("");
  const auto at = device->second.find(job);
  return at == device->second.end() ? std::nan("") : at->second;
}

// Samples a second relative to the best batch of the network, and the batch relative to the middle.
struct GavelPlace {
  double saturation = 1, relative_batch = 1;
};
GavelPlace place_of(const std::map<GavelJob, double>& rates, const GavelJob& job) {
  if (std::isnan(job.batch)) return {};
  double most = 0, logs = 0, count = 0;
  for (const auto& [other, rate] : rates) {
    if (other.model != job.model) continue;
    most = std::max(most, rate * other.batch);
    logs += std::log(other.batch);
    ++count;
  }
  const auto own = rates.find(job);
  if (own == rates.end() || most <= 0) return {};
  return {own->second * job.batch / most, job.batch / std::exp(logs / count)};
}

JobFacts gavel_facts(const GavelRates& rates, const std::string& gpu, const GavelJob& job) {
  JobFacts facts;
  facts.family = job.model;
  facts.name = job.model;
  if (std::isfinite(job.batch)) facts.name += " " + std::to_string(std::lround(job.batch));
  const GavelPlace place = place_of(rates.at(gpu), job);
  const double v100 = rate_of(rates, "v100", job);
  facts.numbers = {{"batch", job.batch},
                   {"relative_batch", place.relative_batch},
                   {"saturation", place.saturation},
                   {"rate_per_s", rate_of(rates, gpu, job)},
                   {"k80_to_v100", v100 / rate_of(rates, "k80", job)},
                   {"p100_to_v100", v100 / rate_of(rates, "p100", job)}};
  return facts;
}

}  // namespace

std::vector<DirectedRow> read_gavel(const std::string& pairs_csv, const std::string& device) {
  const CsvText csv = CsvText::read(pairs_csv);
  const std::size_t source = csv.index("source"), gpu = csv.index("gpu");
  const std::size_t model[] = {csv.index("model_1"), csv.index("model_2")};
  const std::size_t batch[] = {csv.index("batch_1"), csv.index("batch_2")};
  const std::size_t scale[] = {csv.index("scale_1"), csv.index("scale_2")};
  const std::size_t iso[] = {csv.index("iso_1"), csv.index("iso_2")};
  const std::size_t norm[] = {csv.index("norm_1"), csv.index("norm_2")};
  const auto counts = [&](std::size_t row) {
    return csv.text(row, source) == "oracle" && csv.number(row, scale[0]) == 1 &&
           csv.number(row, scale[1]) == 1;
  };
  const auto job_at = [&](std::size_t row, int which) {
    return GavelJob{csv.text(row, model[which]), csv.number(row, batch[which])};
  };
  GavelRates rates;
  for (std::size_t row = 0; row < csv.rows(); ++row)
    for (const int which : {0, 1})
      if (counts(row) && csv.number(row, iso[which]) > 0)
        rates[csv.text(row, gpu)][job_at(row, which)] = csv.number(row, iso[which]);
  std::vector<DirectedRow> rows;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (!counts(row) || (!device.empty() && csv.text(row, gpu) != device)) continue;
    if (std::isnan(csv.number(row, norm[0])) || std::isnan(csv.number(row, norm[1]))) continue;
    const std::string& on = csv.text(row, gpu);
    const JobFacts first = gavel_facts(rates, on, job_at(row, 0));
    const JobFacts second = gavel_facts(rates, on, job_at(row, 1));
    const std::string group = on + ": " + first.name + " | " + second.name;
    rows.push_back({first, second, on, "timeslice", csv.number(row, norm[0]), group, {}});
    if (first.name != second.name)
      rows.push_back({second, first, on, "timeslice", csv.number(row, norm[1]), group, {}});
  }
  return rows;
}

}  // namespace omen::interference
