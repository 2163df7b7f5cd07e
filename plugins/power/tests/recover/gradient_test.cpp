// SPDX-License-Identifier: Apache-2.0
// A descent on slopes finds the best legal design of a predictor that is known in closed form.
#include <gtest/gtest.h>

#include <cmath>

#include "nets/mobile_names.hpp"
#include "recover/gradient_search.hpp"

namespace omen::power {
namespace {

constexpr double kWork = 4e6;

// Power grows with clock, rows and the square of the supply, and one dataflow takes a third.
SlopedGuess closed_form(const Hardware& hw) {
  SlopedGuess made;
  const double word = hw.dataflow == Dataflow::ws ? 1.0 / 3 : 1;
  made.guess.power_w = hw.vdd * hw.vdd * hw.freq_mhz * std::sqrt(hw.rows) * word / 1e3;
  made.guess.latency_s = kWork / (hw.freq_mhz * 1e6 * hw.rows);
  made.power.assign(slope_count(), 0);
  made.latency.assign(slope_count(), 0);
  for (std::size_t i = 0; i < design_space().size(); ++i) {
    const std::string& name = design_space()[i].name;
    const std::size_t place = slope_place(i);
    if (name == "rows") made.power[place] = 0.5, made.latency[place] = -1;
    if (name == "freq_mhz") made.power[place] = 1, made.latency[place] = -1;
    if (name == "vdd") made.power[place] = 2;
    if (name == "dataflow")
      made.power[place + static_cast<std::size_t>(Dataflow::ws)] = -std::log(3.0);
  }
  return made;
}

std::vector<SlopedGuess> closed_forms_of(const std::vector<Hardware>& asked) {
  std::vector<SlopedGuess> made;
  for (const Hardware& hw : asked) made.push_back(closed_form(hw));
  return made;
}

Objective limited(double latency_s) {
  Limits limits;
  limits.latency_s = latency_s;
  Objective made({ArrayNet(mobile_net("mobilenet-v1-0.5-96").value())}, {},
                 named_profile("tetris-65").value(), Goal::power, limits);
  for (const char* held : {"node_nm", "dram", "cols", "rf_b", "bw_gbps"}) made.hold(held);
  return made;
}

double best_guess(const Objective& objective) {
  double best = 1e30;
  Design design = objective.at_home(nearest_design(objective.fixed()));
  for (design[0] = 0; design[0] < design_space()[0].values.size(); ++design[0])
    for (design[2] = 0; design[2] < 2; ++design[2])
      for (design[9] = 0; design[9] < design_space()[9].values.size(); ++design[9])
        for (design[10] = 0; design[10] < design_space()[10].values.size(); ++design[10]) {
          const Guess said = closed_form(objective.hardware(design)).guess;
          best = std::min(best, objective.guessed(design, said.power_w, said.latency_s));
        }
  return best;
}

TEST(Gradient, FindsTheBestLegalDesignOfAPredictor) {
  const Objective objective = limited(1e-4);
  const GradientResult found = descend_slopes(objective, closed_forms_of, {});
  ASSERT_FALSE(found.proposed.empty());
  const Hardware best = objective.hardware(found.proposed[0]);
  EXPECT_EQ(objective.calls, 0);
  EXPECT_EQ(best.dataflow, Dataflow::ws);
  EXPECT_EQ(best.node_nm, 16);
  EXPECT_TRUE(illegal_because(best).empty());
  const Guess said = closed_form(best).guess;
  EXPECT_LE(said.latency_s, 1e-4);
  EXPECT_NEAR(objective.guessed(found.proposed[0], said.power_w, said.latency_s),
              best_guess(objective), 0.01);
  EXPECT_EQ(found.trajectories.size(), GradientOptions().starts);
}

TEST(Gradient, CautionKeepsAwayFromTheLimit) {
  const Objective objective = limited(1e-4);
  const auto unsure = [](const std::vector<Hardware>& asked) {
    std::vector<SlopedGuess> made = closed_forms_of(asked);
    for (SlopedGuess& one : made) one.doubt = std::log(2.0);
    return made;
  };
  GradientOptions careful;
  careful.caution = 1;
  const GradientResult found = descend_slopes(objective, unsure, careful);
  EXPECT_LE(closed_form(objective.hardware(found.proposed[0])).guess.latency_s, 0.5e-4);
}

TEST(Gradient, ProposalsComeFirstAndTheBudgetHolds) {
  const Objective objective = limited(1e-2);
  const GradientResult found = descend_slopes(objective, closed_forms_of, {});
  const SearchResult searched = search_proposed(objective, {40, 1}, found.proposed);
  EXPECT_EQ(searched.tried[0].design, found.proposed[0]);
  EXPECT_LE(objective.calls, 40);
}

}  // namespace
}  // namespace omen::power
