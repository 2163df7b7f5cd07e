// SPDX-License-Identifier: Apache-2.0
// Which waiting job goes to which GPU, so that jobs end early on average.
#pragma once

#include <cstddef>
#include <vector>

namespace omen::driple {

// A job that waits, with its seconds on each GPU; NaN where it may not run.
struct WaitingJob {
  std::size_t job = 0;
  std::vector<double> seconds;
};

// For each GPU the places of its jobs in `waiting`, in the order in which they run; jobs that no
// GPU may run are nowhere. Shortest jobs first to where they end first, then single jobs move as
// long as the sum of completion times falls.
std::vector<std::vector<std::size_t>> plan_queue(const std::vector<WaitingJob>& waiting,
                                                 const std::vector<double>& free_s);

}  // namespace omen::driple
