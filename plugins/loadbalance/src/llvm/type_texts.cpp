// SPDX-License-Identifier: Apache-2.0
// How types read in program graphs.
#include "llvm/type_texts.hpp"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/Support/raw_ostream.h>

#include "llvm/pointee.hpp"

namespace omen::loadbalance {
namespace {

// A structure without a name prints as its address, which differs from run to run.
void drop_addresses(std::string& text) {
  constexpr const char* kMark = "%\"type 0x";
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    const std::size_t end = text.find('"', at + 2);
    text.replace(at, end == std::string::npos ? end : end + 1 - at, "%struct");
  }
}

std::string printed(llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type->print(out, false, true);
  out.flush();
  drop_addresses(text);
  return text;
}

}  // namespace

std::string type_text(llvm::Type* type) {
  llvm::Type* pointee = type;
  std::size_t levels = 0;
  while (llvm::Type* inner = pointee_of(pointee)) {
    pointee = inner;
    ++levels;
  }
  return pointee->isStructTy() ? "struct" + std::string(levels, '*') : printed(type);
}

std::string composite_text(llvm::Type* type) {
  if (type->isStructTy()) return "struct";
  if (type->isPointerTy()) return "*";
  if (type->isArrayTy()) return "[]";
  return type->isVectorTy() ? "vector" : printed(type);
}

llvm::Type* element_of(llvm::Type* type) {
  if (type->isPointerTy()) return pointee_of(type);
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) return array->getElementType();
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(type)) return vector->getElementType();
  return nullptr;
}

}  // namespace omen::loadbalance
