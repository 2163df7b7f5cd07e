// SPDX-License-Identifier: Apache-2.0
// Reads the perf table.
#include "profiled_use.hpp"

#include <cmath>
#include <cstdlib>

#include "graphs/graph_file.hpp"
#include "operator_tables.hpp"

namespace omen::driple::checks {

// What the jobs ran under.
constexpr const char* kFramework = "tensorflow";

UseRow ProfiledUse::row(const JobRow& job, double step_seconds) const {
  UseRow made;
  made.step = step_seconds;
  made.steps = steps;
  made.kernels = job.costs.kernels;
  made.framework = kFramework;
  made.group = job.group;
  made.idle = idle, made.peak = peak;
  return made;
}

std::string word_of(const ProfiledStep& step) {
  return step.setting() + step.dataset + step.gpu;
}

static double images_of(const std::string& dataset) {
  return dataset == "imagenet" ? 64058 : 50000;
}

std::vector<ProfiledUse> read_use(Resource resource) {
  const std::string path = data_directory() + "/training_perf_file.csv";
  const PerfTable table = parse_perf_csv(read_graph_file(path.c_str(), "check", ""), path);
  std::vector<ProfiledUse> rows;
  for (const PerfRow& row : table.rows) {
    if (row.resource != resource || !row.outcome.empty()) continue;
    ProfiledUse use;
    use.gpu = row.job[0], use.model = row.job[1], use.optimizer = row.job[3];
    use.batch = std::atoi(row.job[2].c_str()), use.epochs = std::atoi(row.job[4].c_str());
    use.dataset = row.job[5];
    use.idle = row.idle, use.peak = row.peak;
    use.steps = std::ceil(use.epochs * images_of(use.dataset) / use.batch);
    rows.push_back(std::move(use));
  }
  return rows;
}

}  // namespace omen::driple::checks
