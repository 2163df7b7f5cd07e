// SPDX-License-Identifier: Apache-2.0
// Boosted trees over what is known of both jobs, for data with more rows than a process can keep.
#pragma once

#include <omen/boosting/gbt.hpp>

#include "pair/pair_model.hpp"

namespace omen::interference {

class TreeModel final : public PairModel {
 public:
  explicit TreeModel(const PairSettings& settings);
  void fit(const Cells& cells, const learn::Vector& rho, const std::vector<std::int32_t>& group,
           const learn::Context& context) override;
  Estimates estimate(const Cells& cells) const override;
  std::optional<HeldOut> without_pair() const override { return held_out_; }
  void save(learn::StateWriter& out) const override;
  void load(const learn::StateReader& in) override;

 private:
  learn::Matrix design(const Cells& cells) const;

  learn::Index width_ = 0;
  learn::GbtLearner trees_;
  std::optional<HeldOut> held_out_;
};

}  // namespace omen::interference
