// SPDX-License-Identifier: Apache-2.0
// Prints types with the members of structures in place of their names.
#include "llvm/struct_definitions.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

namespace omen::loadbalance {
namespace {

std::string printed(const llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type->print(out, false, true);
  return out.str();
}

class Writer {
 public:
  std::string text(llvm::Type* type) {
    if (auto* pointer = llvm::dyn_cast<llvm::PointerType>(type); pointer && !pointer->isOpaque()) {
      const unsigned space = pointer->getAddressSpace();
      return text(pointer->getNonOpaquePointerElementType()) +
             (space ? " addrspace(" + std::to_string(space) + ")" : "") + "*";
    }
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
      return "[" + std::to_string(array->getNumElements()) + " x " + text(array->getElementType()) +
             "]";
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      return "<" + std::to_string(vector->getNumElements()) + " x " +
             text(vector->getElementType()) + ">";
    if (auto* function = llvm::dyn_cast<llvm::FunctionType>(type))
      return text(function->getReturnType()) + " (" +
             list(function->params(), function->isVarArg() ? "..." : "") + ")";
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) return members(structure);
    return printed(type);
  }

 private:
  std::string list(llvm::ArrayRef<llvm::Type*> types, const char* last) {
    std::string out;
    for (llvm::Type* type : types) out += (out.empty() ? "" : ", ") + text(type);
    if (*last) out += (out.empty() ? "" : ", ") + std::string(last);
    return out;
  }
  // A definition can double with each level of names, so what grows without end is cut short.
  std::string members(llvm::StructType* structure) {
    constexpr int kMost = 1000;
    if (structure->isOpaque() || structures_ > kMost || !open_.insert(structure).second)
      return "opaque";
    ++structures_;
    const std::string inner = list(structure->elements(), "");
    open_.erase(structure);
    const std::string braces = inner.empty() ? "{}" : "{ " + inner + " }";
    return structure->isPacked() ? "<" + braces + ">" : braces;
  }

  llvm::SmallPtrSet<llvm::StructType*, 16> open_;
  int structures_ = 0;
};

}  // namespace

StructDefinitions struct_definitions(const llvm::Module& module) {
  StructDefinitions definitions;
  for (llvm::StructType* structure : module.getIdentifiedStructTypes())
    definitions.emplace_back(printed(structure), Writer().text(structure));
  return definitions;
}

}  // namespace omen::loadbalance
