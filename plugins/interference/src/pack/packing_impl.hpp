// SPDX-License-Identifier: Apache-2.0
// Advances several jobs from one end to the next.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

namespace omen::interference {

template <class Speeds>
std::vector<double> run_together(const std::vector<double>& alone, const Speeds& speeds) {
  std::vector<double> left = alone, ends(alone.size(), 0);
  std::vector<std::size_t> running;
  for (std::size_t job = 0; job < alone.size(); ++job) running.push_back(job);
  double now = 0;
  while (!running.empty()) {
    const std::vector<double> speed = speeds(running);
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < running.size(); ++i)
      step = std::min(step, left[running[i]] / speed[i]);
    now += step;
    std::vector<std::size_t> still;
    for (std::size_t i = 0; i < running.size(); ++i) {
      const std::size_t job = running[i];
      left[job] -= step * speed[i];
      if (left[job] > 1e-12 * alone[job])
        still.push_back(job);
      else
        ends[job] = now;
    }
    running = std::move(still);
  }
  return ends;
}

}  // namespace omen::interference
