// SPDX-License-Identifier: Apache-2.0
// Gavel's traces on 8 GPUs: how much of the way from never packing to the oracle is gone.
//   interference_simulation
// With OMEN_SHOW_BREAK=1 the forecast is turned upside down.
#include <cmath>
#include <cstdio>

#include "masked_pairs.hpp"
#include "omen/testing/show.hpp"
#include "pack/simulation.hpp"

namespace {

using namespace omen::interference;
using namespace omen::interference::checks;
namespace test = omen::test;

constexpr std::size_t kGpus = 8;
constexpr double kLoad = 0.95, kLeastGain = 1.05, kSeenShare = 0.3;
constexpr double kSmallGap = 2;  // percent of the time without packing; below, nothing is judged

SpeedTable table_of(const Measured& all, const std::vector<double>& rho) {
  SpeedTable table(all.rows.jobs.size(), std::vector<double>(all.rows.jobs.size(), 0));
  for (std::size_t i = 0; i < rho.size(); ++i)
    table[static_cast<std::size_t>(all.rows.rows[i].victim)]
         [static_cast<std::size_t>(all.rows.rows[i].partners[0])] = rho[i];
  return table;
}

// "ResNet-18 (batch size 64)" is "ResNet-18 64" in the table of pairs.
std::string name_in_table(std::string name) {
  const std::size_t at = name.find(" (batch size ");
  if (at == std::string::npos) return name;
  return name.substr(0, at) + " " + name.substr(at + 13, name.size() - at - 14);
}

int show_trace(const std::string& gpu, const std::string& name, const std::filesystem::path& file,
               const Measured& all, const SpeedTable& truth, const SpeedTable& believed) {
  std::size_t rate_column = 0;
  while (all.rows.numbers[rate_column] != "rate_per_s") ++rate_column;
  std::vector<ArrivingJob> jobs = read_trace(
      file.string(),
      [&](const std::string& job) -> std::ptrdiff_t {
        for (std::size_t kind = 0; kind < all.rows.jobs.size(); ++kind)
          if (all.rows.jobs[kind].name == name_in_table(job))
            return static_cast<std::ptrdiff_t>(kind);
        return -1;
      },
      [&](std::size_t kind) { return all.rows.jobs[kind].numbers[rate_column]; });
  rescale_arrivals(jobs, kGpus, kLoad);
  const double never = simulate_queue(jobs, kGpus, truth, nullptr, kLeastGain).mean_completion_s;
  const double oracle = simulate_queue(jobs, kGpus, truth, &truth, kLeastGain).mean_completion_s;
  const double ours = simulate_queue(jobs, kGpus, truth, &believed, kLeastGain).mean_completion_s;
  const double gap = 100 * (never - oracle) / never;
  test::show(gpu + "_" + name + "_gap", gap, "%");
  const double closed = 100 * (never - ours) / (never - oracle);
  if (gap < kSmallGap) {
    test::show(gpu + "_" + name + "_gap_closed_of_little", closed, "%");
    return 0;
  }
  return test::show(gpu + "_" + name + "_gap_closed", closed, "%", ">=", 70);
}

}  // namespace

int main() {
  const auto directory = data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the Gavel traces are absent");
    return test::kSkipped;
  }
  int failed = 0;
  for (const char* gpu : {"p100", "v100", "k80"}) {
    const Measured all =
        measured_of(read_gavel((*directory / "gavel/gavel_pairs.csv").string(), gpu));
    const std::vector<bool> seen = seen_pairs(all, kSeenShare, 1);
    const std::vector<Speed> said =
        fitted(taken(all, seen, true), Method::kProcess).ask(all.rows, 0.9);
    std::vector<double> believed;
    for (std::size_t i = 0; i < said.size(); ++i) {
      believed.push_back(seen[i] ? all.rho[i] : said[i].mean);
      if (test::broken()) believed.back() = 1.2 - believed.back();
    }
    const SpeedTable truth = table_of(all, all.rho), table = table_of(all, believed);
    for (const char* trace : {"0e4a51", "2869ce", "e13805"})
      failed |= show_trace(
          gpu, trace, *directory / "gavel/traces" / ("msr_seed0_" + std::string(trace) + ".trace"),
          all, truth, table);
  }
  return failed;
}
