// SPDX-License-Identifier: Apache-2.0
// XGBoost's C API with owners instead of handles and exceptions instead of codes.
#ifndef OMEN_BOOSTING_BOOSTER_HPP
#define OMEN_BOOSTING_BOOSTER_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

/// Features in XGBoost's own form; NaN is a missing value.
class BoosterData {
 public:
  explicit BoosterData(const Matrix& x);
  BoosterData(const Matrix& x, const Vector& labels);
  /// How much each row counts; all alike without it.
  void set_weights(const Vector& weights);

  void* handle() const { return handle_.get(); }
  Index rows() const { return rows_; }

 private:
  std::shared_ptr<void> handle_;
  Index rows_;
};

class Booster {
 public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  /// `cached`: data whose predictions are updated round by round rather than from the start.
  Booster(const std::vector<const BoosterData*>& cached, const Parameters& parameters);
  /// From the bytes of save(); throws when they are no model of `features` features.
  Booster(const std::string& model, Index features);

  void update(int round, const BoosterData& training);
  /// The booster's metric on labelled data after `round`.
  double evaluate(int round, const BoosterData& labelled);
  /// Answers of the first `rounds` rounds (0: all), `outputs` columns.
  Matrix predict(const BoosterData& data, int rounds, Index outputs) const;
  std::string save() const;

 private:
  std::shared_ptr<void> handle_;
};

/// FNV-1a of a saved model. XGBoost trusts the sizes that a model states and would allocate
/// whatever a damaged one asks for, so damage is found before it looks.
std::int64_t tree_checksum(const std::string& bytes);

}  // namespace omen::learn

#endif  // OMEN_BOOSTING_BOOSTER_HPP
