// SPDX-License-Identifier: Apache-2.0
// How far above its bound an operation stays: small networks whose answer is a utilisation.
#pragma once

#include <omen/learn/matrix.hpp>
#include <omen/learn/state.hpp>
#include <string>
#include <vector>

namespace omen::driple {

struct EfficiencyOptions {
  int hidden = 24, members = 3, epochs = 30, batch = 128;
  double rate = 4e-3;
  double decay = 1e-4;  // of weights
  std::uint64_t seed = 1;
  // Columns that members do not see, in turn; there are `members` for each entry.
  std::vector<std::vector<int>> hidden_columns;
};

// Seconds are floor + bound / u with 0 < u < 1. Features are held within the range of training, so
// that beyond it utilisation stays what it was at the edge instead of following a slope.
class EfficiencyNet {
 public:
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  struct Rows {
    Floats x;
    learn::Vector bound, seconds, weight;
  };
  void fit(const Rows& rows, const EfficiencyOptions& options);
  bool fitted() const { return !members_.empty(); }

  // Geometric mean over the members.
  learn::Vector seconds(const Floats& x, const learn::Vector& bound) const;
  // Distance beyond the range of training in units of a feature's deviation, of each row the
  // largest.
  learn::Vector beyond(const Floats& x) const;

  void save(learn::StateWriter& out, const std::string& name) const;
  void load(const learn::StateReader& in, const std::string& name, learn::Index features);

 private:
  struct Member {
    Floats w1, w2, w3;  // inputs x hidden with the bias as last row
    float log_floor = 0;
  };
  Floats scaled(const Floats& x) const;
  static Eigen::VectorXf answer(const Member& member, const Floats& x);
  Member train(const Floats& x, const Rows& rows, const EfficiencyOptions& options,
               std::uint64_t stream) const;

  learn::Vector low_, high_, mean_, deviation_;
  std::vector<Member> members_;
};

}  // namespace omen::driple
