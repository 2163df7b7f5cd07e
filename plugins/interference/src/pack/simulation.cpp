// SPDX-License-Identifier: Apache-2.0
// Moves from one arrival or end to the next.
#include "pack/simulation.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <limits>
#include <omen/error.hpp>
#include <sstream>

#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct RunningJob {
  std::size_t job;
  double left_s;
};
using Gpu = std::vector<RunningJob>;  // none, one or two

class QueueSimulation {
 public:
  QueueSimulation(const std::vector<ArrivingJob>& jobs, std::size_t gpus, const SpeedTable& truth,
                  const SpeedTable* believed, double least_gain)
      : jobs_(jobs), gpus_(gpus), truth_(truth), believed_(believed), least_gain_(least_gain) {}

  SimulatedQueue run() {
    SimulatedQueue result;
    std::size_t next = 0, ended = 0;
    double now = 0, busy = 0, packed = 0;
    while (ended < jobs_.size()) {
      const double arrival = next < jobs_.size() ? jobs_[next].arrival_s : kNever;
      const double step = std::min(arrival - now, first_end());
      for (Gpu& gpu : gpus_) {
        if (!gpu.empty()) busy += step;
        if (gpu.size() == 2) packed += step;
        for (std::size_t i = 0; i < gpu.size(); ++i) gpu[i].left_s -= step * speed(gpu, i);
      }
      now += step;
      for (Gpu& gpu : gpus_)
        for (std::size_t i = gpu.size(); i-- > 0;) {
          if (gpu[i].left_s > 1e-9 * jobs_[gpu[i].job].work_s) continue;
          result.mean_completion_s += now - jobs_[gpu[i].job].arrival_s;
          gpu.erase(gpu.begin() + static_cast<std::ptrdiff_t>(i));
          ++ended;
        }
      while (next < jobs_.size() && jobs_[next].arrival_s <= now) waiting_.push_back(next++);
      place();
    }
    result.mean_completion_s /= static_cast<double>(std::max<std::size_t>(jobs_.size(), 1));
    result.makespan_s = now;
    result.packed_share = busy > 0 ? packed / busy : 0;
    return result;
  }

 private:
  std::size_t kind(const RunningJob& running) const { return jobs_[running.job].kind; }
  double speed(const Gpu& gpu, std::size_t which) const {
    return gpu.size() < 2 ? 1 : truth_[kind(gpu[which])][kind(gpu[1 - which])];
  }
  double first_end() const {
    double first = kNever;
    for (const Gpu& gpu : gpus_)
      for (std::size_t i = 0; i < gpu.size(); ++i)
        first = std::min(first, gpu[i].left_s / speed(gpu, i));
    return first;
  }
  Gpu* free_gpu() {
    for (Gpu& gpu : gpus_)
      if (gpu.empty()) return &gpu;
    return nullptr;
  }
  // Where the job does best beside another; nothing where it should wait.
  Gpu* best_partner(std::size_t job) {
    if (!believed_) return nullptr;
    Gpu* best = nullptr;
    double most = least_gain_;
    for (Gpu& gpu : gpus_) {
      if (gpu.size() != 1) continue;
      const std::size_t a = jobs_[job].kind, b = kind(gpu[0]);
      if (truth_[a][b] <= 0 || truth_[b][a] <= 0) continue;  // memory, which everybody knows
      const double gain = (*believed_)[a][b] + (*believed_)[b][a];
      if (gain <= most) continue;
      most = gain;
      best = &gpu;
    }
    return best;
  }
  void place() {
    while (!waiting_.empty()) {
      Gpu* gpu = free_gpu();
      if (!gpu) gpu = best_partner(waiting_.front());
      if (!gpu) return;
      gpu->push_back({waiting_.front(), jobs_[waiting_.front()].work_s});
      waiting_.pop_front();
    }
    for (Gpu& gpu : gpus_) {
      Gpu* empty = gpu.size() == 2 ? free_gpu() : nullptr;
      if (!empty) continue;
      empty->push_back(gpu.back());
      gpu.pop_back();
    }
  }

  const std::vector<ArrivingJob>& jobs_;
  std::vector<Gpu> gpus_;
  const SpeedTable& truth_;
  const SpeedTable* believed_;
  double least_gain_;
  std::deque<std::size_t> waiting_;
};

}  // namespace

SimulatedQueue simulate_queue(const std::vector<ArrivingJob>& jobs, std::size_t gpus,
                              const SpeedTable& truth, const SpeedTable* believed,
                              double least_gain) {
  if (gpus == 0) throw Error(OMEN_INVALID_ARGUMENT, "a queue needs at least one GPU");
  return QueueSimulation(jobs, gpus, truth, believed, least_gain).run();
}

void rescale_arrivals(std::vector<ArrivingJob>& jobs, std::size_t gpus, double load) {
  double work = 0;
  for (const ArrivingJob& job : jobs) work += job.work_s;
  const double span = jobs.empty() ? 0 : jobs.back().arrival_s - jobs.front().arrival_s;
  if (!(span > 0)) return;
  const double factor = work / (static_cast<double>(gpus) * load * span);
  const double first = jobs.front().arrival_s;
  for (ArrivingJob& job : jobs) job.arrival_s = (job.arrival_s - first) * factor;
}

std::vector<ArrivingJob> read_trace(
    const std::string& path, const std::function<std::ptrdiff_t(const std::string&)>& kind_of,
    const std::function<double(std::size_t)>& rate_of) {
  std::istringstream lines(read_bytes(path));
  std::vector<ArrivingJob> jobs;
  std::string line;
  while (std::getline(lines, line)) {
    std::vector<std::string> cells;
    std::istringstream words(line);
    for (std::string cell; std::getline(words, cell, '\t');) cells.push_back(cell);
    if (cells.size() != 7)
      throw Error(OMEN_INVALID_DATA,
                  path + ": a line has " + std::to_string(cells.size()) + " cells instead of 7",
                  "The msr_seed0 traces of Gavel have job, command, two flags, steps, arrival and "
                  "scale factor.");
    const std::ptrdiff_t kind = kind_of(cells[0]);
    if (kind < 0 || std::atof(cells[6].c_str()) != 1) continue;
    const double steps = std::atof(cells[4].c_str());
    jobs.push_back({std::atof(cells[5].c_str()), steps / rate_of(static_cast<std::size_t>(kind)),
                    static_cast<std::size_t>(kind)});
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const ArrivingJob& a, const ArrivingJob& b) {
    return a.arrival_s < b.arrival_s;
  });
  return jobs;
}

}  // namespace omen::interference
