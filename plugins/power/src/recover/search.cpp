// SPDX-License-Identifier: Apache-2.0
// Random, local and guided search.
#include "recover/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace omen::power {
namespace {

Design random_design(const Objective& objective, learn::Random& random) {
  Design made;
  for (const Parameter& parameter : design_space())
    made.push_back(random.below(parameter.values.size()));
  return objective.at_home(made);
}

// Remembers what was simulated, so that nothing is asked twice.
class Simulated {
 public:
  Simulated(const Objective& objective, std::int64_t calls) : objective_(objective), left_(calls) {}
  bool spent() const { return left_ <= 0; }
  const Judged& ask(const Design& design) {
    const auto [at, fresh] = known_.emplace(design, Judged());
    if (fresh) {
      at->second = objective_.judge(design);
      // What cannot be built is refused without simulation.
      if (at->second.legal) {
        --left_;
        result.tried.push_back(at->second);
        if (result.tried.size() == 1 || better(at->second, result.best)) result.best = at->second;
      }
    }
    return at->second;
  }
  bool knows(const Design& design) const { return known_.count(design) > 0; }

  SearchResult result;

 private:
  const Objective& objective_;
  std::int64_t left_;
  std::map<Design, Judged> known_;
};

// One step up or down of each ordered parameter, every other word of a choice.
std::vector<Design> neighbours(const Objective& objective, const Design& from) {
  std::vector<Design> made;
  for (const std::size_t i : objective.free()) {
    const Parameter& parameter = design_space()[i];
    const std::size_t count = parameter.values.size();
    for (std::size_t value = 0; value < count; ++value) {
      const bool near = value + 1 == from[i] || value == from[i] + 1;
      if (value == from[i] || (parameter.kind != ParameterKind::choice && !near)) continue;
      made.push_back(from);
      made.back()[i] = value;
    }
  }
  return made;
}

// Goes down from `start` for as long as something improves; the order of steps is the caller's.
void descend(Simulated& simulated, const Objective& objective, Design start,
             const std::function<void(std::vector<Design>&)>& order) {
  Judged at = simulated.ask(start);
  for (bool moved = true; moved && !simulated.spent();) {
    moved = false;
    std::vector<Design> steps = neighbours(objective, at.design);
    order(steps);
    for (const Design& step : steps) {
      if (simulated.spent()) return;
      const Judged& next = simulated.ask(step);
      if (!next.legal || !better(next, at)) continue;
      at = next;
      moved = true;
      break;
    }
  }
}

struct Individual {
  Design design;
  double cost = 0;
};

Design crossed(const Design& a, const Design& b, const Objective& objective,
               learn::Random& random) {
  Design child = a;
  for (const std::size_t i : objective.free()) {
    if (random.uniform() < 0.5) child[i] = b[i];
    const std::size_t count = design_space()[i].values.size();
    if (random.uniform() < 0.15) {
      const std::uint64_t roll = random.below(3);
      if (roll == 0 && child[i] > 0) --child[i];
      if (roll == 1 && child[i] + 1 < count) ++child[i];
      if (roll == 2) child[i] = random.below(count);
    }
  }
  return child;
}

// Evolves designs on the surrogate; the best distinct ones first.
std::vector<Individual> evolve(const Objective& objective, const Surrogate& surrogate,
                               learn::Random& random, const std::vector<Design>& starts) {
  constexpr std::size_t kPopulation = 64, kGenerations = 60;
  std::vector<Individual> alive;
  const auto add = [&](const Design& design) { alive.push_back({design, surrogate(design)}); };
  for (const Design& start : starts) add(objective.at_home(start));
  while (alive.size() < 4 * kPopulation) add(random_design(objective, random));
  const auto rank = [&] {
    std::sort(alive.begin(), alive.end(), [](const Individual& a, const Individual& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.design < b.design;
    });
    alive.erase(
        std::unique(alive.begin(), alive.end(),
                    [](const Individual& a, const Individual& b) { return a.design == b.design; }),
        alive.end());
    if (alive.size() > kPopulation) alive.resize(kPopulation);
  };
  rank();
  for (std::size_t generation = 0; generation < kGenerations; ++generation) {
    const std::size_t parents = alive.size();
    for (std::size_t i = 0; i < kPopulation; ++i) {
      // The better of two drawn ones becomes a parent; ranks are places in the list.
      const auto parent = [&] { return std::min(random.below(parents), random.below(parents)); };
      add(crossed(alive[parent()].design, alive[parent()].design, objective, random));
    }
    rank();
  }
  return alive;
}

}  // namespace

