// SPDX-License-Identifier: Apache-2.0
// Our own co-runs, one workload out: speeds of a job that was never measured beside others.
//   interference_coruns CORUNS.csv
// With OMEN_SHOW_BREAK=1 the methods learn from speeds turned upside down.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "masked_pairs.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::interference;
using namespace omen::interference::checks;
namespace test = omen::test;

const std::vector<std::string> kProbes = {"compute", "memory", "cache"};

bool is_probe(const std::string& job) {
  return std::find(kProbes.begin(), kProbes.end(), job) != kProbes.end();
}

// The columns that one run alone gives and, with the probes, those of 30 s beside each loop.
std::vector<std::string> features(bool with_probes) {
  std::vector<std::string> names = {"rss_mib", "step_ms", "util_pct"};
  for (const std::string& probe : kProbes)
    if (with_probes)
      for (const char* what : {"beside_", "slows_"}) names.push_back(what + probe);
  return names;
}

// Forgets the other features of every job.
Measured kept(const Measured& all, const std::vector<std::string>& features) {
  Measured some = all;
  some.rows.numbers = features;
  for (std::size_t job = 0; job < all.rows.jobs.size(); ++job) {
    some.rows.jobs[job].numbers.clear();
    for (const std::string& feature : features)
      for (std::size_t c = 0; c < all.rows.numbers.size(); ++c)
        if (all.rows.numbers[c] == feature)
          some.rows.jobs[job].numbers.push_back(all.rows.jobs[job].numbers[c]);
  }
  return some;
}

struct OneOut {
  double error = 0, cells = 0, covered = 0;
};

// No training row holds the job on either side. What the probes said of it is not asked again.
OneOut one_out(const Measured& all, const std::string& out, Method method) {
  std::vector<bool> train, asked;
  for (const PairRow& row : all.rows.rows) {
    const std::string& job = all.rows.jobs[static_cast<std::size_t>(row.victim)].name;
    const std::string& partner = all.rows.jobs[static_cast<std::size_t>(row.partners[0])].name;
    const bool holds = job == out || partner == out;
    train.push_back(!holds);
    asked.push_back(holds && !is_probe(job) && !is_probe(partner));
  }
  Measured seen = taken(all, train, true);
  const Measured test_rows = taken(all, asked, true);
  if (test::broken())
    for (double& rho : seen.rho) rho = 1.3 - rho;
  const std::vector<Speed> said = fitted(seen, method).ask(test_rows.rows, 0.9);
  OneOut sum;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const double truth = std::min(test_rows.rho[i], 1.0);
    sum.error += std::abs(said[i].mean - truth);
    sum.covered += truth >= said[i].low && truth <= said[i].high ? 1 : 0;
    ++sum.cells;
  }
  return sum;
}

OneOut each_out(const Measured& all, Method method) {
  std::set<std::string> names;
  for (const JobProfile& job : all.rows.jobs)
    if (!is_probe(job.name)) names.insert(job.name);
  OneOut sum;
  for (const std::string& name : names) {
    const OneOut one = one_out(all, name, method);
    sum.error += one.error;
    sum.cells += one.cells;
    sum.covered += one.covered;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || !std::filesystem::exists(argv[1])) {
    std::puts("skipped: our co-runs were not measured; see plugins/interference/data/measure.sh");
    return test::kSkipped;
  }
  const Measured all = read_coruns(argv[1]);
  const Measured probed = kept(all, features(true)), plain = kept(all, features(false));
  const auto error = [](const OneOut& out) { return out.error / out.cells; };
  const OneOut ours = each_out(probed, Method::kProcess);
  const double without_probes = error(each_out(plain, Method::kProcess));
  const double additive = error(each_out(plain, Method::kAdditive));
  const double utilsum = error(each_out(plain, Method::kUtilsum));
  test::show("own_one_out_error_const", error(each_out(plain, Method::kConst)), "1");
  test::show("own_one_out_coverage_of_90", 100 * ours.covered / ours.cells, "%");
  int failed = test::show("own_one_out_error_of_additive", error(ours), "1", "<", additive);
  failed |= test::show("own_one_out_error_of_utilsum", error(ours), "1", "<", utilsum);
  failed |= test::show("own_one_out_error_of_no_probe", error(ours), "1", "<", without_probes);
  return failed;
}
