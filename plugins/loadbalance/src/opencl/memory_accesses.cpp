// SPDX-License-Identifier: Apache-2.0
// Looks at every instruction and every built-in function that touches memory.
#include "opencl/memory_accesses.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "graph/features.hpp"
#include "opencl/address_spaces.hpp"
#include "opencl/findings.hpp"

namespace omen::loadbalance {
namespace {

class AccessReader {
 public:
  AccessReader(const llvm::DataLayout& layout, SplitVerdict& verdict)
      : layout_(layout), verdict_(verdict) {}

  Accesses read(const llvm::Function& kernel) {
    for (const llvm::Instruction& instruction : llvm::instructions(kernel)) look_at(instruction);
    return std::move(found_);
  }

 private:
  // The objects that a pointer may point into; private and local memory and constants are left out.
  static std::vector<const llvm::Value*> shared_objects(const llvm::Value* pointer) {
    llvm::SmallVector<const llvm::Value*, 4> objects;
    llvm::getUnderlyingObjects(pointer, objects, nullptr, 0);
    std::vector<const llvm::Value*> shared;
    for (const llvm::Value* object : objects) {
      const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object);
      const unsigned space = object->getType()->isPointerTy()
                                 ? object->getType()->getPointerAddressSpace()
                                 : kGlobalSpace;
      if (llvm::isa<llvm::AllocaInst>(object) || space == kLocalSpace ||
          llvm::isa<llvm::UndefValue>(object) || (global && global->isConstant()))
        continue;
      const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
      if (argument && argument->hasByValAttr()) continue;
      shared.push_back(argument || global ? object : nullptr);
    }
    return shared;
  }

  std::uint64_t bytes_of(llvm::Type* type) const { return stored_bytes(type, layout_); }

  void add_store(const llvm::Instruction& at, const llvm::Value* pointer, std::uint64_t bytes,
                 const llvm::Value* index = nullptr) {
    for (const llvm::Value* base : shared_objects(pointer)) {
      found_.stores.push_back({&at, pointer, index, base, bytes});
      if (const auto* argument = llvm::dyn_cast_or_null<llvm::Argument>(base))
        verdict_.written[argument->getArgNo()] = true;
    }
  }
  void add_load(const llvm::Instruction& at, const llvm::Value* pointer, std::uint64_t bytes,
                const llvm::Value* index = nullptr, bool waits = false) {
    for (const llvm::Value* base : shared_objects(pointer))
      found_.loads.push_back({&at, pointer, index, base, bytes, waits});
  }

  void look_at(const llvm::Instruction& instruction) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      add_store(instruction, store->getPointerOperand(),
                bytes_of(store->getValueOperand()->getType()));
    else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      add_load(instruction, load->getPointerOperand(), bytes_of(load->getType()), nullptr,
               load->isVolatile());
    else if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      look_at_atomic(instruction, update->getPointerOperand(), "an atomic operation");
    else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      look_at_atomic(instruction, exchange->getPointerOperand(), "an atomic operation");
    else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      look_at_call(*call);
  }

  void look_at_atomic(const llvm::Instruction& at, const llvm::Value* pointer,
                      const std::string& what) {
    for (const llvm::Value* base : shared_objects(pointer)) {
      refuse(verdict_,
             what + " on " + (base ? name_of(base) : std::string("memory that cannot be told")) +
                 " reaches across work-groups",
             &at);
      if (const auto* argument = llvm::dyn_cast_or_null<llvm::Argument>(base))
        verdict_.written[argument->getArgNo()] = true;
    }
  }

  void look_at_call(const llvm::CallBase& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee) return refuse(verdict_, "it calls a function through a pointer", &call);
    if (const auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
      const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength());
      const std::uint64_t bytes = length ? length->getZExtValue() : 0;
      add_store(call, copy->getRawDest(), bytes);
      if (const auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(copy))
        add_load(call, transfer->getRawSource(), bytes);
      return;
    }
    if (callee->isIntrinsic()) return;
    const llvm::StringRef name = unmangled(callee->getName());
    if (!callee->isDeclaration())
      return refuse(verdict_, "it calls itself through '" + name.str() + "'", &call);
    look_at_builtin(call, name);
  }

  void look_at_builtin(const llvm::CallBase& call, llvm::StringRef name) {
    if (name.startswith("atomic_") && !name.startswith("atomic_work_item_fence") &&
        call.arg_size() && call.getArgOperand(0)->getType()->isPointerTy())
      return look_at_atomic(call, call.getArgOperand(0), name.str());
    if (name.startswith("atom_")) return look_at_atomic(call, call.getArgOperand(0), name.str());
    if (name.startswith("write_image"))
      return refuse(verdict_, "it writes an image, and images are not merged", &call);
    if (name.contains("enqueue_kernel") || name.contains("_pipe") || name == "enqueue_marker")
      return refuse(verdict_, "'" + name.str() + "' starts or feeds other kernels", &call);
    if (name == "printf") return note(verdict_, "the order of what it prints may change", &call);
    if (!call.getCalledFunction()->getName().startswith("_Z"))
      return refuse(verdict_, "function '" + name.str() + "' has no body", &call);
    if (name.startswith("vstore"))
      return add_store(call, call.getArgOperand(2),
                       vector_size(call.getArgOperand(0)->getType(), call.getArgOperand(2)),
                       call.getArgOperand(1));
    if (name.startswith("vload"))
      return add_load(call, call.getArgOperand(1),
                      vector_size(call.getType(), call.getArgOperand(1)), call.getArgOperand(0));
    if (name.startswith("async_work_group")) {
      add_store(call, call.getArgOperand(0), 0);
      return add_load(call, call.getArgOperand(1), 0);
    }
    if (name == "prefetch") return;
    for (const llvm::Value* argument : call.args())
      if (argument->getType()->isPointerTy())
        add_store(call, argument, bytes_of(argument->getType()->getPointerElementType()));
  }

  // Bytes in memory of what vload and vstore move; vload_half converts on the way.
  std::uint64_t vector_size(const llvm::Type* moved, const llvm::Value* pointer) const {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(moved);
    return (vector ? vector->getNumElements() : 1) *
           bytes_of(pointer->getType()->getPointerElementType());
  }

  const llvm::DataLayout& layout_;
  SplitVerdict& verdict_;
  Accesses found_;
};

}  // namespace

std::uint64_t stored_bytes(llvm::Type* type, const llvm::DataLayout& layout) {
  return type->isSized() ? static_cast<std::uint64_t>(layout.getTypeStoreSize(type)) : 0;
}

Accesses read_accesses(const llvm::Function& kernel, SplitVerdict& verdict) {
  verdict.written.assign(kernel.arg_size(), false);
  verdict.exclusive.assign(kernel.arg_size(), false);
  return AccessReader(kernel.getParent()->getDataLayout(), verdict).read(kernel);
}

}  // namespace omen::loadbalance
