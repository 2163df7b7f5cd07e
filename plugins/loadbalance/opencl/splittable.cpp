// SPDX-License-Identifier: Apache-2.0
// Follows work-item ids through the IR of a kernel to the addresses of its memory accesses.
#include "opencl/splittable.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "graph/features.hpp"
#include "llvm/guard.hpp"
#include "llvm/kernels.hpp"
#include "omen/error.hpp"
#include "opencl/places.hpp"

namespace omen::loadbalance {
namespace {

constexpr unsigned kGlobalSpace = 1, kLocalSpace = 3;  // of the SPIR targets

bool is_mangled(llvm::StringRef name) {
  return name.startswith("_Z");
}

// Everything that a kernel calls is made part of it, so that addresses can be followed.
void mark_for_inlining(llvm::Module& module, const std::string& wanted) {
  llvm::SmallPtrSet<const llvm::Function*, 8> judged;
  for (const llvm::Function* kernel : kernels_of(module))
    if (wanted.empty() || kernel->getName() == wanted) judged.insert(kernel);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    if (!judged.count(&function)) function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

// Ids and sizes are the same whenever they are asked for, so that loops can do without asking.
void mark_ids(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (!function.isDeclaration() || !is_mangled(name) ||
        !llvm::StringRef(unmangled(name)).startswith("get_"))
      continue;
    function.setDoesNotAccessMemory();
    function.setDoesNotThrow();
    function.addFnAttr(llvm::Attribute::WillReturn);
    function.removeFnAttr(llvm::Attribute::Convergent);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
        call->removeFnAttr(llvm::Attribute::Convergent);
  }
}

// What Clang does at -O1 with each function, once all calls are gone.
void simplify(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(nullptr, tuning);
  functions.registerPass([&] { return builder.buildDefaultAAPipeline(); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(builder.buildFunctionSimplificationPipeline(
          llvm::OptimizationLevel::O1, llvm::ThinOrFullLTOPhase::None)));
  passes.run(module, modules);
}

// One read or write of global memory.
struct Access {
  const llvm::Instruction* at = nullptr;
  const llvm::Value* pointer = nullptr;
  const llvm::Value* index = nullptr;  // a further one, of vload and vstore
  const llvm::Value* base = nullptr;   // the parameter; null: unknown
  std::uint64_t bytes = 0;             // 0: unknown
  bool waits = false;                  // volatile: it looks for what others write
  const llvm::SCEV* address = nullptr;
  Place place = {};
};

class Judge {
 public:
  explicit Judge(llvm::Function& kernel)
      : kernel_(kernel),
        tree_(kernel),
        loops_(tree_),
        library_(std::make_unique<llvm::TargetLibraryInfoImpl>()),
        library_info_(*library_),
        assumptions_(kernel),
        evolution_(kernel, library_info_, assumptions_, tree_, loops_),
        places_(evolution_, loops_, [this](const llvm::Value* value) { return bits(value); }) {}

  SplitVerdict run() {
    verdict_.written.assign(kernel_.arg_size(), false);
    follow_ids();
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) look_at(instruction);
    for (std::vector<Access>* accesses : {&stores_, &loads_})
      for (Access& access : *accesses) locate(access);
    for (const Access& store : stores_) judge_store(store);
    // Every load meets every store, so that repeated ones would cost the square of their number.
    stores_ = without_repeats(stores_);
    for (const Access& load : without_repeats(loads_)) judge_load(load);
    if (verdict_.splittable() && !verdict_.dimensions)
      refuse("no dimension of the range tells all places that it writes apart", nullptr);
    return std::move(verdict_);
  }

 private:
  // --- what values depend on ---

  unsigned bits(const llvm::Value* value) const {
    const auto at = bits_.find(value);
    return at == bits_.end() ? 0 : at->second;
  }

  void follow_ids() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const llvm::Instruction& instruction : llvm::instructions(kernel_)) {
        const unsigned now = bits_of(instruction);
        unsigned& known = bits_[&instruction];
        changed |= (now | known) != known;
        known |= now;
        if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
          changed |= remember(store->getPointerOperand(), bits(store->getValueOperand()));
      }
    }
  }

  // What a private or local object holds depends on all that is stored into it.
  bool remember(const llvm::Value* pointer, unsigned stored) {
    unsigned& known = contents_[llvm::getUnderlyingObject(pointer, 0)];
    const bool changed = (known | stored) != known;
    known |= stored;
    return changed;
  }

  unsigned bits_of(const llvm::Instruction& instruction) const {
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return bits_of_call(*call);
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      const llvm::Value* object = llvm::getUnderlyingObject(load->getPointerOperand(), 0);
      const auto held = contents_.find(object);
      const unsigned place = bits(load->getPointerOperand());
      const bool own =
          llvm::isa<llvm::AllocaInst>(object) || load->getPointerAddressSpace() == kLocalSpace;
      return (held == contents_.end() ? 0 : held->second) | place | (place && !own ? kDataBit : 0);
    }
    unsigned joined = 0;
    for (const llvm::Value* operand : instruction.operand_values()) joined |= bits(operand);
    return joined & kGroupBits && folds(instruction) ? joined | kFoldedBit : joined;
  }

  // A cut to 32 bits tells the ids of every real range apart.
  static bool is_cut(const llvm::Instruction& instruction) {
    const auto* mask = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
    return mask && mask->getValue().isMask() && mask->getValue().countTrailingOnes() >= 31;
  }

  static bool folds(const llvm::Instruction& instruction) {
    switch (instruction.getOpcode()) {
      case llvm::Instruction::And:
        return !is_cut(instruction);
      case llvm::Instruction::URem:
      case llvm::Instruction::SRem:
      case llvm::Instruction::UDiv:
      case llvm::Instruction::SDiv:
      case llvm::Instruction::Xor:
      case llvm::Instruction::LShr:
      case llvm::Instruction::AShr:
      case llvm::Instruction::Select:
      case llvm::Instruction::FPToSI:
      case llvm::Instruction::FPToUI:
        return true;
      default:
        return false;
    }
  }

  unsigned bits_of_call(const llvm::CallBase& call) const {
    const llvm::Function* callee = call.getCalledFunction();
    const llvm::StringRef name = callee ? unmangled(callee->getName()) : "";
    if (name == "get_global_linear_id") return kGroupBits;
    if (name == "get_local_id" || name == "get_local_linear_id") return kLocalBit;
    if (name == "get_global_id" || name == "get_group_id") {
      const auto* dimension = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
      if (!dimension) return kGroupBits;
      return dimension->getZExtValue() < 3 ? 1U << dimension->getZExtValue() : 0;
    }
    unsigned joined = 0;
    for (const llvm::Value* argument : call.args()) {
      joined |= bits(argument);
      if (argument->getType()->isPointerTy()) {
        const auto held = contents_.find(llvm::getUnderlyingObject(argument, 0));
        if (held != contents_.end()) joined |= held->second;
      }
    }
    return joined & kGroupBits && !call.getType()->isVoidTy() ? joined | kFoldedBit : joined;
  }

  // --- accesses ---

  // "line 7", or nothing where it is not known.
  static std::string line_of(const llvm::Instruction* at) {
    const llvm::DebugLoc& line = at ? at->getDebugLoc() : llvm::DebugLoc();
    return line && line.getLine() ? "line " + std::to_string(line.getLine()) : "";
  }
  static std::string with_line(const std::string& text, const llvm::Instruction* at) {
    const std::string line = line_of(at);
    return line.empty() ? text : text + " (" + line + ")";
  }
  void refuse(const std::string& reason, const llvm::Instruction* at) {
    add_once(verdict_.reasons, with_line(reason, at));
  }
  void note(const std::string& text, const llvm::Instruction* at) {
    add_once(verdict_.notes, with_line(text, at));
  }
  // Nobody reads more of them, and a large kernel could give one for each line.
  static constexpr std::size_t kMostReasons = 20;
  static void add_once(std::vector<std::string>& list, std::string text) {
    if (list.size() == kMostReasons) return;
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  }
  static std::string name_of(const llvm::Value* base) {
    return "'" + (base->hasName() ? base->getName().str() : std::string("?")) + "'";
  }

  // The objects that a pointer may point into; private and local memory and constants are left out.
  std::vector<const llvm::Value*> shared_objects(const llvm::Value* pointer) const {
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

  std::uint64_t size_of(llvm::Type* type) const {
    return type->isSized() ? kernel_.getParent()->getDataLayout().getTypeStoreSize(type) : 0;
  }

  void add_store(const llvm::Instruction& at, const llvm::Value* pointer, std::uint64_t bytes,
                 const llvm::Value* index = nullptr) {
    for (const llvm::Value* base : shared_objects(pointer)) {
      stores_.push_back({&at, pointer, index, base, bytes});
      if (const auto* argument = llvm::dyn_cast_or_null<llvm::Argument>(base))
        verdict_.written[argument->getArgNo()] = true;
    }
  }
  void add_load(const llvm::Instruction& at, const llvm::Value* pointer, std::uint64_t bytes,
                const llvm::Value* index = nullptr, bool waits = false) {
    for (const llvm::Value* base : shared_objects(pointer))
      loads_.push_back({&at, pointer, index, base, bytes, waits});
  }

  void look_at(const llvm::Instruction& instruction) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      add_store(instruction, store->getPointerOperand(),
                size_of(store->getValueOperand()->getType()));
    else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      add_load(instruction, load->getPointerOperand(), size_of(load->getType()), nullptr,
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
      refuse(what + " on " + (base ? name_of(base) : std::string("memory that cannot be told")) +
                 " reaches across work-groups",
             &at);
      if (const auto* argument = llvm::dyn_cast_or_null<llvm::Argument>(base))
        verdict_.written[argument->getArgNo()] = true;
    }
  }

  void look_at_call(const llvm::CallBase& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee) return refuse("it calls a function through a pointer", &call);
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
      return refuse("it calls itself through '" + name.str() + "'", &call);
    look_at_builtin(call, name);
  }

  void look_at_builtin(const llvm::CallBase& call, llvm::StringRef name) {
    if (name.startswith("atomic_") && !name.startswith("atomic_work_item_fence") &&
        call.arg_size() && call.getArgOperand(0)->getType()->isPointerTy())
      return look_at_atomic(call, call.getArgOperand(0), name.str());
    if (name.startswith("atom_")) return look_at_atomic(call, call.getArgOperand(0), name.str());
    if (name.startswith("write_image"))
      return refuse("it writes an image, and images are not merged", &call);
    if (name.contains("enqueue_kernel") || name.contains("_pipe") || name == "enqueue_marker")
      return refuse("'" + name.str() + "' starts or feeds other kernels", &call);
    if (name == "printf") return note("the order of what it prints may change", &call);
    if (!is_mangled(call.getCalledFunction()->getName()))
      return refuse("function '" + name.str() + "' has no body", &call);
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
        add_store(call, argument, size_of(argument->getType()->getPointerElementType()));
  }

  // Bytes in memory of what vload and vstore move; vload_half converts on the way.
  std::uint64_t vector_size(const llvm::Type* moved, const llvm::Value* pointer) const {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(moved);
    return (vector ? vector->getNumElements() : 1) *
           size_of(pointer->getType()->getPointerElementType());
  }

  // --- judgement ---

  unsigned place_bits(const Access& access) const {
    return bits(access.pointer) | (access.index ? bits(access.index) : 0);
  }

  void judge_store(const Access& store) {
    if (!store.base)
      return refuse("it writes through a pointer whose buffer cannot be told", store.at);
    if (llvm::isa<llvm::GlobalVariable>(store.base))
      return refuse("it writes the variable " + name_of(store.base) + ", which both devices have",
                    store.at);
    const unsigned where = place_bits(store);
    unsigned dimensions = where & kGroupBits;
    if (!dimensions) {
      dimensions = lonely_dimensions(*store.at);
      if (!dimensions)
        return refuse("every work-group writes the same place of " + name_of(store.base), store.at);
    } else if (where & kDataBit) {
      note("where it writes " + name_of(store.base) + " depends on data", store.at);
    } else if (where & kFoldedBit || !keep_apart(store.place, store.place, true)) {
      note("work-groups may write the same place of " + name_of(store.base), store.at);
    }
    verdict_.dimensions &= dimensions;
  }

  // Comparisons that hold where an instruction runs, with the dimensions d in which they let only
  // one value of the id pass.
  using Guards = std::map<const llvm::Value*, unsigned>;

  Guards lonely_guards(const llvm::Instruction& at) const {
    Guards found;
    const llvm::BasicBlock* block = at.getParent();
    const llvm::DomTreeNode* own = tree_.getNode(block);  // null: no path leads there
    for (const llvm::DomTreeNode* node = own ? own->getIDom() : nullptr; node;
         node = node->getIDom()) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(node->getBlock()->getTerminator());
      if (!branch || !branch->isConditional()) continue;
      add_guards(
          branch->getCondition(),
          tree_.dominates(llvm::BasicBlockEdge(node->getBlock(), branch->getSuccessor(0)), block),
          tree_.dominates(llvm::BasicBlockEdge(node->getBlock(), branch->getSuccessor(1)), block),
          found);
    }
    return found;
  }

  unsigned lonely_dimensions(const llvm::Instruction& at) const {
    unsigned dimensions = 0;
    for (const auto& [guard, held] : lonely_guards(at)) dimensions |= held;
    return dimensions;
  }

  void add_guards(const llvm::Value* condition, bool on_true, bool on_false, Guards& found) const {
    if (const auto* both = llvm::dyn_cast<llvm::BinaryOperator>(condition);
        both && both->getOpcode() == llvm::Instruction::And && on_true) {
      add_guards(both->getOperand(0), true, false, found);
      add_guards(both->getOperand(1), true, false, found);
    } else if (const auto* chosen = llvm::dyn_cast<llvm::SelectInst>(condition)) {
      const auto* otherwise = llvm::dyn_cast<llvm::Constant>(chosen->getFalseValue());
      if (!on_true || !otherwise || !otherwise->isNullValue()) return;
      add_guards(chosen->getCondition(), true, false, found);
      add_guards(chosen->getTrueValue(), true, false, found);
    } else if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition)) {
      const bool equal = (on_true && compare->getPredicate() == llvm::CmpInst::ICMP_EQ) ||
                         (on_false && compare->getPredicate() == llvm::CmpInst::ICMP_NE);
      const unsigned a = bits(compare->getOperand(0)), b = bits(compare->getOperand(1));
      // One side is an id, the other the same for everyone.
      if (!equal || (a && b) || ((a | b) & (kFoldedBit | kDataBit)) || !((a | b) & kGroupBits))
        return;
      found[condition] = (a | b) & kGroupBits;
    }
  }

  // The type of an array and those of its indices that ids move, by position. Indices stay within
  // their dimension, or the kernel would be wrong anyway: where these differ, so do the places.
  using Element = std::pair<const llvm::Type*, std::map<unsigned, const llvm::SCEV*>>;

  Element element(const Access& access) {
    const auto* step = llvm::dyn_cast<llvm::GEPOperator>(access.pointer->stripPointerCasts());
    if (!step || access.index || step->getPointerOperand()->stripPointerCasts() != access.base ||
        access.bytes == 0 || access.bytes > size_of(step->getResultElementType()))
      return {};
    Element found{step->getSourceElementType(), {}};
    for (unsigned i = 1; i < step->getNumOperands(); ++i)
      if (bits(step->getOperand(i)) & kGroupBits)
        found.second[i] = evolution_.getSCEV(step->getOperand(i));
    return found;
  }

  // Whether no two items have the same one.
  bool is_private(const Element& element, const llvm::Instruction& at) {
    return !element.second.empty() &&
           std::all_of(element.second.begin(), element.second.end(), [&](const auto& index) {
             const Place place = places_.read(index.second, 1, at);
             return keep_apart(place, place, true);
           });
  }

  const llvm::SCEV* address_of(const Access& access) {
    const llvm::SCEV* address = evolution_.getSCEV(const_cast<llvm::Value*>(access.pointer));
    if (!access.index) return address;
    // vload and vstore count in vectors.
    llvm::Type* width = evolution_.getEffectiveSCEVType(address->getType());
    const llvm::SCEV* index = evolution_.getTruncateOrSignExtend(
        evolution_.getSCEV(const_cast<llvm::Value*>(access.index)), width);
    return evolution_.getAddExpr(
        address, evolution_.getMulExpr(index, evolution_.getConstant(width, access.bytes)));
  }

  void locate(Access& access) {
    access.address = address_of(access);
    access.place = places_.read(access.address, access.bytes, *access.at);
  }

  std::vector<Access> without_repeats(const std::vector<Access>& all) {
    using Key = std::tuple<const void*, const void*, const void*, const void*, std::uint64_t, bool>;
    std::set<Key> seen;
    std::vector<Access> kept;
    for (const Access& access : all) {
      // Where all items have one place, it matters under which condition they reach it.
      const void* block = access.place.ids.empty() ? access.at->getParent() : nullptr;
      const auto* step = llvm::dyn_cast<llvm::GEPOperator>(access.pointer->stripPointerCasts());
      const void* type = step ? step->getSourceElementType() : nullptr;
      if (seen.emplace(access.base, access.address, type, block, access.bytes, access.waits).second)
        kept.push_back(access);
    }
    return kept;
  }

  bool same_element(const Access& load, const Access& store) {
    const Element part = element(load);
    return load.base == store.base && part == element(store) && is_private(part, *load.at);
  }

  // A load is safe where no store of another work-group can reach its place. Other parameters are
  // other memory: OpenCL hosts that pass one buffer twice are not seen from here.
  void judge_load(const Access& load) {
    std::vector<const Access*> writers;
    bool owned = false;
    for (const Access& store : stores_) {
      if (load.base && store.base && load.base != store.base) continue;
      writers.push_back(&store);
      owned |= load.base == store.base && load.address == store.address;
    }
    if (writers.empty()) return;
    const std::string name = load.base ? name_of(load.base) : "memory that cannot be told";
    if (load.waits)
      return refuse("it watches " + name + ", which other work-groups write", load.at);
    for (const Access* store : writers) {
      if (load.base && store->base &&
          (keep_apart(load.place, store->place, owned) || same_element(load, *store) ||
           by_one_item(load, *store) || apart_by_guard(load, *store) ||
           apart_by_guard(*store, load)))
        continue;
      const std::string line = line_of(store->at);
      return refuse("it reads " + name + " where another work-group may write it" +
                        (line.empty() || line == line_of(load.at) ? "" : " in " + line),
                    load.at);
    }
  }

  // if (id == 0) a[0] = 1; else a[id] += 1: what a guarded access touches is the place that the
  // other one has for this id, and it keeps clear of those for all other ids.
  bool apart_by_guard(const Access& moving, const Access& guarded) {
    const Place &a = moving.place, &b = guarded.place;
    if (!a.clear || !b.clear || a.endless || b.endless) return false;
    for (const auto& [condition, dimensions] : lonely_guards(*guarded.at)) {
      const auto* compare = llvm::cast<llvm::ICmpInst>(condition);
      llvm::Value *side = compare->getOperand(0), *value = compare->getOperand(1);
      if (!bits(side)) std::swap(side, value);
      const Place id = places_.read(evolution_.getSCEV(side), 1, *guarded.at);
      if (id.ids.size() != 1 || id.terms.size() != 1 || id.offset != 0 || id.pitch != 1) continue;
      const llvm::SCEV* which = *id.ids.begin();
      const auto step = a.terms.find(which);
      if (step == a.terms.end()) continue;
      const Place there = places_.at_id(a, which, evolution_.getSCEV(value));
      if (there.clear && there.terms == b.terms && span_of(there, b) <= std::abs(step->second))
        return true;
    }
    return false;
  }

  // if (id == 0) *p += 1: whoever reads the place is whoever writes it.
  bool by_one_item(const Access& load, const Access& store) const {
    const Guards readers = lonely_guards(*load.at), writers = lonely_guards(*store.at);
    return std::any_of(readers.begin(), readers.end(),
                       [&](const auto& guard) { return writers.count(guard.first) > 0; });
  }

  llvm::Function& kernel_;
  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
  std::unique_ptr<llvm::TargetLibraryInfoImpl> library_;
  llvm::TargetLibraryInfo library_info_;
  llvm::AssumptionCache assumptions_;
  llvm::ScalarEvolution evolution_;
  PlaceReader places_;
  std::map<const llvm::Value*, unsigned> bits_, contents_;
  std::vector<Access> stores_, loads_;
  SplitVerdict verdict_;
};

