// SPDX-License-Identifier: Apache-2.0
// How far off an answer may be: rows of which training was unsure get wider intervals.
#pragma once

#include <omen/learn/decision_tree.hpp>
#include <omen/learn/intervals.hpp>
#include <string>
#include <vector>

#include "learned/learned_rows.hpp"

namespace omen::power {

// What the width of an interval may depend on: the accelerator, the answers and the mean block.
learn::Vector scale_inputs(const LearnedRow& row, const LearnedNet& net,
                           const double (&said)[kCosts]);

// The misses that a network leaves, of one cost.
struct Misses {
  std::vector<learn::Vector> inputs;
  std::vector<double> miss;  // absolute, of logarithms
};

// The size of a miss is learnt where the network learnt; how many such sizes cover a row is counted
// on nets that nothing was learnt from (normalised split conformal prediction,
// doi:10.1080/01621459.2017.1307116, section 5.2).
class ErrorScale {
 public:
  void fit(const Misses& learnt, const Misses& held_back);
  double half_width(double level, const learn::Vector& inputs) const;

  void save(learn::StateWriter& out, const std::string& name) const;
  void load(const learn::StateReader& in, const std::string& name);

 private:
  double size(const learn::Vector& inputs) const;

  learn::DecisionTree tree_;
  double exponent_ = 1;
  learn::ResidualQuantiles ratios_;
};

}  // namespace omen::power
