// SPDX-License-Identifier: Apache-2.0
// Speeds of families and mixes that were not seen: Alnair under MPS, MISO on slices, the first
// co-runs of all.
//   interference_families alnair|miso|futurewei
// With OMEN_SHOW_BREAK=1 the methods learn from speeds turned upside down.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
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

// What jobs are held out together by.
using Group = std::function<std::string(const JobProfile& job)>;

// No training row holds the group on either side; rows whose job is of it are asked.
FamilyOut group_out(const Measured& all, const Group& group_of, const std::string& group,
                    Method method) {
  std::vector<bool> train, asked;
  for (const PairRow& row : all.rows.rows) {
    const auto is_of = [&](std::int32_t job) {
      return group_of(all.rows.jobs[static_cast<std::size_t>(job)]) == group;
    };
    train.push_back(!is_of(row.victim) && !is_of(row.partners[0]));
    asked.push_back(is_of(row.victim));
  }
  Measured seen = taken(all, train, true);
  const Measured test_rows = taken(all, asked, true);
  // The constant is what others are compared with.
  if (method != Method::kConst) break_if_asked(seen);
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

// Each group out in turn; `show_each` prints the coverage of every group.
FamilyOut each_out(const Measured& all, const Group& group_of, Method method, bool show_each) {
  std::set<std::string> groups;
  for (const JobProfile& job : all.rows.jobs) groups.insert(group_of(job));
  FamilyOut sum;
  for (const std::string& group : groups) {
    const FamilyOut one = group_out(all, group_of, group, method);
    if (show_each) test::show("coverage_" + group, 100 * one.covered / one.cells, "%");
    sum.error += one.error;
    sum.cells += one.cells;
    sum.covered += one.covered;
  }
  return sum;
}

int show_alnair(const std::filesystem::path& directory) {
  const Measured all =
      measured_of(read_alnair((directory / "alnair/alnair_mps_pairs.csv").string()));
  int failed = 0;
  for (const Method method :
       {Method::kProcess, Method::kTrees, Method::kDelayLaw, Method::kUtilsum, Method::kConst}) {
    const FamilyOut sum = each_out(all, family_of, method, method == Method::kProcess);
    const double error = sum.error / sum.cells, coverage = 100 * sum.covered / sum.cells;
    // A family is a data set with a network; of networks alone there are three.
    const FamilyOut networks = each_out(
        all,
        [](const JobProfile& job) {
          const std::string family = family_of(job);
          return family.substr(family.rfind('-') + 1);
        },
        method, false);
    test::show(std::string("network_out_error_") + method_name(method),
               networks.error / networks.cells, "1");
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

// The twelve tasks of the first co-runs, one out in turn. What is to be beaten is the mean of the
// others.
int show_futurewei(const std::filesystem::path& directory) {
  const Measured all =
      measured_of(read_futurewei((directory / "alnair/futurewei_corun_pairs.csv").string()));
  const auto task_of = [](const JobProfile& job) { return job.name; };
  const auto error = [&](Method method) {
    const FamilyOut sum = each_out(all, task_of, method, false);
    return sum.error / sum.cells;
  };
  const double constant = error(Method::kConst);
  test::show("task_out_error_const", constant, "1");
  for (const Method method : {Method::kTrees, Method::kAdditive, Method::kClusterTable})
    test::show(std::string("task_out_error_") + method_name(method), error(method), "1");
  return test::show("task_out_error", error(Method::kProcess), "1", "<", constant);
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
  if (argc > 1 && std::strcmp(argv[1], "futurewei") == 0) return show_futurewei(*directory);
  return show_alnair(*directory);
}
