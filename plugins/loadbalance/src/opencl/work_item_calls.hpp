// SPDX-License-Identifier: Apache-2.0
// The functions that tell a work-item where it is, as bounds.
#pragma once

#include <optional>

#include "opencl/bound.hpp"

namespace llvm {
class Value;
}

namespace omen::loadbalance {

// What a call of get_global_id(0) and its kin gives; nothing for other values.
std::optional<Bound> work_item_call(const llvm::Value& value);

const char* work_item_name(BoundKind kind);

}  // namespace omen::loadbalance
