// SPDX-License-Identifier: Apache-2.0
// Jobs that come and go on a few GPUs, each alone or two together.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace omen::interference {

struct ArrivingJob {
  double arrival_s;
  double work_s;  // alone
  std::size_t kind;
};

// By kinds of jobs: how fast the first is beside the second; 0 or less where they cannot share.
using SpeedTable = std::vector<std::vector<double>>;

struct SimulatedQueue {
  double mean_completion_s = 0, makespan_s = 0, packed_share = 0;
};

// First come, first served. A free GPU takes the next job; without one, the job joins the single
// job beside which both are believed to do best, where both speeds together are believed to exceed
// `least_gain`, and waits otherwise. Without `believed` nothing is ever packed. A pair is parted
// as soon as a GPU is free that nobody waits for.
SimulatedQueue simulate_queue(const std::vector<ArrivingJob>& jobs, std::size_t gpus,
                              const SpeedTable& truth, const SpeedTable* believed,
                              double least_gain);

// Arrivals that load `gpus` to this share when nothing is packed.
void rescale_arrivals(std::vector<ArrivingJob>& jobs, std::size_t gpus, double load);

// Jobs of scale factor 1 of a Gavel trace whose kind `kind_of` knows (negative: left out);
// `rate_of(kind)` in steps a second.
std::vector<ArrivingJob> read_trace(
    const std::string& path, const std::function<std::ptrdiff_t(const std::string&)>& kind_of,
    const std::function<double(std::size_t)>& rate_of);

}  // namespace omen::interference
