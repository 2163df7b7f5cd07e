// SPDX-License-Identifier: Apache-2.0
// Counts operations and accesses in unoptimised IR with address spaces, where every variable of
// the source still is a piece of memory.
#include "llvm/grewe_counts.hpp"

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <unordered_map>

#include "graph/features.hpp"
#include "llvm/guard.hpp"
#include "llvm/kernels.hpp"

namespace omen::loadbalance {
namespace {

// Numbers of address spaces in SPIR.
enum : unsigned { kGlobal = 1, kLocal = 3 };

const llvm::Value* without_casts(const llvm::Value* value) {
  while (const auto* cast = llvm::dyn_cast<llvm::Operator>(value)) {
    switch (cast->getOpcode()) {
      case llvm::Instruction::BitCast:
      case llvm::Instruction::AddrSpaceCast:
      case llvm::Instruction::SExt:
      case llvm::Instruction::ZExt:
      case llvm::Instruction::Trunc:
        value = cast->getOperand(0);
        continue;
      default:
        return value;
    }
  }
  return value;
}

// The variable of the source that a value was read from, or null.
const llvm::AllocaInst* variable_of(const llvm::Value* value) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(without_casts(value));
  return load ? llvm::dyn_cast<llvm::AllocaInst>(load->getPointerOperand()) : nullptr;
}

bool holds_parameter(const llvm::AllocaInst* variable) {
  if (!variable) return false;
  for (const llvm::User* user : variable->users())
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
      if (store->getPointerOperand() == variable &&
          llvm::isa<llvm::Argument>(store->getValueOperand()))
        return true;
  return false;
}

const llvm::GEPOperator* element_of_pointer(const llvm::Value* pointer) {
  return llvm::dyn_cast<llvm::GEPOperator>(without_casts(pointer));
}

// The innermost index of a[i][j].k, which is j; null where there is none, as in p->k.
const llvm::Value* last_index(const llvm::Value* pointer) {
  for (const llvm::GEPOperator* element = element_of_pointer(pointer); element;
       element = element_of_pointer(element->getPointerOperand())) {
    const llvm::Value* index = nullptr;
    bool field = false;
    for (auto at = llvm::gep_type_begin(element); at != llvm::gep_type_end(element); ++at) {
      field = at.isStruct();
      if (!field) index = at.getOperand();
    }
    if (index && !field) return index;
  }
  return nullptr;
}

// A variable, a constant, or a variable plus or minus a constant.
bool is_simple(const llvm::Value* index) {
  index = without_casts(index);
  if (llvm::isa<llvm::Constant>(index) || variable_of(index)) return true;
  const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(index);
  if (!sum ||
      (sum->getOpcode() != llvm::Instruction::Add && sum->getOpcode() != llvm::Instruction::Sub))
    return false;
  const llvm::Value *left = without_casts(sum->getOperand(0)),
                    *right = without_casts(sum->getOperand(1));
  return (variable_of(left) && llvm::isa<llvm::Constant>(right)) ||
         (variable_of(right) && llvm::isa<llvm::Constant>(left));
}

// True for i++ and its relatives, which the published counts leave out.
bool is_step(const llvm::BinaryOperator& operation) {
  const auto* by = llvm::dyn_cast<llvm::ConstantInt>(operation.getOperand(1));
  const llvm::AllocaInst* variable = variable_of(operation.getOperand(0));
  if (!by || !variable || !(by->isOne() || by->isMinusOne())) return false;
  for (const llvm::User* user : operation.users())
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
      if (store->getPointerOperand() == variable) return true;
  return false;
}

// Inner steps of a[i][j] are indexed further; only the last one is an access.
bool is_indexed_further(const llvm::Value& pointer) {
  for (const llvm::User* user : pointer.users()) {
    if (llvm::isa<llvm::GetElementPtrInst>(user)) return true;
    if (llvm::isa<llvm::BitCastInst>(user) && is_indexed_further(*user)) return true;
  }
  return false;
}

class Counter {
 public:
  explicit Counter(GreweCounts& counts) : counts_(counts) {}

  void add(const llvm::Instruction& instruction) {
    if (llvm::isa<llvm::GetElementPtrInst>(instruction)) {
      if (!is_indexed_further(instruction)) access(&instruction);
    } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      add_load(*load);
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      use(store->getPointerOperand());
    } else if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) {
      ++counts_.atomic;
    } else if (llvm::isa<llvm::CmpInst>(instruction)) {
      ++counts_.rational;
    } else if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
      counts_.comp += !is_step(*operation);
    } else if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      add_call(*call);
    }
  }

 private:
  void access(const llvm::Value* pointer) {
    const unsigned space = pointer->getType()->getPointerAddressSpace();
    if (space == kLocal) access_local();
    if (space != kGlobal) return;
    const llvm::Value* index = last_index(pointer);
    counts_.coalesced += index && is_simple(index);
  }
  void access_local() {
    ++counts_.localmem;
    ++counts_.mem;
  }
  // local[0] has a constant as address; for other elements their own instruction was counted.
  void use(const llvm::Value* pointer) {
    if (pointer->getType()->getPointerAddressSpace() == kLocal &&
        llvm::isa<llvm::Constant>(without_casts(pointer)))
      access_local();
  }
  void add_load(const llvm::LoadInst& load) {
    use(load.getPointerOperand());
    const auto* type = llvm::dyn_cast<llvm::PointerType>(load.getType());
    if (type && type->getAddressSpace() == kGlobal)
      counts_.mem += is_parameter(llvm::dyn_cast<llvm::AllocaInst>(load.getPointerOperand()));
  }
  // Asked for every use of a variable, so that looking through all uses each time would not end.
  bool is_parameter(const llvm::AllocaInst* variable) {
    const auto [at, fresh] = parameters_.try_emplace(variable, false);
    if (fresh) at->second = holds_parameter(variable);
    return at->second;
  }
  void add_call(const llvm::CallInst& call) {
    if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
      // One instruction for a product and a sum of the source.
      if (intrinsic->getIntrinsicID() == llvm::Intrinsic::fmuladd) counts_.comp += 2;
      return;
    }
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee || !callee->isDeclaration()) return;
    const llvm::StringRef name = unmangled(callee->getName());
    if (name.startswith("atomic_") || name.startswith("atom_"))
      ++counts_.atomic;
    else if (!name.startswith("get_") && !name.startswith("convert_") &&
             !name.startswith("vload") && !name.startswith("vstore") && name != "barrier" &&
             !name.endswith("fence"))
      ++counts_.comp;
  }

  GreweCounts& counts_;
  std::unordered_map<const llvm::AllocaInst*, bool> parameters_;
};

}  // namespace

std::vector<GreweCounts> count_grewe(const IrModule& spir, const std::string& path) {
  std::vector<GreweCounts> list;
  run_guarded("LLVM", path, [&] {
    for (const llvm::Function* kernel : kernels_of(spir.get())) {
      GreweCounts& counts = list.emplace_back();
      counts.kernel = kernel->getName().str();
      Counter counter(counts);
      for (const llvm::Function* function : with_callees(*kernel))
        for (const llvm::Instruction& instruction : llvm::instructions(*function))
          counter.add(instruction);
    }
  });
  return list;
}

std::vector<GreweCounts> count_grewe(const std::string& source, const std::string& path,
                                     const CompileOptions& options) {
  return count_grewe(compile_for_spir(source, path, options), path);
}

}  // namespace omen::loadbalance
