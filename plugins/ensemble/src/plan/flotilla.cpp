// SPDX-License-Identifier: Apache-2.0
// A queue of the nearest rates instead of a scan over all pairs: the same choice in less time.
#include "plan/flotilla.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>

namespace omen::ensemble {
namespace {

// How near a model comes to a rate, and with what; ordered as models join.
struct Offer {
  double gap = 0;
  std::int64_t accelerators = 1;
  std::size_t model = 0;

  bool operator>(const Offer& other) const {
    return std::tie(gap, accelerators, model) >
           std::tie(other.gap, other.accelerators, other.model);
  }
};

// Rates rise with accelerators, so the nearest one is beside the first that reaches `rate`.
Offer nearest(const PlannedModel& model, std::size_t number, double rate, std::int64_t most) {
  const std::int64_t limit = std::min(most, model.curve.useful());
  const std::int64_t above = std::min(model.curve.fewest_for(rate), limit);
  Offer best{std::abs(model.curve.at(above) - rate), above, number};
  if (above > 1) {
    // An equal rate may begin at fewer accelerators than the one just below.
    const std::int64_t below = model.curve.fewest_for(model.curve.at(above - 1));
    const Offer other{std::abs(model.curve.at(below) - rate), below, number};
    if (best > other) best = other;
  }
  return best;
}

std::size_t reference_of(const std::vector<PlannedModel>& models,
                         const std::vector<std::size_t>& candidates) {
  return *std::min_element(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-models[a].curve.at(1), a) < std::pair(-models[b].curve.at(1), b);
  });
}

// What is left goes to the slowest members, as long as they gain.
void hand_out(const std::vector<PlannedModel>& models, std::vector<Member>& members,
              std::int64_t left) {
  using Entry = std::tuple<double, std::size_t, std::size_t>;  // rate, model, place in members
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> slowest;
  const auto push = [&](std::size_t at) {
    const Member& member = members[at];
    const RateCurve& curve = models[member.model].curve;
    if (member.accelerators < curve.useful())
      slowest.emplace(curve.at(member.accelerators), member.model, at);
  };
  for (std::size_t at = 0; at < members.size(); ++at) push(at);
  for (; left > 0 && !slowest.empty(); --left) {
    const std::size_t at = std::get<2>(slowest.top());
    slowest.pop();
    ++members[at].accelerators;
    push(at);
  }
}

}  // namespace

std::vector<Member> make_flotilla(const std::vector<PlannedModel>& models,
                                  const std::vector<std::size_t>& candidates,
                                  std::int64_t accelerators, const FlotillaRule& rule) {
  const std::size_t reference = reference_of(models, candidates);
  const double rate = models[reference].curve.at(1);
  const double distance = std::max(rule.distance, rule.distance_share * rate);
  std::vector<Member> members = {{reference, 1}};
  std::int64_t left = accelerators - 1;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
  if (left > 0)
    for (const std::size_t model : candidates)
      if (model != reference) offers.push(nearest(models[model], model, rate, left));
  while (left > 0 && !offers.empty()) {
    const Offer best = offers.top();
    offers.pop();
    if (best.gap > distance) break;
    if (best.accelerators > left) {
      // An offer of fewer accelerators is never nearer, so the queue stays in order.
      offers.push(nearest(models[best.model], best.model, rate, left));
      continue;
    }
    members.push_back({best.model, best.accelerators});
    left -= best.accelerators;
  }
  hand_out(models, members, left);
  return members;
}

namespace {

constexpr int kMaxOrders = 1024;

class Placer {
 public:
  explicit Placer(std::int64_t per_node) : per_node_(per_node) {}

  void put(const Member& member) {
    placed_.push_back({member.model, next_, member.accelerators});
    next_ += member.accelerators;
  }
  // The order of `rest` that is spread least; the one given, where it is as good.
  void put_best(std::vector<Member> rest) {
    std::sort(rest.begin(), rest.end(), [](const Member& a, const Member& b) {
      return std::pair(a.accelerators, a.model) < std::pair(b.accelerators, b.model);
    });
    const std::vector<Placement> before = placed_;
    const std::int64_t from = next_;
    std::vector<Placement> best;
    double least = 0;
    for (int order = 0; order < kMaxOrders; ++order) {
      placed_ = before;
      next_ = from;
      for (const Member& member : rest) put(member);
      const double now = spread(placed_, per_node_);
      if (best.empty() || now < least) {
        best = placed_;
        least = now;
      }
      const bool more =
          std::next_permutation(rest.begin(), rest.end(), [](const Member& a, const Member& b) {
            return std::pair(a.accelerators, a.model) < std::pair(b.accelerators, b.model);
          });
      if (!more) break;
    }
    if (!rest.empty()) placed_ = best;
  }
  std::vector<Placement> take() { return std::move(placed_); }

 private:
  std::int64_t per_node_, next_ = 0;
  std::vector<Placement> placed_;
};

}  // namespace

double spread(const std::vector<Placement>& placed, std::int64_t per_node) {
  double sum = 0;
  for (const Placement& one : placed) {
    const std::int64_t nodes = (one.first + one.count - 1) / per_node - one.first / per_node + 1;
    sum += static_cast<double>(nodes) / static_cast<double>(one.count);
  }
  return sum;
}

std::vector<Placement> place(const std::vector<Member>& members, std::int64_t per_node) {
  Placer placer(per_node);
  std::vector<std::vector<Member>> by_rest(static_cast<std::size_t>(per_node));
  for (const Member& member : members) {
    const auto rest = static_cast<std::size_t>(member.accelerators % per_node);
    if (rest == 0)
      placer.put(member);
    else
      by_rest[rest].push_back(member);
  }
  for (std::size_t rest = 1; 2 * rest <= by_rest.size(); ++rest) {
    std::vector<Member>& some = by_rest[rest];
    std::vector<Member>& others = by_rest[by_rest.size() - rest];
    const bool same = &some == &others;
    while (!others.empty() && some.size() > (same ? 1U : 0U)) {
      placer.put(some.back());
      some.pop_back();
      placer.put(others.back());
      others.pop_back();
    }
  }
  std::vector<Member> left;
  for (const std::vector<Member>& some : by_rest) left.insert(left.end(), some.begin(), some.end());
  placer.put_best(std::move(left));
  return placer.take();
}

}  // namespace omen::ensemble
