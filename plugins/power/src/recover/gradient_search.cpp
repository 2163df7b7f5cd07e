// SPDX-License-Identifier: Apache-2.0
// Relaxed parameters, their losses and their steps.
#include "recover/gradient_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <omen/learn/kmeans.hpp>

namespace omen::power {
namespace {

constexpr double kMargin = 0.03;  // of limits, as a logarithm
// Limits on latency, power, area and clock.
constexpr std::size_t kLimits = 4;
using Multipliers = std::array<double, kLimits>;

bool is_choice(const Parameter& parameter) {
  return parameter.kind == ParameterKind::choice;
}

double axis_of(const Parameter& parameter, double value) {
  return parameter.logarithmic ? std::log(value) : value;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// One start on its way: a number for each slope place, with what Adam remembers of it.
struct Traveller {
  std::vector<double> at, mean, square;
  Multipliers multipliers{};
  explicit Traveller(std::vector<double> start)
      : at(std::move(start)), mean(at.size(), 0), square(at.size(), 0) {}
};

std::size_t chosen_word(const Parameter& parameter, const double* logits) {
  return static_cast<std::size_t>(std::max_element(logits, logits + parameter.values.size()) -
                                  logits);
}

double relaxed_value(const Parameter& parameter, const double* at) {
  if (is_choice(parameter)) return parameter.values[chosen_word(parameter, at)];
  const double low = axis_of(parameter, parameter.values.front()),
               high = axis_of(parameter, parameter.values.back());
  const double place = low + (high - low) * sigmoid(*at);
  const double value = parameter.logarithmic ? std::exp(place) : place;
  return parameter.kind == ParameterKind::integer ? std::round(value) : value;
}

Hardware relaxed_hardware(const Objective& objective, const Traveller& traveller) {
  Hardware made = objective.hardware(nearest_design(objective.fixed()));
  for (const std::size_t i : objective.free())
    design_space()[i].set(made, relaxed_value(design_space()[i], &traveller.at[slope_place(i)]));
  return made;
}

// What a network cannot say: area and clock follow from closed forms, whose slopes are differences.
struct ClosedForms {
  double area = 0, clock = 0;  // logarithms by which limits are exceeded
};
ClosedForms closed_forms(const Objective& objective, const Hardware& hardware) {
  return {std::log(objective.area_mm2(hardware) / objective.limits().area_mm2),
          std::log(hardware.freq_mhz / fastest_mhz(hardware.node_nm, hardware.vdd))};
}

void add_closed_slopes(const Objective& objective, const Hardware& hardware, double area_weight,
                       double clock_weight, std::vector<double>& slopes) {
  if (area_weight == 0 && clock_weight == 0) return;
  constexpr double kStep = 1e-4;
  const auto weighted = [&](const Hardware& moved) {
    const ClosedForms forms = closed_forms(objective, moved);
    return (area_weight == 0 ? 0 : area_weight * forms.area) + clock_weight * forms.clock;
  };
  const double here = weighted(hardware);
  for (const std::size_t i : objective.free()) {
    const Parameter& parameter = design_space()[i];
    const std::size_t place = slope_place(i);
    Hardware moved = hardware;
    if (is_choice(parameter)) {
      for (std::size_t word = 0; word < parameter.values.size(); ++word) {
        parameter.set(moved, parameter.values[word]);
        slopes[place + word] += weighted(moved) - here;
      }
      continue;
    }
    parameter.set(moved, parameter.get(hardware) * (1 + kStep));
    slopes[place] += (weighted(moved) - here) / kStep;
  }
}

void add_scaled(std::vector<double>& sum, const std::vector<double>& part, double factor) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * part[i];
}

// Slopes of the Lagrangian by parameters, before sigmoids and choices.
std::vector<double> loss_slopes(const Objective& objective, const SlopedGuess& said,
                                const Hardware& hardware, double caution, bool update,
                                Multipliers& multipliers) {
  constexpr double kPenalty = 10;
  std::vector<double> slopes(slope_count(), 0);
  const double power = std::log(said.guess.power_w), latency = std::log(said.guess.latency_s);
  const bool energy = objective.goal() == Goal::energy, product = objective.goal() == Goal::edp;
  const double wanted = objective.goal() == Goal::match ? std::log(objective.matched_w()) : 0;
  add_scaled(slopes, said.power, objective.goal() == Goal::match ? 2 * (power - wanted) : 1);
  add_scaled(slopes, said.latency, energy ? 1 : product ? 2 : 0);
  const ClosedForms forms = closed_forms(objective, hardware);
  const double exceeded[kLimits] = {
      latency + caution * said.doubt + kMargin - std::log(objective.limits().latency_s),
      power + kMargin - std::log(objective.limits().power_w), forms.area + kMargin, forms.clock};
  Multipliers weight{};
  for (std::size_t i = 0; i < kLimits; ++i) {
    if (!std::isfinite(exceeded[i])) continue;
    weight[i] = std::max(0.0, multipliers[i] + kPenalty * exceeded[i]);
    if (update) multipliers[i] = weight[i];
  }
  add_scaled(slopes, said.latency, weight[0]);
  add_scaled(slopes, said.power, weight[1]);
  add_closed_slopes(objective, hardware, weight[2], weight[3], slopes);
  return slopes;
}

// From slopes by parameters to slopes by what is stepped.
std::vector<double> relaxed_slopes(const Objective& objective, const Traveller& traveller,
                                   const std::vector<double>& slopes, double temperature) {
  std::vector<double> made(slope_count(), 0);
  for (const std::size_t i : objective.free()) {
    const Parameter& parameter = design_space()[i];
    const std::size_t place = slope_place(i), count = parameter.values.size();
    if (!is_choice(parameter)) {
      const double low = axis_of(parameter, parameter.values.front()),
                   high = axis_of(parameter, parameter.values.back()),
                   s = sigmoid(traveller.at[place]);
      const double by_axis = (high - low) * s * (1 - s);
      const double value = low + (high - low) * s;
      made[place] = slopes[place] * by_axis / (parameter.logarithmic ? 1 : value);
      continue;
    }
    std::vector<double> share(count);
    const double top = *std::max_element(&traveller.at[place], &traveller.at[place] + count);
    double sum = 0, mean = 0;
    for (std::size_t word = 0; word < count; ++word)
      sum += share[word] = std::exp((traveller.at[place + word] - top) / temperature);
    for (std::size_t word = 0; word < count; ++word)
      mean += (share[word] /= sum) * slopes[place + word];
    for (std::size_t word = 0; word < count; ++word)
      made[place + word] = share[word] * (slopes[place + word] - mean) / temperature;
  }
  return made;
}

void step_adam(Traveller& traveller, const std::vector<double>& slopes, int step, double rate) {
  constexpr double kMean = 0.9, kSquare = 0.99, kTiny = 1e-8;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    if (!std::isfinite(slopes[i])) continue;
    traveller.mean[i] += (1 - kMean) * (slopes[i] - traveller.mean[i]);
    traveller.square[i] += (1 - kSquare) * (slopes[i] * slopes[i] - traveller.square[i]);
    const double mean = traveller.mean[i] / (1 - std::pow(kMean, step)),
                 square = traveller.square[i] / (1 - std::pow(kSquare, step));
    traveller.at[i] -= rate * mean / (std::sqrt(square) + kTiny);
  }
}

// Coordinates in which accelerators are alike: places on axes from 0 to 1, choices as codes.
std::vector<double> coordinates(const Design& design) {
  std::vector<double> made(slope_count(), 0);
  for (std::size_t i = 0; i < design.size(); ++i) {
    const Parameter& parameter = design_space()[i];
    const double value = parameter.values[design[i]];
    const double low = axis_of(parameter, parameter.values.front()),
                 high = axis_of(parameter, parameter.values.back());
    if (is_choice(parameter))
      made[slope_place(i) + design[i]] = 1;
    else
      made[slope_place(i)] = (axis_of(parameter, value) - low) / (high - low);
  }
  return made;
}

Traveller traveller_from(const std::vector<double>& coordinates) {
  constexpr double kEdge = 0.03, kLeast = 0.1;
  std::vector<double> start(coordinates.size());
  for (std::size_t i = 0; i < design_space().size(); ++i)
    for (std::size_t at = slope_place(i); at < slope_place(i + 1); ++at) {
      const double x = coordinates[at], inside = std::min(1 - kEdge, std::max(kEdge, x));
      start[at] =
          is_choice(design_space()[i]) ? std::log(x + kLeast) : std::log(inside / (1 - inside));
    }
  return Traveller(std::move(start));
}

// Centres of the accelerators that a corpus consists of, then points of the same sequence.
std::vector<Traveller> first_travellers(const Objective& objective,
                                        const GradientOptions& options) {
  constexpr std::uint64_t kSample = 512;
  std::vector<std::vector<double>> points;
  for (std::uint64_t i = 0; points.size() < kSample; ++i) {
    const Design design = spread_design(i, options.seed);
    if (illegal_because(hardware_of(design, objective.fixed())).empty())
      points.push_back(coordinates(design));
  }
  learn::Matrix x(static_cast<learn::Index>(points.size()),
                  static_cast<learn::Index>(slope_count()));
  for (std::size_t row = 0; row < points.size(); ++row)
    for (std::size_t c = 0; c < slope_count(); ++c)
      x(static_cast<learn::Index>(row), static_cast<learn::Index>(c)) = points[row][c];
  learn::KMeansOptions how;
  how.clusters = static_cast<int>(std::max<std::size_t>(1, options.starts / 2));
  how.restarts = 2;
  how.seed = options.seed;
  const learn::Matrix centres = learn::kmeans(x, how).centres;
  std::vector<Traveller> made;
  for (learn::Index row = 0; row < centres.rows(); ++row) {
    std::vector<double> centre(slope_count());
    for (std::size_t c = 0; c < centre.size(); ++c)
      centre[c] = centres(row, static_cast<learn::Index>(c));
    made.push_back(traveller_from(centre));
  }
  for (std::size_t i = 0; made.size() < options.starts; ++i)
    made.push_back(traveller_from(points[i]));
  return made;
}

// The nearest legal design; a clock that is too fast for its voltage is lowered.
Design rounded(const Objective& objective, const Hardware& hardware) {
  Design design = objective.at_home(nearest_design(hardware));
  for (const std::size_t i : objective.free())
    while (design_space()[i].name == "freq_mhz" && design[i] > 0 &&
           !illegal_because(objective.hardware(design)).empty())
      --design[i];
  return design;
}

// What the predictor expects of legal designs, each asked once.
class Expected {
 public:
  Expected(const Objective& objective, const SlopedSurrogate& predictor, double caution)
      : objective_(objective), predictor_(predictor), caution_(caution) {}

