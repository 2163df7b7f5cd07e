// SPDX-License-Identifier: Apache-2.0
// Which models should share one stream: groups of neighbouring rates.
#pragma once

#include <cstddef>
#include <vector>

namespace omen::ensemble {

// Models [begin, end) of an ascending list of rates.
struct RateGroup {
  std::size_t begin = 0, end = 0;
};

// At most `groups` groups of an ascending list that hold the least accelerator time: a group
// advances at its slowest rate, so a model waits 1/slowest - 1/own for each image. Exact, by
// dynamic programming, because an optimal group is contiguous.
std::vector<RateGroup> sharing_groups(const std::vector<double>& rates, std::size_t groups);

// Accelerator seconds that the models wait for each image.
double waiting(const std::vector<double>& rates, const std::vector<RateGroup>& groups);

}  // namespace omen::ensemble
