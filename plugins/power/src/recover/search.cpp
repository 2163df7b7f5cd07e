// SPDX-License-Identifier: Apache-2.0
// Random, local and guided search.
#include "recover/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "recover/response_surface.hpp"

namespace omen::power {
namespace {

Design random_design(const Objective& objective, learn::Random& random) {
  Design made;
  for (const Parameter& parameter : design_space())
    made.push_back(random.below(parameter.values.size()));
  return objective.at_home(made);
}

// Designs of a predictor that the simulator is asked about before anything else.
constexpr std::size_t kVerified = 32;

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

// Goes down from `start` for as long as something improves; the order of steps is the caller's.
void descend(Simulated& simulated, const Objective& objective, const Design& start,
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
  constexpr double kMutation = 0.15;
  Design child = a;
  for (const std::size_t i : objective.free()) {
    if (random.uniform() < 0.5) child[i] = b[i];
    const std::size_t count = design_space()[i].values.size();
    if (random.uniform() >= kMutation) continue;
    const std::uint64_t roll = random.below(3);
    if (roll == 0 && child[i] > 0) --child[i];
    if (roll == 1 && child[i] + 1 < count) ++child[i];
    if (roll == 2) child[i] = random.below(count);
  }
  return child;
}

using Guesses = std::function<std::vector<double>(const std::vector<Design>&)>;

// Evolves designs on guessed costs with tournament selection and an elite; the best distinct ones
// come first.
std::vector<Individual> evolve(const Objective& objective, const Guesses& guess,
                               learn::Random& random, const std::vector<Design>& starts) {
  constexpr std::size_t kPopulation = 64, kGenerations = 40, kFirst = 256;
  std::vector<Individual> alive;
  const auto add = [&](const std::vector<Design>& designs) {
    const std::vector<double> costs = guess(designs);
    for (std::size_t i = 0; i < designs.size(); ++i) alive.push_back({designs[i], costs[i]});
    std::sort(alive.begin(), alive.end(), [](const Individual& a, const Individual& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.design < b.design;
    });
    const auto same = [](const Individual& a, const Individual& b) { return a.design == b.design; };
    alive.erase(std::unique(alive.begin(), alive.end(), same), alive.end());
    if (alive.size() > kPopulation) alive.resize(kPopulation);
  };
  std::vector<Design> fresh;
  for (const Design& start : starts) fresh.push_back(objective.at_home(start));
  while (fresh.size() < kFirst) fresh.push_back(random_design(objective, random));
  add(fresh);
  for (std::size_t generation = 0; generation < kGenerations; ++generation) {
    std::vector<Design> children;
    // The better of two drawn ones becomes a parent; places in the list are ranks.
    const auto parent = [&]() -> const Design& {
      return alive[std::min(random.below(alive.size()), random.below(alive.size()))].design;
    };
    for (std::size_t i = 0; i < kPopulation; ++i)
      children.push_back(crossed(parent(), parent(), objective, random));
    add(children);
  }
  return alive;
}

// Guessed costs of designs: what breaks a limit costs far more, what cannot be built the most.
std::vector<double> guessed_costs(const Objective& objective, const std::vector<Design>& designs,
                                  const std::vector<Guess>& guesses) {
  std::vector<double> costs;
  for (std::size_t i = 0; i < designs.size(); ++i)
    costs.push_back(objective.guessed(designs[i], guesses[i].power_w, guesses[i].latency_s));
  return costs;
}

class GuidedSearch {
 public:
  GuidedSearch(const Objective& objective, const SearchBudget& budget)
      : objective_(objective),
        random_(budget.seed),
        simulated_(objective, budget.calls),
        spread_(static_cast<std::size_t>(budget.calls) / 4),
        seed_(budget.seed) {}

  void simulate(const std::vector<Design>& designs, std::size_t most) {
    std::size_t asked = 0;
    for (const Design& design : designs) {
      if (simulated_.spent() || asked == most) return;
      if (simulated_.knows(design)) continue;
      simulated_.ask(design);
      ++asked;
    }
  }
  void simulate_best(const Guesses& guess, const std::vector<Design>& starts, std::size_t most) {
    std::vector<Design> order;
    for (Individual& one : evolve(objective_, guess, random_, starts))
      order.push_back(std::move(one.design));
    simulate(order, most);
  }
  void simulate_spread() {
    for (std::uint64_t point = 0;
         simulated_.result.tried.size() < spread_ && !simulated_.spent() && point < 64 * spread_;
         ++point)
      simulated_.ask(objective_.at_home(spread_design(point, seed_)));
  }
  SearchResult finish() {
    constexpr std::size_t kProposed = 6, kBest = 12;
    while (!simulated_.spent()) {
      const std::size_t before = simulated_.result.tried.size();
      surface_.fit(simulated_.result.tried);
      const Guesses guess = [this](const std::vector<Design>& designs) {
        std::vector<Guess> made;
        for (const Design& design : designs) {
          const auto expected = surface_.at(design);
          made.push_back({expected.power_w, expected.latency_s});
        }
        return guessed_costs(objective_, designs, made);
      };
      std::vector<Judged> order = simulated_.result.tried;
      std::sort(order.begin(), order.end(), better);
      std::vector<Design> starts;
      for (std::size_t i = 0; i < order.size() && i < kBest; ++i) starts.push_back(order[i].design);
      simulate_best(guess, starts, kProposed);
      descend_once(guess, simulated_.result.best.design);
      if (simulated_.result.tried.size() == before)
        simulated_.ask(random_design(objective_, random_));
    }
    return std::move(simulated_.result);
  }

 private:
  // Steps from a design in the order of their guesses, until one improves.
  void descend_once(const Guesses& guess, const Design& from) {
    constexpr std::size_t kSteps = 6;
    std::vector<Design> steps;
    for (Design& step : neighbours(objective_, from))
      if (!simulated_.knows(step)) steps.push_back(std::move(step));
    const std::vector<double> costs = guess(steps);
    std::vector<std::size_t> order(steps.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return costs[a] != costs[b] ? costs[a] < costs[b] : a < b;
    });
    const Judged best = simulated_.result.best;
    for (std::size_t i = 0; i < order.size() && i < kSteps && !simulated_.spent(); ++i)
      if (better(simulated_.ask(steps[order[i]]), best)) return;
  }

  const Objective& objective_;
  learn::Random random_;
  Simulated simulated_;
  ResponseSurface surface_;
  std::size_t spread_;
  std::uint64_t seed_;
};

}  // namespace

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

SearchResult search_guided(const Objective& objective, const SearchBudget& budget,
                           const Surrogate& surrogate, const std::vector<Design>& starts) {
  GuidedSearch search(objective, budget);
  if (surrogate)
    search.simulate_best(
        [&](const std::vector<Design>& designs) {
          return guessed_costs(objective, designs, surrogate(designs));
        },
        starts, kVerified);
  search.simulate_spread();
  return search.finish();
}

SearchResult search_proposed(const Objective& objective, const SearchBudget& budget,
                             const std::vector<Design>& proposed) {
  GuidedSearch search(objective, budget);
  search.simulate(proposed, kVerified);
  search.simulate_spread();
  return search.finish();
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
