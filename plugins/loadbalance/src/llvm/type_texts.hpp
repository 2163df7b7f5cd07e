// SPDX-License-Identifier: Apache-2.0
// How types read in program graphs.
#pragma once

#include <string>

namespace llvm {
class Type;
}

namespace omen::loadbalance {

// The text of a variable or constant: "struct" with one "*" for each pointer level where there is a
// structure at the end of them, else the type as LLVM prints it.
std::string type_text(llvm::Type* type);

// The text of a type node: "struct", "*", "[]", "vector", or the printed type.
std::string composite_text(llvm::Type* type);

// What a pointer points to, or an array or vector is made of; null for others.
llvm::Type* element_of(llvm::Type* type);

}  // namespace omen::loadbalance