SearchResult search_random(const Objective& objective, const SearchBudget& budget) {
  learn::Random random(budget.seed);
  Simulated simulated(objective, budget.calls);
  while (!simulated.spent()) simulated.ask(random_design(objective, random));
  return std::move(simulated.result);
}

SearchResult search_local(const Objective& objective, const SearchBudget& budget) {
  learn::Random random(budget.seed);
  Simulated simulated(objective, budget.calls);
  while (!simulated.spent())
    descend(simulated, objective, random_design(objective, random),
            [&](std::vector<Design>& steps) {
              const auto order = random.permutation(static_cast<std::ptrdiff_t>(steps.size()));
              std::vector<Design> shuffled;
              for (const std::ptrdiff_t at : order)
                shuffled.push_back(steps[static_cast<std::size_t>(at)]);
              steps = std::move(shuffled);
            });
  return std::move(simulated.result);
}

SearchResult search_guided(const Objective& objective, const Surrogate& surrogate,
                           const SearchBudget& budget, const std::vector<Design>& starts) {
  constexpr std::size_t kVerified = 32;
  learn::Random random(budget.seed);
  Simulated simulated(objective, budget.calls);
  const std::vector<Individual> ranked = evolve(objective, surrogate, random, starts);
  for (std::size_t i = 0; i < ranked.size() && i < kVerified && !simulated.spent(); ++i)
    simulated.ask(ranked[i].design);
  const auto by_guess = [&](std::vector<Design>& steps) {
    std::vector<std::pair<double, Design>> guessed;
    for (Design& step : steps)
      if (!simulated.knows(step)) guessed.emplace_back(surrogate(step), std::move(step));
    std::sort(guessed.begin(), guessed.end());
    steps.clear();
    for (auto& [cost, design] : guessed) steps.push_back(std::move(design));
  };
  std::set<Design> begun;
  while (!simulated.spent()) {
    // From the best design that no descent has begun at; then from new ground.
    std::vector<Judged> order = simulated.result.tried;
    std::sort(order.begin(), order.end(), better);
    Design start = random_design(objective, random);
    for (const Judged& one : order)
      if (begun.insert(one.design).second) {
        start = one.design;
        break;
      }
    descend(simulated, objective, start, by_guess);
  }
  return std::move(simulated.result);
}

std::vector<Judged> pareto_front(std::vector<Judged> designs) {
  std::sort(designs.begin(), designs.end(), [](const Judged& a, const Judged& b) {
    return a.latency_s != b.latency_s ? a.latency_s < b.latency_s : a.power_w < b.power_w;
  });
  std::vector<Judged> front;
  for (const Judged& one : designs)
    if (one.legal && (front.empty() || one.power_w < front.back().power_w)) front.push_back(one);
  return front;
}

std::size_t knee_of(const std::vector<Judged>& front) {
  if (front.size() < 3) return 0;
  const auto x = [&](const Judged& one) { return std::log(one.latency_s); };
  const auto y = [&](const Judged& one) { return std::log(one.power_w); };
  const double width = x(front.back()) - x(front.front()),
               height = y(front.back()) - y(front.front());
  std::size_t best = 0;
  double farthest = 0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double away =
        (x(front[i]) - x(front.front())) * height - (y(front[i]) - y(front.front())) * width;
    if (away > farthest) {
      farthest = away;
      best = i;
    }
  }
  return best;
}

}  // namespace omen::power
