// SPDX-License-Identifier: Apache-2.0
// What pointers point to, in versions of LLVM that have it in their types and in those that do not.
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DerivedTypes.h>

namespace omen::loadbalance {

// Null for an opaque pointer, and for what is none.
inline llvm::Type* pointee_of(llvm::Type* type) {
#if LLVM_VERSION_MAJOR < 17
  auto* pointer = llvm::dyn_cast<llvm::PointerType>(type);
  return pointer && !pointer->isOpaque() ? pointer->getNonOpaquePointerElementType() : nullptr;
#else
  static_cast<void>(type);
  return nullptr;
#endif
}

}  // namespace omen::loadbalance
