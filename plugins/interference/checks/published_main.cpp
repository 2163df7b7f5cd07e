// SPDX-License-Identifier: Apache-2.0
// Slow-down and saving of the 34 published pairs from their times, with the published figures
// beside.
//   interference_published
// With OMEN_SHOW_BREAK=1 both jobs change places.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "masked_pairs.hpp"
#include "omen/testing/show.hpp"
#include "pack/packing.hpp"
#include "tables/csv_text.hpp"

namespace {

using namespace omen::interference;
using namespace omen::interference::checks;
namespace test = omen::test;

constexpr const char* kColumns[] = {"slowdown_1_pct", "slowdown_2_pct", "packing_saving_pct"};
constexpr double kNear = 0.05;  // points
// Published savings were cut off after one digit; what is further off is odd.
constexpr double kCutOff = 0.101;

std::map<std::string, double> solo_seconds(const std::filesystem::path& file) {
  const CsvText solo = CsvText::read(file.string());
  std::map<std::string, double> seconds;
  for (std::size_t row = 0; row < solo.rows(); ++row)
    seconds[solo.text(row, solo.index("task_id"))] = solo.number(row, solo.index("solo_time_s"));
  return seconds;
}

}  // namespace

int main() {
  const auto directory = data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the published pairs are absent");
    return test::kSkipped;
  }
  const std::map<std::string, double> seconds =
      solo_seconds(*directory / "alnair/futurewei_solo_runs.csv");
  const CsvText pairs = CsvText::read((*directory / "alnair/futurewei_corun_pairs.csv").string());
  double worst = 0, worst_published = 0, odd = 0;
  std::puts("pair: slower by (published), slower by (published), saving (published), %");
  for (std::size_t row = 0; row < pairs.rows(); ++row) {
    const auto number = [&](const std::string& column) {
      return pairs.number(row, pairs.index(column));
    };
    const std::string &a = pairs.text(row, pairs.index("task_1")),
                      &b = pairs.text(row, pairs.index("task_2"));
    PairTimes together{number("corun_time_1_s"), number("corun_time_2_s")};
    if (test::broken()) std::swap(together.first, together.second);
    const Packing packed = packing_of_times({seconds.at(a), seconds.at(b)}, together);
    const double ours[] = {100 * packed.slowdown_1, 100 * packed.slowdown_2, 100 * packed.saving};
    std::string line = a + "," + b + ":";
    double off = 0;
    for (std::size_t i = 0; i < std::size(ours); ++i) {
      const double published = number(std::string("published_") + kColumns[i]);
      worst = std::max(worst, std::abs(ours[i] - number(std::string("recomputed_") + kColumns[i])));
      off = std::max(off, std::abs(ours[i] - published));
      char cell[64];
      std::snprintf(cell, sizeof cell, " %.2f (%.2f)", ours[i], published);
      line += cell;
    }
    if (off > kCutOff) {
      ++odd;
      line += " odd";
    }
    worst_published = std::max(worst_published, off);
    std::puts(line.c_str());
  }
  test::show("published_pairs_odd", odd, "pairs");
  test::show("published_pairs_worst", worst_published, "points");
  return test::show("recomputed_pairs_worst", worst, "points", "<=", kNear);
}
