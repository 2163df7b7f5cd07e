// SPDX-License-Identifier: Apache-2.0
// Small plans in memory: forty workloads in eight groups, and contestants from the fixtures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/jobs.hpp"

namespace omen::test {

struct SmallTask {
  std::int64_t rows = 40, groups = 8;
  int folds = 4;
  bool secret = false;  // targets that contender.snoop looks for
};
// Column x and target cost = 3 x with a ripple; folds take every n-th row.
host::PlannedTask small_task(const SmallTask& wanted = {});

// Components of the fixtures and of the build's own plugins.
const host::Registry& fixtures();
host::PlannedContestant contestant(
    const std::string& component,
    const std::vector<std::pair<std::string, std::string>>& options = {});

// One task; workers are the program that was built.
host::ComparePlan small_plan(std::vector<host::PlannedContestant> contestants,
                             const SmallTask& wanted = {});

}  // namespace omen::test
