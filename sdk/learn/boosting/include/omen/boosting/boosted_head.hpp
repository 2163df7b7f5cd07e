// SPDX-License-Identifier: Apache-2.0
// One boosted answer: a number, or the probabilities of classes.
#pragma once

#include <omen/run.hpp>
#include <optional>

#include "omen/boosting/booster.hpp"
#include "omen/learn/state.hpp"

namespace omen::learn {

struct BoostedSettings {
  int rounds = 200;
  int leaves = 31;
  double eta = 0.08;
  double subsample = 0.8, columns = 0.4;
  double least_leaf = 5;  // rows
};

class BoostedHead {
 public:
  // classes 0: a number. Labels of classes are 0..classes-1. run.step() is called between rounds.
  void fit(const Matrix& x, const Vector& y, const Vector& weights, int classes,
           const BoostedSettings& settings, std::uint64_t seed, const Run& run);
  // One column of numbers, or one of probabilities for each class.
  Matrix predict(const Matrix& x) const;

  void save(StateWriter& out, const std::string& name) const;
  void load(const StateReader& in, const std::string& name, Index features, int classes);

 private:
  std::optional<Booster> booster_;  // none: the answer is always the same
  int classes_ = 0;
  double mean_ = 0, scale_ = 1;
};

}  // namespace omen::learn
