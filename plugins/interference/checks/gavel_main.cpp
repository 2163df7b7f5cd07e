// SPDX-License-Identifier: Apache-2.0
// Speeds of Gavel's pairs with part of them seen: error of every method, coverage of the intervals.
//   interference_gavel MASKS [methods]
// With OMEN_SHOW_BREAK=1 the methods learn from shuffled speeds.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <omen/learn/random.hpp>

#include "masked_pairs.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::interference;
using namespace omen::interference::checks;
namespace test = omen::test;

constexpr double kSeenShare = 0.3;

struct Goal {
  const char* gpu;
  double error;
};
constexpr Goal kGoals[] = {{"p100", 0.047}, {"v100", 0.038}, {"k80", 0.017}};

void shuffle(std::vector<double>& values) {
  std::vector<double> mixed;
  const auto count = static_cast<std::ptrdiff_t>(values.size());
  for (const std::ptrdiff_t at : omen::learn::Random(5).permutation(count))
    mixed.push_back(values[static_cast<std::size_t>(at)]);
  values = mixed;
}

struct Outcome {
  double error = 0, covered = 0, width = 0, cells = 0;
};

Outcome masked(const Measured& all, Method method, int masks) {
  Outcome sum;
  for (int mask = 0; mask < masks; ++mask) {
    const std::vector<bool> seen = seen_pairs(all, kSeenShare, static_cast<std::uint64_t>(mask));
    Measured train = taken(all, seen, true);
    const Measured asked = taken(all, seen, false);
    if (test::broken()) shuffle(train.rho);
    const std::vector<Speed> said = fitted(train, method).ask(asked.rows, 0.9);
    sum.error += mean_error(said, asked.rho) / masks;
    for (std::size_t i = 0; i < said.size(); ++i) {
      sum.covered += asked.rho[i] >= said[i].low && asked.rho[i] <= said[i].high ? 1 : 0;
      sum.width += said[i].high - said[i].low;
      ++sum.cells;
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const auto directory = data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the Gavel tables are absent");
    return test::kSkipped;
  }
  const int masks = argc > 1 ? std::atoi(argv[1]) : 20;
  const bool all_of_them = argc > 2 && std::strcmp(argv[2], "methods") == 0;
  int failed = 0;
  for (const Goal& goal : kGoals) {
    const std::string gpu = goal.gpu;
    const Measured all =
        measured_of(read_gavel((*directory / "gavel/gavel_pairs.csv").string(), gpu));
    const Outcome process = masked(all, Method::kProcess, masks);
    failed |= test::show(gpu + "_error_30_pct_seen", process.error, "1", "<=", goal.error);
    const double coverage = 100 * process.covered / process.cells;
    failed |= test::show(gpu + "_coverage_of_90", coverage, "%", ">=", 87);
    failed |= test::show(gpu + "_coverage_of_90_most", coverage, "%", "<=", 93);
    test::show(gpu + "_interval_width", process.width / process.cells, "1");
    if (!all_of_them) continue;
    for (const Method method : {Method::kConst, Method::kClusterTable, Method::kAdditive,
                                Method::kLowRank, Method::kTrees}) {
      const Outcome other = masked(all, method, masks);
      const double width = process.width / process.cells, other_width = other.width / other.cells;
      test::show(gpu + "_error_" + method_name(method), other.error, "1");
      test::show(gpu + "_interval_width_" + method_name(method), other_width, "1");
      // Trees have no width of their own: their intervals are split-conformal.
      if (method == Method::kTrees)
        failed |= test::show(gpu + "_interval_width_over_trees", width / other_width, "x", "<", 1);
    }
  }
  return failed;
}
