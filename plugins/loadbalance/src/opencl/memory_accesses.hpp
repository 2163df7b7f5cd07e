// SPDX-License-Identifier: Apache-2.0
// The reads and writes of global memory in a kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "opencl/places.hpp"
#include "opencl/splittable.hpp"

namespace llvm {
class DataLayout;
class Function;
class Instruction;
class SCEV;
class Type;
class Value;
}  // namespace llvm

namespace omen::loadbalance {

// One read or write of global memory.
struct Access {
  const llvm::Instruction* at = nullptr;
  const llvm::Value* pointer = nullptr;
  const llvm::Value* index = nullptr;   // a further one, of vload and vstore
  const llvm::Value* base = nullptr;    // the parameter; null: unknown
  std::uint64_t bytes = 0;              // 0: unknown
  bool waits = false;                   // volatile: it looks for what others write
  const llvm::SCEV* address = nullptr;  // filled in by who knows places
  Place place = {};
};

struct Accesses {
  std::vector<Access> stores, loads;
};

// Marks the parameters that are written, and refuses kernels for what no place can excuse: atomics,
// images that are written, functions without a body, recursion.
Accesses read_accesses(const llvm::Function& kernel, SplitVerdict& verdict);

// 0: not known.
std::uint64_t stored_bytes(llvm::Type* type, const llvm::DataLayout& layout);

}  // namespace omen::loadbalance
