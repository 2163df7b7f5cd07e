// SPDX-License-Identifier: Apache-2.0
// Judges one accelerator.
#include "recover/objective.hpp"

#include <algorithm>
#include <cmath>

namespace omen::power {

bool better(const Judged& a, const Judged& b) {
  if (a.feasible() != b.feasible()) return a.feasible();
  if (a.feasible()) return a.cost < b.cost;
  if (a.legal != b.legal) return a.legal;
  return a.excess != b.excess ? a.excess < b.excess : a.cost < b.cost;
}

Objective::Objective(std::vector<ArrayNet> nets, Hardware fixed, EnergyProfile profile, Goal goal,
                     Limits limits, double matched_w)
    : nets_(std::move(nets)),
      fixed_(fixed),
      profile_(std::move(profile)),
      goal_(goal),
      limits_(limits),
      matched_w_(matched_w),
      home_(nearest_design(fixed)) {
  for (std::size_t i = 0; i < design_space().size(); ++i) free_.push_back(i);
}

void Objective::hold(const std::string& parameter) {
  free_.erase(std::remove_if(free_.begin(), free_.end(),
                             [&](std::size_t i) { return design_space()[i].name == parameter; }),
              free_.end());
}

Design Objective::at_home(Design design) const {
  for (std::size_t i = 0; i < design.size(); ++i)
    if (std::find(free_.begin(), free_.end(), i) == free_.end()) design[i] = home_[i];
  return design;
}

Hardware Objective::hardware(const Design& design) const {
  Hardware hw = hardware_of(design, fixed_);
  // Held parameters keep their exact value, also between the legal ones.
  for (std::size_t i = 0; i < design_space().size(); ++i)
    if (std::find(free_.begin(), free_.end(), i) == free_.end())
      design_space()[i].set(hw, design_space()[i].get(fixed_));
  return hw;
}

double Objective::cost_of(double power_w, double energy_j, double latency_s) const {
  switch (goal_) {
    case Goal::energy:
      return energy_j;
    case Goal::edp:
      return energy_j * latency_s;
    case Goal::match:
      return std::abs(std::log(power_w / matched_w_));
    default:
      return power_w;
  }
}

double Objective::guessed(const Design& design, double power_w, double latency_s) const {
  constexpr double kIllegal = 1e30, kPrice = 30;
  const Hardware hw = hardware(at_home(design));
  if (!illegal_because(hw).empty()) return kIllegal;
  double excess = 0;
  const auto check = [&](double value, double limit) {
    // A margin keeps guesses away from the limit.
    constexpr double kMargin = 1.02;
    if (value * kMargin > limit) excess += std::log(value * kMargin / limit);
  };
  check(latency_s, limits_.latency_s);
  check(power_w, limits_.power_w);
  check(area_mm2(hw), limits_.area_mm2);
  const double cost = cost_of(power_w, power_w * latency_s, latency_s);
  return goal_ == Goal::match ? cost + kPrice * excess : std::log(cost) + kPrice * excess;
}

Judged Objective::judge(const Design& design) const {
  Judged made;
  made.design = at_home(design);
  const Hardware hw = hardware(made.design);
  made.broken = illegal_because(hw);
  made.legal = made.broken.empty();
  if (!made.legal) return made;
  ++calls;
  for (const ArrayNet& net : nets_) {
    const NetCost cost = simulate(net, hw, profile_);
    made.power_w += cost.power_w() / static_cast<double>(nets_.size());
    made.energy_j += cost.energy_j() / static_cast<double>(nets_.size());
    made.latency_s = std::max(made.latency_s, cost.latency_s);
    made.area_mm2 = cost.area_mm2;
  }
  made.cost = cost_of(made.power_w, made.energy_j, made.latency_s);
  const auto check = [&](const char* what, double value, double limit) {
    if (!(value > limit)) return;
    made.excess += std::log(value / limit);
    made.broken += (made.broken.empty() ? "" : ", ") + std::string(what);
  };
  check("latency", made.latency_s, limits_.latency_s);
  check("area", made.area_mm2, limits_.area_mm2);
  check("power", made.power_w, limits_.power_w);
  return made;
}

}  // namespace omen::power
