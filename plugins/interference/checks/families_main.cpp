// SPDX-License-Identifier: Apache-2.0
// Speeds of families and mixes that were not seen: Alnair under MPS, MISO on slices.
//   interference_families alnair|miso
// With OMEN_SHOW_BREAK=1 the methods learn from speeds turned upside down.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "masked_pairs.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::interference;
using namespace omen::interference::checks;
namespace test = omen::test;

void break_if_asked(Measured& train) {
  if (!test::broken()) return;
  for (double& rho : train.rho) rho = 1.1 - rho;
}

struct FamilyOut {
  double error = 0, cells = 0, covered = 0;
};

// No training row holds the family on either side; rows whose job is of it are asked.
FamilyOut family_out(const Measured& all, const std::string& family, Method method) {
  std::vector<bool> train, asked;
  for (const PairRow& row : all.rows.rows) {
    const auto is_of = [&](std::int32_t job) {
      return family_of(all.rows.jobs[static_cast<std::size_t>(job)]) == family;
    };
    train.push_back(!is_of(row.victim) && !is_of(row.partners[0]));
    asked.push_back(is_of(row.victim));
  }
  Measured seen = taken(all, train, true);
  const Measured test_rows = taken(all, asked, true);
  break_if_asked(seen);
  const std::vector<Speed> said = fitted(seen, method).ask(test_rows.rows, 0.9);
  FamilyOut out;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const double truth = std::min(test_rows.rho[i], 1.0);
    out.error += std::abs(said[i].mean - test_rows.rho[i]);
    out.covered += truth >= said[i].low && truth <= said[i].high ? 1 : 0;
    ++out.cells;
  }
  return out;
}

int show_alnair(const std::filesystem::path& directory) {
  const Measured all =
      measured_of(read_alnair((directory / "alnair/alnair_mps_pairs.csv").string()));
  std::set<std::string> families;
  for (const JobProfile& job : all.rows.jobs) families.insert(family_of(job));
  int failed = 0;
  for (const Method method :
       {Method::kProcess, Method::kTrees, Method::kDelayLaw, Method::kUtilsum, Method::kConst}) {
    FamilyOut sum;
    for (const std::string& family : families) {
      const FamilyOut one = family_out(all, family, method);
      if (method == Method::kProcess)
        test::show("coverage_" + family, 100 * one.covered / one.cells, "%");
      sum.error += one.error;
      sum.cells += one.cells;
      sum.covered += one.covered;
    }
    const double error = sum.error / sum.cells, coverage = 100 * sum.covered / sum.cells;
    if (method != Method::kProcess) {
      test::show(std::string("family_out_error_") + method_name(method), error, "1");
      continue;
    }
    failed |= test::show("family_out_error", error, "1", "<", 0.057);
    failed |= test::show("family_out_coverage", coverage, "%", ">=", 80);
    failed |= test::show("family_out_coverage_most", coverage, "%", "<=", 97);
  }
  return failed;
}

// Mixes that are the same up to order and a digit are on one side of the split.
int show_miso(const std::filesystem::path& directory) {
  const Measured all =
      measured_of(read_miso((directory / "miso/unet_mps_input.npy").string(), 3000));
  const std::vector<bool> seen = seen_pairs(all, 0.8, 1);
  Measured train = taken(all, seen, true);
  const Measured asked = taken(all, seen, false);
  break_if_asked(train);
  const double error = mean_error(fitted(train, Method::kTrees).ask(asked.rows, 0.9), asked.rho);
  test::show("miso_rows", static_cast<double>(asked.rho.size()), "rows");
  test::show("miso_error_const",
             mean_error(fitted(train, Method::kConst).ask(asked.rows, 0.9), asked.rho), "1");
  return test::show("miso_error", error, "1", "<", 0.05);
}

}  // namespace

int main(int argc, char** argv) {
  const auto directory = data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the public co-runs are absent");
    return test::kSkipped;
  }
  if (argc > 1 && std::strcmp(argv[1], "miso") == 0) return show_miso(*directory);
  return show_alnair(*directory);
}
