// SPDX-License-Identifier: Apache-2.0
// A queue of ends and a list of what waits.
#include "plan/list_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <queue>

namespace omen::ensemble {
namespace {

using Models = std::vector<PlannedModel>;

constexpr int kBisections = 60, kDeadlines = 60;
constexpr double kDeadlineStep = 0.02;

// Starts what fits, in order; calls started(member, begin, end). Returns the last end.
double play(const std::vector<Member>& order, const std::vector<double>& length,
            std::int64_t accelerators,
            const std::function<void(const Member&, double, double)>& started) {
  using End = std::pair<double, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::list<Member> waiting(order.begin(), order.end());
  std::int64_t free = accelerators;
  double now = 0;
  while (!waiting.empty() || !ends.empty()) {
    for (auto it = waiting.begin(); it != waiting.end() && free > 0;) {
      if (it->accelerators > free) {
        ++it;
        continue;
      }
      free -= it->accelerators;
      ends.emplace(now + length[it->model], it->accelerators);
      if (started) started(*it, now, now + length[it->model]);
      it = waiting.erase(it);
    }
    now = ends.top().first;
    while (!ends.empty() && ends.top().first <= now) {
      free += ends.top().second;
      ends.pop();
    }
  }
  return now;
}

std::vector<double> lengths(const Models& models, const std::vector<double>& work,
                            const std::vector<Member>& members) {
  std::vector<double> length(models.size(), 0.0);
  for (const Member& member : members)
    length[member.model] = work[member.model] / models[member.model].curve.at(member.accelerators);
  return length;
}

// The fewest accelerators for each model that meet a deadline; empty where one cannot.
std::vector<std::int64_t> fewest(const Models& models, const std::vector<double>& work,
                                 double deadline, std::int64_t most) {
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::int64_t count = models[i].curve.fewest_for(work[i] / deadline);
    if (count > std::min(most, models[i].curve.useful())) return {};
    counts.push_back(count);
  }
  return counts;
}

bool fits(const Models& models, const std::vector<double>& work, double deadline,
          const Machine& machine) {
  const std::vector<std::int64_t> counts = fewest(models, work, deadline, machine.accelerators);
  if (counts.empty()) return false;
  double area = 0;
  for (std::size_t i = 0; i < models.size(); ++i)
    area += static_cast<double>(counts[i]) * work[i] / models[i].curve.at(counts[i]);
  return area <= deadline * static_cast<double>(machine.accelerators);
}

double shortest_deadline(const Models& models, const std::vector<double>& work,
                         const Machine& machine) {
  double low = 0, high = 0;
  for (std::size_t i = 0; i < models.size(); ++i) high += work[i] / models[i].curve.at(1);
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (fits(models, work, middle, machine) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::vector<std::int64_t> ones(const Models& models) {
  return std::vector<std::int64_t>(models.size(), 1);
}

std::vector<Member> longest_first(const Models& models, const std::vector<double>& believed,
                                  const std::vector<std::int64_t>& accelerators) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < models.size(); ++i) members.push_back({i, accelerators[i]});
  const std::vector<double> length = lengths(models, believed, members);
  std::stable_sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
    return length[a.model] > length[b.model];
  });
  return members;
}

std::vector<Member> moldable(const Models& models, const std::vector<double>& believed,
                             const Machine& machine) {
  const double deadline = shortest_deadline(models, believed, machine);
  std::vector<Member> best;
  double earliest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kDeadlines; ++i) {
    const auto counts =
        fewest(models, believed, deadline * (1 + kDeadlineStep * i), machine.accelerators);
    if (counts.empty()) continue;
    std::vector<Member> list = longest_first(models, believed, counts);
    const double end = play(list, lengths(models, believed, list), machine.accelerators, nullptr);
    if (end < earliest) {
      earliest = end;
      best = std::move(list);
    }
  }
  return best;
}

Schedule run_list(const Models& models, const std::vector<Member>& list, const Machine& machine) {
  Schedule schedule;
  const std::vector<double> length = lengths(models, true_work(models), list);
  schedule.total_s =
      play(list, length, machine.accelerators, [&](const Member& member, double begin, double end) {
        schedule.spans.push_back({member.model, member.accelerators, begin, end});
        schedule.busy_s += (end - begin) * static_cast<double>(member.accelerators);
      });
  return schedule;
}

}  // namespace omen::ensemble
