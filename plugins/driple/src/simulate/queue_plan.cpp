// SPDX-License-Identifier: Apache-2.0
// On one GPU shortest first is best, so a plan is a choice of GPUs and a move costs two sums.
#include "simulate/queue_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace omen::driple {
namespace {

constexpr int kMostSweeps = 50;
constexpr double kLeastGain = 1e-9;  // of the job's own time; rounding is no gain
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Seconds of the jobs of one GPU, shortest first.
class ShortestFirst {
 public:
  // What the sum of completion times grows by with one more job, or shrinks by without it.
  double cost_with(double seconds) const { return cost(seconds, sorted_.size() + 1); }
  double cost_of(double seconds) const { return cost(seconds, sorted_.size()); }
  void insert(double seconds) {
    sorted_.insert(std::lower_bound(sorted_.begin(), sorted_.end(), seconds), seconds);
    sum_up();
  }
  void remove(double seconds) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), seconds));
    sum_up();
  }

 private:
  // It waits for the shorter ones, and itself and the longer ones wait for it.
  double cost(double seconds, std::size_t jobs) const {
    const auto before = static_cast<std::size_t>(
        std::lower_bound(sorted_.begin(), sorted_.end(), seconds) - sorted_.begin());
    return (before > 0 ? sums_[before - 1] : 0) + seconds * static_cast<double>(jobs - before);
  }
  void sum_up() {
    sums_.resize(sorted_.size());
    std::partial_sum(sorted_.begin(), sorted_.end(), sums_.begin());
  }
  std::vector<double> sorted_, sums_;
};

class Plan {
 public:
  Plan(const std::vector<WaitingJob>& waiting, const std::vector<double>& free_s)
      : waiting_(waiting),
        free_s_(free_s),
        queues_(free_s.size()),
        gpu_of_(waiting.size(), kNowhere) {}

  void place_shortest_first() {
    std::vector<double> least(waiting_.size(), std::numeric_limits<double>::infinity());
    for (std::size_t w = 0; w < waiting_.size(); ++w)
      for (const double seconds : waiting_[w].seconds) least[w] = std::fmin(least[w], seconds);
    std::vector<std::size_t> order(waiting_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return least[a] < least[b]; });
    std::vector<double> ends = free_s_;
    for (const std::size_t w : order) {
      std::size_t best = kNowhere;
      for (std::size_t gpu = 0; gpu < ends.size(); ++gpu) {
        const double seconds = waiting_[w].seconds[gpu];
        if (std::isfinite(seconds) &&
            (best == kNowhere || ends[gpu] + seconds < ends[best] + waiting_[w].seconds[best]))
          best = gpu;
      }
      if (best == kNowhere) continue;
      ends[best] += waiting_[w].seconds[best];
      put(w, best);
    }
  }

  bool improve() {
    bool moved = false;
    for (std::size_t w = 0; w < waiting_.size(); ++w) {
      const std::size_t from = gpu_of_[w];
      if (from == kNowhere) continue;
      const std::vector<double>& seconds = waiting_[w].seconds;
      std::size_t best = from;
      double least = queues_[from].cost_of(seconds[from]) + free_s_[from];
      least -= kLeastGain * seconds[from];
      for (std::size_t gpu = 0; gpu < queues_.size(); ++gpu) {
        if (gpu == from || !std::isfinite(seconds[gpu])) continue;
        const double cost = queues_[gpu].cost_with(seconds[gpu]) + free_s_[gpu];
        if (cost < least) least = cost, best = gpu;
      }
      if (best == from) continue;
      queues_[from].remove(seconds[from]);
      put(w, best);
      moved = true;
    }
    return moved;
  }

  std::vector<std::vector<std::size_t>> orders() const {
    std::vector<std::vector<std::size_t>> all(queues_.size());
    for (std::size_t w = 0; w < waiting_.size(); ++w)
      if (gpu_of_[w] != kNowhere) all[gpu_of_[w]].push_back(w);
    for (std::size_t gpu = 0; gpu < all.size(); ++gpu)
      std::stable_sort(all[gpu].begin(), all[gpu].end(), [&](std::size_t a, std::size_t b) {
        return waiting_[a].seconds[gpu] < waiting_[b].seconds[gpu];
      });
    return all;
  }

 private:
  void put(std::size_t w, std::size_t gpu) {
    queues_[gpu].insert(waiting_[w].seconds[gpu]);
    gpu_of_[w] = gpu;
  }

  const std::vector<WaitingJob>& waiting_;
  const std::vector<double>& free_s_;
  std::vector<ShortestFirst> queues_;
  std::vector<std::size_t> gpu_of_;
};

}  // namespace

std::vector<std::vector<std::size_t>> plan_queue(const std::vector<WaitingJob>& waiting,
                                                 const std::vector<double>& free_s) {
  Plan plan(waiting, free_s);
  plan.place_shortest_first();
  for (int sweep = 0; sweep < kMostSweeps && plan.improve(); ++sweep) continue;
  return plan.orders();
}

}  // namespace omen::driple
