// SPDX-License-Identifier: Apache-2.0
// Holds the places that a kernel reads and writes against each other.
#include "opencl/splittable.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "llvm/guard.hpp"
#include "llvm/kernels.hpp"
#include "omen/error.hpp"
#include "opencl/findings.hpp"
#include "opencl/id_flow.hpp"
#include "opencl/inlined_kernels.hpp"
#include "opencl/lonely_guards.hpp"
#include "opencl/memory_accesses.hpp"
#include "opencl/places.hpp"
#include "opencl/row_proof.hpp"
#include "opencl/updates.hpp"

namespace omen::loadbalance {
namespace {

class Judge {
 public:
  explicit Judge(llvm::Function& kernel)
      : kernel_(kernel),
        ids_(kernel),
        tree_(kernel),
        loops_(tree_),
        library_(std::make_unique<llvm::TargetLibraryInfoImpl>()),
        library_info_(*library_),
        assumptions_(kernel),
        evolution_(kernel, library_info_, assumptions_, tree_, loops_),
        places_(evolution_, loops_, [this](const llvm::Value* value) { return ids_.of(value); }),
        rows_(evolution_, loops_, tree_, ids_) {}

  SplitVerdict run() {
    found_ = read_accesses(kernel_, verdict_);
    for (std::vector<Access>* accesses : {&found_.stores, &found_.loads})
      for (Access& access : *accesses) locate(access);
    for (const Access& store : found_.stores) judge_store(store);
    // Every load meets every store, so that repeated ones would cost the square of their number.
    found_.stores = without_repeats(found_.stores);
    for (const Access& load : without_repeats(found_.loads)) judge_load(load);
    if (verdict_.splittable() && !verdict_.dimensions)
      refuse(verdict_, "no dimension of the range tells all places that it writes apart", nullptr);
    return std::move(verdict_);
  }

 private:
  unsigned place_bits(const Access& access) const {
    return ids_.of(access.pointer) | (access.index ? ids_.of(access.index) : 0);
  }

  void judge_store(const Access& store) {
    if (!store.base)
      return refuse(verdict_, "it writes through a pointer whose buffer cannot be told", store.at);
    if (llvm::isa<llvm::GlobalVariable>(store.base))
      return refuse(verdict_,
                    "it writes the variable " + name_of(store.base) + ", which both devices have",
                    store.at);
    const unsigned where = place_bits(store);
    unsigned dimensions = where & kGroupBits;
    if (!dimensions) {
      dimensions = lonely_dimensions(store);
      if (!dimensions && is_flag(store)) dimensions = kGroupBits;
      if (!dimensions)
        return refuse(verdict_, "every work-group writes the same place of " + name_of(store.base),
                      store.at);
    } else if (where & kDataBit) {
      note(verdict_, "where it writes " + name_of(store.base) + " depends on data", store.at);
    } else if (where & kFoldedBit || keep_apart(store.place, store.place, true) == Apart::kNo) {
      note(verdict_, "work-groups may write the same place of " + name_of(store.base), store.at);
    }
    verdict_.dimensions &= dimensions;
  }

  // What is stored where that is the same for all items and at all times.
  static const llvm::Value* fixed_value(const Access& access) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(access.at);
    const llvm::Value* value = store ? store->getValueOperand() : nullptr;
    const bool is_fixed = value && llvm::isa<llvm::Constant, llvm::Argument>(value) &&
                          !llvm::isa<llvm::UndefValue>(value);
    return is_fixed ? value : nullptr;
  }

  // if (found) *flag = 1: whoever raises it, nothing else is ever written to this buffer, so that
  // what two devices write there is the same.
  bool is_flag(const Access& store) const {
    const llvm::Value* value = fixed_value(store);
    return value && std::all_of(found_.stores.begin(), found_.stores.end(), [&](const auto& other) {
             return other.base != store.base || fixed_value(other) == value;
           });
  }

  Guards guards(const Access& access) const { return lonely_guards(*access.at, tree_, ids_); }

  unsigned lonely_dimensions(const Access& access) const {
    unsigned dimensions = 0;
    for (const auto& [guard, held] : guards(access)) dimensions |= held;
    return dimensions;
  }

  const llvm::DataLayout& layout() const { return kernel_.getParent()->getDataLayout(); }

  // The type of an array and those of its indices that ids move, by position. Indices stay within
  // their dimension, or the kernel would be wrong anyway: where these differ, so do the places.
  using Element = std::pair<const llvm::Type*, std::map<unsigned, const llvm::SCEV*>>;

  Element element(const Access& access) {
    const auto* step = llvm::dyn_cast<llvm::GEPOperator>(access.pointer->stripPointerCasts());
    if (!step || access.index || step->getPointerOperand()->stripPointerCasts() != access.base ||
        access.bytes == 0 || access.bytes > stored_bytes(step->getResultElementType(), layout()))
      return {};
    Element found{step->getSourceElementType(), {}};
    for (unsigned i = 1; i < step->getNumOperands(); ++i)
      if (ids_.of(step->getOperand(i)) & kGroupBits)
        found.second[i] = evolution_.getSCEV(step->getOperand(i));
    return found;
  }

