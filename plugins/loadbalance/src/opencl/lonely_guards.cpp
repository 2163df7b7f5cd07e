// SPDX-License-Identifier: Apache-2.0
// Looks for equalities of an id with something that is the same for everyone.
#include "opencl/lonely_guards.hpp"

#include <llvm/IR/Instructions.h>

#include "opencl/held_conditions.hpp"

namespace omen::loadbalance {

Guards lonely_guards(const llvm::Instruction& at, const llvm::DominatorTree& tree,
                     const IdFlow& ids) {
  Guards found;
  for (const auto& [compare, holds] : held_conditions(at, tree)) {
    const bool equal =
        compare->getPredicate() == (holds ? llvm::CmpInst::ICMP_EQ : llvm::CmpInst::ICMP_NE);
    const unsigned a = ids.of(compare->getOperand(0)), b = ids.of(compare->getOperand(1));
    if (equal && !(a && b) && !((a | b) & (kFoldedBit | kDataBit)) && ((a | b) & kGroupBits))
      found[compare] = (a | b) & kGroupBits;
  }
  return found;
}

}  // namespace omen::loadbalance
