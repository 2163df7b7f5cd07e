// SPDX-License-Identifier: Apache-2.0
// What an accelerator is wanted for: an objective over some networks, and constraints.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hardware/design_space.hpp"
#include "sim/simulate.hpp"

namespace omen::power {

enum class Goal : std::uint8_t { power, energy, edp, match };
inline constexpr std::array kGoalNames = {"power", "energy", "edp", "match"};

struct Limits {
  double latency_s = std::numeric_limits<double>::infinity();  // of each network
  double area_mm2 = std::numeric_limits<double>::infinity();
  double power_w = std::numeric_limits<double>::infinity();
};

// Several networks on one accelerator: powers are averaged, the slowest latency counts.
struct Judged {
  Design design;
  double power_w = 0, latency_s = 0, energy_j = 0, area_mm2 = 0;
  double cost = std::numeric_limits<double>::infinity();  // what is minimised
  double excess = 0;   // sum of the logarithms by which limits are broken; 0: it is feasible
  std::string broken;  // which limit, or why it cannot be built
  bool legal = false;
  bool feasible() const { return legal && excess == 0; }
};

// Feasible before infeasible, then cheaper, then less broken.
bool better(const Judged& a, const Judged& b);

class Objective {
 public:
  Objective(std::vector<ArrayNet> nets, Hardware fixed, EnergyProfile profile, Goal goal,
            Limits limits, double matched_w = 0);
  // Asks the simulator, which counts as one call; parameters that are not free keep their value.
  Judged judge(const Design& design) const;
  // The cost of a design whose power and latency are guessed; 1e30 for what cannot be built.
  double guessed(const Design& design, double power_w, double latency_s) const;
  Hardware hardware(const Design& design) const;
  const Hardware& fixed() const { return fixed_; }
  Goal goal() const { return goal_; }
  const Limits& limits() const { return limits_; }
  double matched_w() const { return matched_w_; }
  double area_mm2(const Hardware& hardware) const { return power::area_mm2(profile_, hardware); }
  // Parameters that may be changed, by their place in the design space.
  const std::vector<std::size_t>& free() const { return free_; }
  void hold(const std::string& parameter);
  Design at_home(Design design) const;
  mutable std::int64_t calls = 0;

 private:
  double cost_of(double power_w, double energy_j, double latency_s) const;

  std::vector<ArrayNet> nets_;
  Hardware fixed_;
  EnergyProfile profile_;
  Goal goal_;
  Limits limits_;
  double matched_w_;
  std::vector<std::size_t> free_;
  Design home_;
};

}  // namespace omen::power
