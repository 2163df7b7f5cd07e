// SPDX-License-Identifier: Apache-2.0
// Compares every run with the nearest smaller size of its group.
#include "omen/telemetry/trace_failures.hpp"

#include <algorithm>
#include <map>

#include "omen/median.hpp"

namespace omen::telemetry {
namespace {

double throughput(const PerfRun& run) {
  return run.seconds > 0 ? run.work / run.seconds : 0;
}

struct Reference {
  double size = 0, throughput = 0;
  std::int64_t runs = 0;
};

void judge(const PerfRun& run, const std::optional<Reference>& reference, double factor,
           PerfVerdict& verdict) {
  if (!reference || reference->throughput <= 0) return;
  verdict.neighbours = reference->runs;
  verdict.throughput_ratio = throughput(run) / reference->throughput;
  verdict.largest_ratio = factor * run.size / reference->size;
  verdict.suspect = *verdict.throughput_ratio > verdict.largest_ratio;
}

}  // namespace

std::vector<PerfVerdict> find_failed_runs(const std::vector<PerfRun>& runs, double factor) {
  std::map<std::string, std::map<double, std::vector<std::size_t>>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) groups[runs[i].group][runs[i].size].push_back(i);
  std::vector<PerfVerdict> verdicts(runs.size());
  for (const auto& [group, sizes] : groups) {
    std::optional<Reference> reference;
    for (const auto& [size, members] : sizes) {
      std::vector<double> good;
      for (const std::size_t i : members) {
        judge(runs[i], reference, factor, verdicts[i]);
        if (!verdicts[i].suspect) good.push_back(throughput(runs[i]));
      }
      if (good.empty()) continue;
      const auto count = static_cast<std::int64_t>(good.size());
      reference = Reference{size, median(std::move(good)), count};
    }
  }
  return verdicts;
}

}  // namespace omen::telemetry
