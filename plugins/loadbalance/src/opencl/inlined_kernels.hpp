// SPDX-License-Identifier: Apache-2.0
// Brings kernels into a form in which addresses can be followed from ids to accesses.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace omen::loadbalance {

// Makes everything that a kernel calls part of it and simplifies the result. Only for the kernel
// `wanted` where it is not empty: the others may be gone afterwards.
void inline_kernels(llvm::Module& module, const std::string& wanted);

}  // namespace omen::loadbalance
