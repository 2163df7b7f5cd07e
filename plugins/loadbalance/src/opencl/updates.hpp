// SPDX-License-Identifier: Apache-2.0
// Loads that belong to a store, as in a[i] += x.
#pragma once

namespace llvm {
class Instruction;
}

namespace omen::loadbalance {

// Whether nothing comes of what `load` reads but a term, a factor or bits of what `store` writes in
// the same block. Updates by zero or one then leave the place as it was, whatever it holds.
bool is_update(const llvm::Instruction& load, const llvm::Instruction& store);

}  // namespace omen::loadbalance
