// SPDX-License-Identifier: Apache-2.0
// Steps from event to event: jobs arrive, end or fail, and GPUs take the next of their plan.
#include "simulate/queue_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <queue>

#include "simulate/queue_plan.hpp"

namespace omen::driple {
namespace {

constexpr double kNever = std::numeric_limits<double>::quiet_NaN();

struct Arrival {
  double time_s = 0;
  std::size_t order = 0, job = 0;
  bool operator>(const Arrival& other) const {
    return std::pair(time_s, order) > std::pair(other.time_s, other.order);
  }
};

struct Gpu {
  std::deque<std::size_t> plan;  // jobs that wait for it
  double believed_free_s = 0, free_s = 0;
};

class Simulation {
 public:
  Simulation(const std::vector<QueuedJob>& jobs, const Fleet& fleet, Policy policy,
             double failure_s)
      : jobs_(jobs), fleet_(fleet), policy_(policy), failure_s_(failure_s) {
    gpus_.resize(fleet.kind.size());
    failed_on_.resize(jobs.size());
    done_.completion_s.assign(jobs.size(), kNever);
    for (std::size_t job = 0; job < jobs.size(); ++job) arrive(job, jobs[job].arrival_s);
  }

  Schedule run() && {
    while (const std::optional<double> next = next_event()) {
      now_ = *next;
      take_arrivals();
      while (start_jobs()) continue;
    }
    return std::move(done_);
  }

 private:
  bool plans() const { return policy_ == Policy::predicted || policy_ == Policy::oracle; }

  void arrive(std::size_t job, double time_s) { arrivals_.push({time_s, arrived_++, job}); }

  // The next arrival, or the next time at which a GPU with a plan is free.
  std::optional<double> next_event() const {
    std::optional<double> next;
    const auto consider = [&](double time_s) { next = next ? std::min(*next, time_s) : time_s; };
    if (!arrivals_.empty()) consider(arrivals_.top().time_s);
    const bool waiting = anybody_waits();
    for (const Gpu& gpu : gpus_)
      if (!gpu.plan.empty() || (plans() && waiting && gpu.free_s > now_))
        consider(std::max(gpu.free_s, now_));
    return next;
  }
  bool anybody_waits() const {
    return std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& g) { return !g.plan.empty(); });
  }

  void take_arrivals() {
    std::vector<std::size_t> fresh;
    while (!arrivals_.empty() && arrivals_.top().time_s <= now_) {
      fresh.push_back(arrivals_.top().job);
      arrivals_.pop();
    }
    if (plans()) {
      if (!fresh.empty()) plan_all(fresh);
      return;
    }
    for (const std::size_t job : fresh) {
      const std::optional<std::size_t> gpu =
          policy_ == Policy::round_robin ? next_in_turn(job) : most_used(job);
      if (gpu)
        gpus_[*gpu].plan.push_back(job);
      else
        ++done_.refused;
    }
  }

  double believed(std::size_t job, std::size_t gpu) const {
    const std::size_t kind = fleet_.kind[gpu];
    const std::vector<bool>& failed = failed_on_[job];
    if (!failed.empty() && failed[kind]) return kNever;
    return (policy_ == Policy::oracle ? jobs_[job].true_s : jobs_[job].believed_s)[kind];
  }

  void plan_all(const std::vector<std::size_t>& fresh) {
    std::vector<WaitingJob> waiting;
    const auto add = [&](std::size_t job) {
      WaitingJob one{job, {}};
      for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
        one.seconds.push_back(believed(job, gpu));
      waiting.push_back(std::move(one));
    };
    std::vector<double> free_s;
    for (Gpu& gpu : gpus_) {
      for (const std::size_t job : gpu.plan) add(job);
      gpu.plan.clear();
      const bool busy = gpu.free_s > now_;
      free_s.push_back(busy ? std::max(gpu.believed_free_s, now_) : now_);
    }
    for (const std::size_t job : fresh) add(job);
    std::size_t placed = 0;
    const std::vector<std::vector<std::size_t>> orders = plan_queue(waiting, free_s);
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
      for (const std::size_t place : orders[gpu])
        gpus_[gpu].plan.push_back(waiting[place].job), ++placed;
    done_.refused += waiting.size() - placed;
  }

  // Of the kind that it uses best, the GPU with the fewest jobs.
  std::optional<std::size_t> most_used(std::size_t job) const {
    std::optional<std::size_t> best;
    const auto rank = [&](std::size_t gpu) {
      return std::pair(-jobs_[job].use[fleet_.kind[gpu]], gpus_[gpu].plan.size());
    };
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
      if (std::isfinite(believed(job, gpu)) && (!best || rank(gpu) < rank(*best))) best = gpu;
    return best;
  }

  std::optional<std::size_t> next_in_turn(std::size_t job) {
    for (std::size_t step = 0; step < gpus_.size(); ++step) {
      const std::size_t gpu = (turn_ + step) % gpus_.size();
      if (!std::isfinite(believed(job, gpu))) continue;
      turn_ = gpu + 1;
      return gpu;
    }
    return std::nullopt;
  }

  // True where a job began, so that another plan may be due.
  bool start_jobs() {
    bool began = false, idle = false;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (gpus_[gpu].free_s > now_) continue;
      idle |= gpus_[gpu].plan.empty();
      if (gpus_[gpu].plan.empty()) continue;
      const std::size_t job = gpus_[gpu].plan.front();
      gpus_[gpu].plan.pop_front();
      start(job, gpu);
      began = true;
    }
    if (began || !idle || !plans() || !anybody_waits() || planned_at_ == now_) return began;
    planned_at_ = now_;
    plan_all({});
    return true;
  }

  void start(std::size_t job, std::size_t gpu) {
    const std::size_t kind = fleet_.kind[gpu];
    const double truth = jobs_[job].true_s[kind];
    const bool fails = !std::isfinite(truth);
    Gpu& own = gpus_[gpu];
    own.free_s = now_ + (fails ? failure_s_ : truth);
    own.believed_free_s = now_ + believed(job, gpu);
    done_.placements.push_back({job, gpu, now_, own.free_s, fails});
    done_.makespan_s = std::max(done_.makespan_s, own.free_s);
    if (!fails) {
      done_.completion_s[job] = own.free_s - jobs_[job].arrival_s;
      return;
    }
    ++done_.failures;
    failed_on_[job].resize(jobs_[job].true_s.size());
    failed_on_[job][kind] = true;
    arrive(job, own.free_s);
  }

  const std::vector<QueuedJob>& jobs_;
  const Fleet& fleet_;
  const Policy policy_;
  const double failure_s_;
  std::vector<Gpu> gpus_;
  std::vector<std::vector<bool>> failed_on_;  // of each job by kind of GPU; empty: nowhere
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::size_t arrived_ = 0, turn_ = 0;
  double now_ = 0, planned_at_ = -1;
  Schedule done_;
};

}  // namespace

std::optional<Policy> policy_of(std::string_view text) {
  const auto* at = std::find(std::begin(kPolicyWords), std::end(kPolicyWords), text);
  if (at == std::end(kPolicyWords)) return std::nullopt;
  return static_cast<Policy>(at - std::begin(kPolicyWords));
}

double Schedule::mean_completion_s() const {
  double sum = 0, count = 0;
  for (const double seconds : completion_s)
    if (std::isfinite(seconds)) sum += seconds, ++count;
  return count > 0 ? sum / count : 0;
}

Schedule simulate(const std::vector<QueuedJob>& jobs, const Fleet& fleet, Policy policy,
                  double failure_s) {
  return Simulation(jobs, fleet, policy, failure_s).run();
}

}  // namespace omen::driple
