// SPDX-License-Identifier: Apache-2.0
// The structures of a module, written out without names.
#pragma once

#include "graph/inst2vec.hpp"

namespace llvm {
class Module;
}

namespace omen::loadbalance {

// Every named structure with its members; a structure inside of itself is "opaque".
StructDefinitions struct_definitions(const llvm::Module& module);

}  // namespace omen::loadbalance
