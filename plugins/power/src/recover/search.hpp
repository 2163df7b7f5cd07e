// SPDX-License-Identifier: Apache-2.0
// Searches over legal designs with a bounded number of simulator calls.
#pragma once

#include <functional>
#include <omen/learn/random.hpp>
#include <vector>

#include "recover/objective.hpp"

namespace omen::power {

// Power and latency of designs, guessed without a simulator call.
struct Guess {
  double power_w = 0, latency_s = 0;
};
using Surrogate = std::function<std::vector<Guess>(const std::vector<Design>&)>;

struct SearchBudget {
  std::int64_t calls = 200;
  std::uint64_t seed = 1;
};

struct SearchResult {
  Judged best;
  std::vector<Judged> tried;  // every design that was simulated
};

// The same number of calls spent on designs at random.
SearchResult search_random(const Objective& objective, const SearchBudget& budget);
// Coordinate search from random starts: one step of one parameter at a time, a new start where
// nothing improves.
SearchResult search_local(const Objective& objective, const SearchBudget& budget);
// Guesses rank designs and the simulator has the last word. First some spread designs are simulated
// (or the best of an evolution on `surrogate`, where there is one); then, until the calls are
// spent, an evolution on a response surface through all simulated designs, corrected for what it
// missed, proposes some, and descents from the best ones take their steps in its order.
SearchResult search_guided(const Objective& objective, const SearchBudget& budget,
                           const Surrogate& surrogate = {}, const std::vector<Design>& starts = {});
// The same, with the first of these designs simulated first, for example those of a gradient.
SearchResult search_proposed(const Objective& objective, const SearchBudget& budget,
                             const std::vector<Design>& proposed);

// One step up or down of each ordered parameter, every other word of a choice.
std::vector<Design> neighbours(const Objective& objective, const Design& from);

// Designs that no other one beats in both power and latency, by rising latency.
std::vector<Judged> pareto_front(std::vector<Judged> designs);
// The design of a front that lies farthest from the line between its ends; 0 for fewer than three.
std::size_t knee_of(const std::vector<Judged>& front);

}  // namespace omen::power
