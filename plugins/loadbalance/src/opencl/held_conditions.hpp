// SPDX-License-Identifier: Apache-2.0
// Comparisons whose outcome is known where an instruction runs.
#pragma once

#include <vector>

namespace llvm {
class DominatorTree;
class ICmpInst;
class Instruction;
}  // namespace llvm

namespace omen::loadbalance {

struct HeldCondition {
  const llvm::ICmpInst* compare = nullptr;
  bool holds = true;
};

// Those of all branches that lead there, the nearest first; `a && b` and `!(a || b)` are two.
std::vector<HeldCondition> held_conditions(const llvm::Instruction& at,
                                           const llvm::DominatorTree& tree);

}  // namespace omen::loadbalance