  void ask(const std::vector<Design>& designs) {
    std::vector<Design> fresh;
    for (const Design& design : designs)
      if (cost_.emplace(design, 0).second) fresh.push_back(design);
    if (fresh.empty()) return;
    std::vector<Hardware> hardware;
    for (const Design& design : fresh) hardware.push_back(objective_.hardware(design));
    const std::vector<SlopedGuess> said = predictor_(hardware);
    for (std::size_t i = 0; i < fresh.size(); ++i)
      cost_[fresh[i]] =
          objective_.guessed(fresh[i], said[i].guess.power_w,
                             said[i].guess.latency_s * std::exp(caution_ * said[i].doubt));
  }
  std::vector<Design> best_first() const {
    std::vector<std::pair<double, Design>> order;
    for (const auto& [design, cost] : cost_) order.emplace_back(cost, design);
    std::sort(order.begin(), order.end());
    std::vector<Design> made;
    for (auto& [cost, design] : order) made.push_back(std::move(design));
    return made;
  }

 private:
  const Objective& objective_;
  const SlopedSurrogate& predictor_;
  double caution_;
  std::map<Design, double> cost_;
};

void step_to_neighbours(const Objective& objective, Expected& expected) {
  constexpr std::size_t kKept = 6, kRounds = 8;
  std::vector<Design> before;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::vector<Design> best = expected.best_first();
    best.resize(std::min(best.size(), kKept));
    if (best == before) return;
    std::vector<Design> steps;
    for (const Design& design : best)
      for (Design& step : neighbours(objective, design)) steps.push_back(std::move(step));
    expected.ask(steps);
    before = std::move(best);
  }
}

}  // namespace

