// SPDX-License-Identifier: Apache-2.0
// One table of the functions by name.
#include "opencl/work_item_calls.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "graph/features.hpp"

namespace omen::loadbalance {
namespace {

struct WorkItemFunction {
  const char* name;
  BoundKind kind;
};
constexpr WorkItemFunction kWorkItemFunctions[] = {
    {"get_global_id", BoundKind::kGlobalId},   {"get_local_id", BoundKind::kLocalId},
    {"get_group_id", BoundKind::kGroupId},     {"get_global_size", BoundKind::kGlobalSize},
    {"get_local_size", BoundKind::kLocalSize}, {"get_num_groups", BoundKind::kGroups}};

}  // namespace

std::optional<Bound> work_item_call(const llvm::Value& value) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || call->arg_size() != 1) return std::nullopt;
  const auto* dimension = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
  if (!dimension || dimension->getZExtValue() > 2) return std::nullopt;
  const llvm::StringRef name = unmangled(callee->getName());
  for (const WorkItemFunction& known : kWorkItemFunctions)
    if (name == known.name) return Bound{known.kind, dimension->getSExtValue()};
  return std::nullopt;
}

const char* work_item_name(BoundKind kind) {
  for (const WorkItemFunction& known : kWorkItemFunctions)
    if (kind == known.kind) return known.name;
  return "";
}

}  // namespace omen::loadbalance