// Kernels by name; only `wanted` where it is not empty.
std::map<std::string, SplitVerdict> judge(IrModule spir, const std::string& path,
                                          const std::string& wanted) {
  auto owned = std::make_unique<IrModule>(std::move(spir));
  std::map<std::string, SplitVerdict> verdicts;
  try {
    run_guarded("LLVM", path, [&] {
      llvm::Module& module = owned->get();
      mark_for_inlining(module, wanted);
      mark_ids(module);
      simplify(module);
      for (const llvm::Function* kernel : kernels_of(module))
        if (const std::string name = kernel->getName().str(); wanted.empty() || name == wanted)
          verdicts[name] = Judge(*module.getFunction(name)).run();
    });
  } catch (...) {
    // What a crash leaves of a module cannot be taken apart.
    static_cast<void>(owned.release());
    throw;
  }
  return verdicts;
}

}  // namespace

std::string SplitVerdict::reason() const {
  std::string text;
  for (const std::string& one : reasons) text += (text.empty() ? "" : "; ") + one;
  return text;
}

SplitVerdict judge_split(const std::string& source, const std::string& path,
                         const CompileOptions& options, const std::string& kernel) {
  std::map<std::string, SplitVerdict> verdicts =
      judge(compile_for_spir(source, path, options), path, kernel);
  const auto found = verdicts.find(kernel);
  if (found == verdicts.end())
    throw Error(OMEN_INVALID_ARGUMENT, "there is no kernel '" + kernel + "' in " + path,
                "choose another one with --kernel");
  return std::move(found->second);
}

std::map<std::string, SplitVerdict> judge_kernels(IrModule spir, const std::string& path) {
  return judge(std::move(spir), path, "");
}

}  // namespace omen::loadbalance
