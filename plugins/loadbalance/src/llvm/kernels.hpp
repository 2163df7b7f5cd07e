// SPDX-License-Identifier: Apache-2.0
// The OpenCL kernels of a module, and what each of them reaches.
#pragma once

#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace omen::loadbalance {

// Defined functions with a kernel calling convention or OpenCL's kernel metadata, in module order.
std::vector<const llvm::Function*> kernels_of(const llvm::Module& module);

// The function and every function that it calls or takes the address of, directly or through
// others, in module order.
std::vector<const llvm::Function*> with_callees(const llvm::Function& function);

}  // namespace omen::loadbalance
