// SPDX-License-Identifier: Apache-2.0
// Predictor `power.boards`: energy of small networks on boards, from names and measured rows.
#pragma once

#include <omen/plugin.hpp>

#include "measured/board_model.hpp"

namespace omen::power {

class BoardPredictor final : public Predictor {
 public:
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void observe(const Dataset& measured, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  BoardModel model_;
};

Component boards_component();

}  // namespace omen::power
