// SPDX-License-Identifier: Apache-2.0
// Conditions that let a single work-item, or a single row of them, pass.
#pragma once

#include <map>

#include "opencl/id_flow.hpp"

namespace llvm {
class DominatorTree;
class Instruction;
class Value;
}  // namespace llvm

namespace omen::loadbalance {

// Comparisons that hold where an instruction runs, with the dimensions d in which they let only
// one value of the id pass.
using Guards = std::map<const llvm::Value*, unsigned>;

Guards lonely_guards(const llvm::Instruction& at, const llvm::DominatorTree& tree,
                     const IdFlow& ids);

}  // namespace omen::loadbalance
