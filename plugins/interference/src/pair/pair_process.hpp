// SPDX-License-Identifier: Apache-2.0
// A Gaussian process over pairs: products of a kernel on the job and one on its partner.
#pragma once

#include "pair/pair_model.hpp"

namespace omen::interference {

// k = c(context) * (s0 + s1 k_v(victim) + s2 k_p(partner) + s3 k_v(victim) k_p(partner)) and, where
// shares of the GPU are known, a line in what they suggest. k_v and k_p are Matern 3/2 with a
// length for each feature; lengths and variances maximise the likelihood of the rows
// (doi:10.7551/mitpress/3206.001.0001, chapter 5) with a weak pull towards their start.
class PairProcess final : public PairModel {
 public:
  explicit PairProcess(const PairSettings& settings);
  void fit(const Cells& cells, const learn::Vector& rho, const std::vector<std::int32_t>& group,
           const learn::Context& context) override;
  Estimates estimate(const Cells& cells) const override;
  // Means alone, which take no time that grows with the square of the rows.
  learn::Vector means(const Cells& cells) const;
  std::optional<HeldOut> without_pair() const override;
  std::optional<HeldOut> without_family() const override;
  void save(learn::StateWriter& out) const override;
  void load(const learn::StateReader& in) override;

 private:
  struct Kernels;
  learn::Vector start() const;
  void learn_scales(const learn::Context& context);
  double likelihood(const std::vector<std::size_t>& rows, learn::Vector& slope) const;
  void solve();
  learn::Matrix between(const Cells& asked) const;
  HeldOut without(const std::vector<std::vector<std::size_t>>& blocks) const;

  PairSettings settings_;
  Cells cells_;
  learn::Vector rho_;
  std::vector<std::int32_t> group_;
  learn::Vector scales_;  // logarithms: lengths of victim, partner, context; variances; noise
  double mean_ = 0, spread_ = 1;
  learn::Matrix inverse_;
  learn::Vector weights_;
};

}  // namespace omen::interference
