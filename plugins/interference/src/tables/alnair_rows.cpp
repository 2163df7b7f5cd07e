// SPDX-License-Identifier: Apache-2.0
// Pairs under NVIDIA MPS, and the co-runs of twelve tasks with their solo times.
#include <cmath>
#include <filesystem>
#include <map>
#include <omen/error.hpp>

#include "pack/packing.hpp"
#include "tables/csv_text.hpp"
#include "tables/directed_rows.hpp"

namespace omen::interference {
namespace {

std::string beside(const std::string& path, const char* name) {
  return (std::filesystem::path(path).parent_path() / name).string();
}

const JobFacts& fact_named(const std::map<std::string, JobFacts>& facts, const std::string& name) {
  const auto at = facts.find(name);
  if (at == facts.end())
    throw Error(OMEN_INVALID_DATA, "job '" + name + "' has no solo run",
                "Every job of the pairs needs a row in the table of solo runs beside it.");
  return at->second;
}

}  // namespace

std::vector<DirectedRow> read_alnair(const std::string& pairs_csv) {
  const CsvText solo = CsvText::read(beside(pairs_csv, "alnair_mps_solo.csv"));
  const std::size_t job = solo.index("job"), set = solo.index("dataset"), net = solo.index("model"),
                    batch = solo.index("batch_size"), util = solo.index("solo_gpu_util_pct"),
                    time = solo.index("solo_us_per_10_steps");
  std::map<std::string, JobFacts> facts;
  for (std::size_t row = 0; row < solo.rows(); ++row)
    facts[solo.text(row, job)] = {solo.text(row, job),
                                  solo.text(row, set) + "-" + solo.text(row, net),
                                  {{"batch", solo.number(row, batch)},
                                   {"util_pct", solo.number(row, util)},
                                   {"rate_per_s", 1e7 / solo.number(row, time)}}};
  const CsvText pairs = CsvText::read(pairs_csv);
  const std::size_t victim = pairs.index("victim"), aggressor = pairs.index("aggressor"),
                    slowdown = pairs.index("slowdown_ratio");
  std::vector<DirectedRow> rows;
  for (std::size_t row = 0; row < pairs.rows(); ++row) {
    const double ratio = pairs.number(row, slowdown);
    if (!(ratio > 0)) throw Error(OMEN_INVALID_DATA, "a slow-down ratio is not above 0");
    rows.push_back({fact_named(facts, pairs.text(row, victim)),
                    fact_named(facts, pairs.text(row, aggressor)),
                    "alnair-server",
                    "mps",
                    1 / ratio,
                    {},
                    {}});
  }
  return rows;
}

std::vector<DirectedRow> read_futurewei(const std::string& pairs_csv) {
  const CsvText solo = CsvText::read(beside(pairs_csv, "futurewei_solo_runs.csv"));
  const std::size_t task = solo.index("task_id"), model = solo.index("model"),
                    batch = solo.index("batch_size"), time = solo.index("solo_time_s");
  std::map<std::string, JobFacts> facts;
  std::map<std::string, double> seconds;
  for (std::size_t row = 0; row < solo.rows(); ++row) {
    const std::string& name = solo.text(row, task);
    seconds[name] = solo.number(row, time);
    facts[name] = {name,
                   solo.text(row, model),
                   {{"batch", solo.number(row, batch)}, {"solo_s", seconds[name]}}};
  }
  const CsvText pairs = CsvText::read(pairs_csv);
  const std::size_t name_1 = pairs.index("task_1"), name_2 = pairs.index("task_2"),
                    time_1 = pairs.index("corun_time_1_s"), time_2 = pairs.index("corun_time_2_s");
  std::vector<DirectedRow> rows;
  for (std::size_t row = 0; row < pairs.rows(); ++row) {
    const std::string &a = pairs.text(row, name_1), &b = pairs.text(row, name_2);
    const JobFacts &fact_a = fact_named(facts, a), &fact_b = fact_named(facts, b);
    const PairSpeeds speeds = speeds_from_times(
        {seconds[a], seconds[b]}, {pairs.number(row, time_1), pairs.number(row, time_2)});
    rows.push_back({fact_a, fact_b, "futurewei-cluster", "timeslice", speeds.first, {}, {}});
    rows.push_back({fact_b, fact_a, "futurewei-cluster", "timeslice", speeds.second, {}, {}});
  }
  return rows;
}

}  // namespace omen::interference
