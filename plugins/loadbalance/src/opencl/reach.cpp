// SPDX-License-Identifier: Apache-2.0
// Turns addresses, as LLVM's scalar evolution writes them, into bounds.
#include "opencl/reach.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <set>
#include <tuple>

#include "llvm/guard.hpp"
#include "opencl/inlined_kernels.hpp"
#include "opencl/memory_accesses.hpp"
#include "opencl/work_item_calls.hpp"

namespace omen::loadbalance {
namespace {

constexpr int kMostNodes = 200;  // of one bound; LLVM shares parts of expressions, a text does not

using MaybeBound = std::optional<Bound>;

class ReachReader {
 public:
  explicit ReachReader(llvm::Function& kernel)
      : kernel_(kernel),
        tree_(kernel),
        loops_(tree_),
        library_(std::make_unique<llvm::TargetLibraryInfoImpl>()),
        library_info_(*library_),
        assumptions_(kernel),
        evolution_(kernel, library_info_, assumptions_, tree_, loops_) {}

  std::vector<std::vector<Bound>> read() {
    std::vector<std::vector<Bound>> reach(kernel_.arg_size());
    SplitVerdict unused;
    const Accesses found = read_accesses(kernel_, unused);
    for (const std::vector<Access>* accesses : {&found.stores, &found.loads})
      for (const Access& access : *accesses)
        if (const auto* base = llvm::dyn_cast_or_null<llvm::Argument>(access.base))
          if (MaybeBound end = end_of(access, *base))
            reach[base->getArgNo()].push_back(*std::move(end));
    return reach;
  }

 private:
  static Bound number(std::int64_t value) { return {BoundKind::kConstant, value}; }

  // The first byte behind the access.
  MaybeBound end_of(const Access& access, const llvm::Argument& base) {
    if (access.bytes == 0) return std::nullopt;
    const llvm::SCEV* offset =
        evolution_.getMinusSCEV(evolution_.getSCEV(const_cast<llvm::Value*>(access.pointer)),
                                evolution_.getSCEV(const_cast<llvm::Argument*>(&base)));
    MaybeBound start = bound_of(offset);
    if (!start) return std::nullopt;
    const auto bytes = static_cast<std::int64_t>(access.bytes);
    Bound end{BoundKind::kSum, 0, {*std::move(start), number(bytes)}};
    if (access.index) {
      MaybeBound index = bound_of(evolution_.getSCEV(const_cast<llvm::Value*>(access.index)));
      if (!index) return std::nullopt;
      end.parts.push_back({BoundKind::kProduct, 0, {*std::move(index), number(bytes)}});
    }
    return end;
  }

  MaybeBound bound_of(const llvm::SCEV* expression) {
    if (++nodes_ > kMostNodes) return std::nullopt;
    switch (expression->getSCEVType()) {
      case llvm::scConstant:
        return number(llvm::cast<llvm::SCEVConstant>(expression)->getAPInt().getSExtValue());
      case llvm::scTruncate:
      case llvm::scZeroExtend:
      case llvm::scSignExtend:
        return bound_of(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand());
      case llvm::scAddExpr:
        return of_operands(BoundKind::kSum, expression);
      case llvm::scMulExpr:
        return of_operands(BoundKind::kProduct, expression);
      case llvm::scUMaxExpr:
      case llvm::scSMaxExpr:
        return of_operands(BoundKind::kLargest, expression);
      case llvm::scUMinExpr:
      case llvm::scSMinExpr:
        return of_operands(BoundKind::kSmallest, expression);
      case llvm::scUDivExpr: {
        const auto* division = llvm::cast<llvm::SCEVUDivExpr>(expression);
        return of_list(BoundKind::kQuotient, {division->getLHS(), division->getRHS()});
      }
      case llvm::scAddRecExpr:
        return of_recurrence(*llvm::cast<llvm::SCEVAddRecExpr>(expression));
      case llvm::scUnknown:
        return of_value(*llvm::cast<llvm::SCEVUnknown>(expression)->getValue());
      default:
        return std::nullopt;
    }
  }

  MaybeBound of_operands(BoundKind kind, const llvm::SCEV* expression) {
    const auto operands = llvm::cast<llvm::SCEVNAryExpr>(expression)->operands();
    return of_list(kind, {operands.begin(), operands.end()});
  }

  MaybeBound of_list(BoundKind kind, const std::vector<const llvm::SCEV*>& list) {
    Bound all{kind, 0, {}};
    for (const llvm::SCEV* one : list) {
      MaybeBound part = bound_of(one);
      if (!part) return std::nullopt;
      all.parts.push_back(*std::move(part));
    }
    return all;
  }

  // Where a loop begins, and its step as often as it goes round.
  MaybeBound of_recurrence(const llvm::SCEVAddRecExpr& recurrence) {
    const llvm::SCEV* rounds = evolution_.getBackedgeTakenCount(recurrence.getLoop());
    if (!recurrence.isAffine() || llvm::isa<llvm::SCEVCouldNotCompute>(rounds)) return std::nullopt;
    MaybeBound start = bound_of(recurrence.getStart()),
               step = bound_of(recurrence.getStepRecurrence(evolution_)), most = bound_of(rounds);
    if (!start || !step || !most) return std::nullopt;
    Bound turns{BoundKind::kUpTo, 0, {*std::move(most)}};
    Bound way{BoundKind::kProduct, 0, {*std::move(step), std::move(turns)}};
    return Bound{BoundKind::kSum, 0, {*std::move(start), std::move(way)}};
  }

  MaybeBound of_value(const llvm::Value& value) {
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
      return argument->getType()->isIntegerTy()
                 ? MaybeBound({BoundKind::kArgument, argument->getArgNo()})
                 : std::nullopt;
    return work_item_call(value);
  }

  llvm::Function& kernel_;
  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
  std::unique_ptr<llvm::TargetLibraryInfoImpl> library_;
  llvm::TargetLibraryInfo library_info_;
  llvm::AssumptionCache assumptions_;
  llvm::ScalarEvolution evolution_;
  std::set<std::tuple<const void*, const void*, const void*, std::uint64_t>> seen_;
  int nodes_ = 0;
};

}  // namespace

std::vector<std::vector<Bound>> read_reach(const std::string& source, const std::string& path,
                                           const CompileOptions& options,
                                           const std::string& kernel) {
  auto owned = std::make_unique<IrModule>(compile_for_spir(source, path, options));
  std::vector<std::vector<Bound>> reach;
  try {
    run_guarded("LLVM", path, [&] {
      inline_kernels(owned->get(), kernel);
      if (llvm::Function* function = owned->get().getFunction(kernel))
        reach = ReachReader(*function).read();
    });
  } catch (...) {
    // What a crash leaves of a module cannot be taken apart.
    static_cast<void>(owned.release());
    throw;
  }
  return reach;
}

}  // namespace omen::loadbalance
