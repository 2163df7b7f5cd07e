// SPDX-License-Identifier: Apache-2.0
// Searches over legal designs with a bounded number of simulator calls.
#pragma once

#include <functional>
#include <omen/learn/random.hpp>
#include <vector>

#include "recover/objective.hpp"

namespace omen::power {

// A quick guess of a design's cost and excess that costs no simulator call; smaller is better.
using Surrogate = std::function<double(const Design&)>;

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
// NSGA-II (doi:10.1109/4235.996017) over the surrogate alone ranks designs; the best are simulated,
// and a coordinate search whose steps the surrogate orders spends the rest of the calls.
SearchResult search_guided(const Objective& objective, const Surrogate& surrogate,
                           const SearchBudget& budget, const std::vector<Design>& starts = {});

// Designs that no other one beats in both power and latency, by rising latency.
std::vector<Judged> pareto_front(std::vector<Judged> designs);
// The design of a front that lies farthest from the line between its ends; 0 for fewer than three.
std::size_t knee_of(const std::vector<Judged>& front);

}  // namespace omen::power
