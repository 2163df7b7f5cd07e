// SPDX-License-Identifier: Apache-2.0
// Seconds of single operations on any device, learnt from operator measurements.
#pragma once

#include <array>
#include <span>

#include "step/efficiency_net.hpp"
#include "step/op_work.hpp"

namespace omen::driple {

struct MeasuredOp {
  opgraph::Op op;
  Device device;
  double seconds = 0;
  int group = 0;  // measurements of one device weigh as much as those of another
};

class OperatorModel {
 public:
  // Families without rows keep what they had.
  void fit(std::span<const MeasuredOp> rows, const EfficiencyOptions& options);
  bool knows(Family family) const { return net(family).fitted(); }

  // Of each operation; 0 for what launches nothing. Never below the bound.
  std::vector<double> seconds(std::span<const opgraph::Op> ops, const Device& device) const;
  // How far the operations lie beyond what was measured, weighted by their seconds; 0: within.
  double beyond(std::span<const opgraph::Op> ops, const Device& device,
                std::span<const double> seconds) const;

  void save(learn::StateWriter& out) const;
  void load(const learn::StateReader& in);

 private:
  const EfficiencyNet& net(Family family) const { return nets_[static_cast<std::size_t>(family)]; }

  std::array<EfficiencyNet, kFamilyCount> nets_;
};

}  // namespace omen::driple