  // Whether two items can have the same one.
  Apart is_private(const Element& element, const llvm::Instruction& at) {
    Apart all = element.second.empty() ? Apart::kNo : Apart::kYes;
    for (const auto& [position, index] : element.second) {
      const Place place = places_.read(index, 1, at);
      all = std::min(all, keep_apart(place, place, true));
    }
    return all;
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
      const void* block = access.at->getParent();  // others may lie behind other conditions
      const auto* step = llvm::dyn_cast<llvm::GEPOperator>(access.pointer->stripPointerCasts());
      const void* type = step ? step->getSourceElementType() : nullptr;
      if (seen.emplace(access.base, access.address, type, block, access.bytes, access.waits).second)
        kept.push_back(access);
    }
    return kept;
  }

  Apart same_element(const Access& load, const Access& store) {
    const Element part = element(load);
    return load.base == store.base && part == element(store) ? is_private(part, *load.at)
                                                             : Apart::kNo;
  }

  // A load is safe where no store of another work-group can reach its place. Other parameters are
  // other memory: OpenCL hosts that pass one buffer twice are not seen from here.
  void judge_load(const Access& load) {
    std::vector<const Access*> writers;
    bool owned = false;
    for (const Access& store : found_.stores) {
      if (load.base && store.base && load.base != store.base) continue;
      writers.push_back(&store);
      owned |= load.base == store.base && load.address == store.address;
    }
    if (writers.empty()) return;
    const std::string name = load.base ? name_of(load.base) : "memory that cannot be told";
    if (load.waits)
      return refuse(verdict_, "it watches " + name + ", which other work-groups write", load.at);
    for (const Access* store : writers) {
      if (load.base && store->base && are_apart(load, *store, owned)) continue;
      const std::string line = line_of(store->at);
      return refuse(verdict_,
                    "it reads " + name + " where another work-group may write it" +
                        (line.empty() || line == line_of(load.at) ? "" : " in " + line),
                    load.at);
    }
  }

  bool are_apart(const Access& load, const Access& store, bool owned) {
    const Apart by_steps = keep_apart(load.place, store.place, owned),
                by_element = by_steps == Apart::kYes ? by_steps : same_element(load, store);
    if (by_steps == Apart::kYes || by_element == Apart::kYes || by_one_item(load, store) ||
        apart_by_guard(load, store) || apart_by_guard(store, load))
      return true;
    const RowProof proof = rows_.apart(load, store);
    const unsigned wanted = (place_bits(store) | verdict_.dimensions) & kGroupBits;
    if (wanted != 0 && (proof.dimensions & wanted) == wanted) {
      for (const LaunchCondition& condition : proof.conditions) demand(verdict_, condition);
      return true;
    }
    if (proof.leaves_row || (by_steps == Apart::kNo && by_element == Apart::kNo)) return false;
    if (!shows_at_merge(load)) return false;
    // Nobody knows how far the rows reach: whoever merges the parts will see it.
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(load.base))
      verdict_.exclusive[argument->getArgNo()] = true;
    return true;
  }

  // Whether all loads of this place only feed what is stored there: a device that read what the
  // other one had to change first has then changed the place itself, or added nothing to it.
  bool shows_at_merge(const Access& place) const {
    return std::all_of(found_.loads.begin(), found_.loads.end(), [&](const Access& load) {
      return load.base != place.base || load.address != place.address ||
             std::any_of(found_.stores.begin(), found_.stores.end(), [&](const Access& store) {
               return store.base == load.base && store.address == load.address &&
                      is_update(*load.at, *store.at);
             });
    });
  }

  // if (id == 0) a[0] = 1; else a[id] += 1: what a guarded access touches is the place that the
  // other one has for this id, and it keeps clear of those for all other ids.
  bool apart_by_guard(const Access& moving, const Access& guarded) {
    const Place &a = moving.place, &b = guarded.place;
    if (!a.clear || !b.clear || a.endless || b.endless) return false;
    for (const auto& [condition, dimensions] : guards(guarded)) {
      const auto* compare = llvm::cast<llvm::ICmpInst>(condition);
      llvm::Value *side = compare->getOperand(0), *value = compare->getOperand(1);
      if (!ids_.of(side)) std::swap(side, value);
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
    const Guards readers = guards(load), writers = guards(store);
    return std::any_of(readers.begin(), readers.end(),
                       [&](const auto& guard) { return writers.count(guard.first) > 0; });
  }

  llvm::Function& kernel_;
  IdFlow ids_;
  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
  std::unique_ptr<llvm::TargetLibraryInfoImpl> library_;
  llvm::TargetLibraryInfo library_info_;
  llvm::AssumptionCache assumptions_;
  llvm::ScalarEvolution evolution_;
  PlaceReader places_;
  RowProver rows_;
  Accesses found_;
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
      inline_kernels(module, wanted);
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