std::size_t slope_place(std::size_t parameter) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < parameter; ++i)
    place += is_choice(design_space()[i]) ? design_space()[i].values.size() : 1;
  return place;
}

std::size_t slope_count() {
  return slope_place(design_space().size());
}

GradientResult descend_slopes(const Objective& objective, const SlopedSurrogate& predictor,
                              const GradientOptions& options) {
  constexpr int kUpdates = 20, kLooks = 10;
  constexpr double kFirstTemperature = 2, kLastTemperature = 0.5;
  std::vector<Traveller> travellers = first_travellers(objective, options);
  Expected expected(objective, predictor, options.caution);
  GradientResult made;
  made.trajectories.resize(travellers.size());
  for (int step = 1; step <= options.steps; ++step) {
    std::vector<Hardware> hardware;
    for (const Traveller& one : travellers) hardware.push_back(relaxed_hardware(objective, one));
    const std::vector<SlopedGuess> said = predictor(hardware);
    const double way = static_cast<double>(step) / options.steps;
    const double temperature =
        kFirstTemperature * std::pow(kLastTemperature / kFirstTemperature, way);
    std::vector<Design> seen;
    for (std::size_t i = 0; i < travellers.size(); ++i) {
      made.trajectories[i].push_back(said[i].guess);
      if (step % kLooks == 0) seen.push_back(rounded(objective, hardware[i]));
      const std::vector<double> slopes =
          loss_slopes(objective, said[i], hardware[i], options.caution, step % kUpdates == 0,
                      travellers[i].multipliers);
      step_adam(travellers[i], relaxed_slopes(objective, travellers[i], slopes, temperature), step,
                options.rate);
    }
    expected.ask(seen);
  }
  step_to_neighbours(objective, expected);
  made.proposed = expected.best_first();
  return made;
}

}  // namespace omen::power
