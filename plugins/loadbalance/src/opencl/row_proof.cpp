// SPDX-License-Identifier: Apache-2.0
// Turns scalar evolution into polynomials, and searches for rows and columns that differ.
#include "opencl/row_proof.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstdlib>

#include "opencl/held_conditions.hpp"
#include "opencl/work_item_calls.hpp"

namespace omen::loadbalance {
namespace {

constexpr unsigned kNarrowBits = 31;  // values of fewer may wrap around
constexpr int kMostNested = 2;        // a[(z * height + y) * width + x] is rows of rows
constexpr std::size_t kMostFacts = 24;

bool is_wide(const llvm::ScalarEvolution& evolution, const llvm::SCEV* value) {
  return evolution.getTypeSizeInBits(value->getType()) >= kNarrowBits;
}

}  // namespace

Atom RowProver::add_atom(AtomFacts facts) {
  atoms_.push_back(std::move(facts));
  return static_cast<Atom>(2 * (atoms_.size() - 1));
}

unsigned RowProver::bits_of(const llvm::SCEV* expression) const {
  unsigned joined = 0;
  llvm::SCEVExprContains(expression, [&](const llvm::SCEV* part) {
    if (const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part))
      joined |= ids_.of(unknown->getValue());
    return false;
  });
  return joined;
}

Atom RowProver::atom_of(const llvm::Value& value) {
  const auto [at, fresh] = numbers_.try_emplace(&value, 0);
  if (!fresh) return at->second;
  AtomFacts facts;
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value)) {
    facts.kind = AtomKind::kUniform;
    facts.name = argument->getName().str();
    if (argument->getType()->isIntegerTy())
      facts.bound = {BoundKind::kArgument, argument->getArgNo()};
  } else if (const auto call = work_item_call(value)) {
    const bool is_id = call->kind == BoundKind::kGlobalId || call->kind == BoundKind::kGroupId;
    const bool is_own = is_id || call->kind == BoundKind::kLocalId;
    facts.kind = is_id ? AtomKind::kId : is_own ? AtomKind::kOwn : AtomKind::kUniform;
    facts.dimension = static_cast<unsigned>(call->value);
    facts.natural = true;
    facts.name = std::string(work_item_name(call->kind)) + "(" + std::to_string(call->value) + ")";
    facts.bound = *call;
  } else {
    // What a loop computes may differ from turn to turn, and so between items.
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (ids_.of(&value) == 0 && instruction && !loops_.getLoopFor(instruction->getParent()))
      facts.kind = AtomKind::kUniform;
  }
  return at->second = add_atom(std::move(facts));
}

// A value that is not taken apart any further.
Polynomial RowProver::opaque(const llvm::SCEV* expression) {
  const auto [at, fresh] = numbers_.try_emplace(expression, 0);
  if (fresh) {
    const bool varies = llvm::SCEVExprContains(expression, [this](const llvm::SCEV* part) {
      const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
      const auto* inner =
          unknown ? llvm::dyn_cast<llvm::Instruction>(unknown->getValue()) : nullptr;
      return llvm::isa<llvm::SCEVAddRecExpr>(part) ||
             (inner && loops_.getLoopFor(inner->getParent()));
    });
    AtomFacts facts;
    if (!varies && bits_of(expression) == 0) facts.kind = AtomKind::kUniform;
    const Atom number = numbers_[expression] = add_atom(std::move(facts));
    if (llvm::isa<llvm::SCEVSMaxExpr, llvm::SCEVUMaxExpr>(expression))
      for (const llvm::SCEV* part : llvm::cast<llvm::SCEVNAryExpr>(expression)->operands()) {
        const Polynomial choice = read(part);
        choices_[number / 2].push_back(choice);
      }
    return Polynomial::of(number);
  }
  return Polynomial::of(at->second);
}

Polynomial RowProver::counter(const llvm::Loop& loop) {
  const auto [at, fresh] = numbers_.try_emplace(&loop, 0);
  if (!fresh) return Polynomial::of(at->second);
  AtomFacts facts;
  facts.natural = true;
  facts.loop = &loop;
  const Atom number = numbers_[&loop] = add_atom(std::move(facts));
  const llvm::SCEV* turns = evolution_.getBackedgeTakenCount(&loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(turns)) {
    // A bound that only the width of the counter sets says nothing.
    constexpr unsigned kTellingBits = 20;
    const auto* most =
        llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getConstantMaxBackedgeTakenCount(&loop));
    if (most && most->getAPInt().getActiveBits() <= kTellingBits) turns = most;
  }
  if (!llvm::isa<llvm::SCEVCouldNotCompute>(turns)) ends_[&loop] = read(turns);
  return Polynomial::of(number);
}

Polynomial RowProver::read(const llvm::SCEV* expression) {
  switch (expression->getSCEVType()) {
    case llvm::scConstant: {
      const llvm::APInt& value = llvm::cast<llvm::SCEVConstant>(expression)->getAPInt();
      return value.getMinSignedBits() > 52 ? opaque(expression) : Polynomial(value.getSExtValue());
    }
    case llvm::scTruncate:
    case llvm::scZeroExtend:
    case llvm::scSignExtend: {
      const llvm::SCEV* inner = llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand();
      if (!is_wide(evolution_, inner) || !is_wide(evolution_, expression))
        return opaque(expression);
      return read(inner);
    }
    case llvm::scAddExpr:
    case llvm::scMulExpr: {
      const bool is_sum = llvm::isa<llvm::SCEVAddExpr>(expression);
      Polynomial all(is_sum ? 0 : 1);
      for (const llvm::SCEV* part : llvm::cast<llvm::SCEVNAryExpr>(expression)->operands())
        all = is_sum ? all + read(part) : all * read(part);
      return all;
    }
    case llvm::scAddRecExpr: {
      const auto* recurrence = llvm::cast<llvm::SCEVAddRecExpr>(expression);
      if (!recurrence->isAffine()) return opaque(expression);
      return read(recurrence->getStart()) +
             read(recurrence->getStepRecurrence(evolution_)) * counter(*recurrence->getLoop());
    }
    case llvm::scUnknown:
      return Polynomial::of(atom_of(*llvm::cast<llvm::SCEVUnknown>(expression)->getValue()));
    default:
      return opaque(expression);
  }
}

// In elements of its buffer.
std::optional<Polynomial> RowProver::place_of(const Access& access) {
  if (!access.base || access.bytes == 0) return std::nullopt;
  const Polynomial place = read(evolution_.removePointerBase(access.address));
  return place.valid() ? place.divided_by(static_cast<std::int64_t>(access.bytes)) : std::nullopt;
}

Polynomial RowProver::others(const Polynomial& own) const {
  return own.renamed([this](Atom atom) { return is_uniform(atom) ? atom : atom | 1; });
}

void RowProver::learn(const Polynomial& fact, bool of_other) {
  if (!fact.valid() || fact.is_constant() || known_.not_negative.size() >= kMostFacts) return;
  known_.not_negative.push_back(of_other ? others(fact) : fact);
}

void RowProver::learn_comparison(unsigned predicate, const Polynomial& a, const Polynomial& b,
                                 bool of_other) {
  switch (predicate) {
    case llvm::CmpInst::ICMP_EQ:
      learn(a - b, of_other);
      return learn(b - a, of_other);
    case llvm::CmpInst::ICMP_SLT:
      return learn(b - a - 1, of_other);
    case llvm::CmpInst::ICMP_SLE:
      return learn(b - a, of_other);
    case llvm::CmpInst::ICMP_ULT:
    case llvm::CmpInst::ICMP_ULE:
      // A negative `a` would be a huge number without its sign, and so is a negative `b`.
      if (!known_.proves(b) && !bound_of(b)) return;
      if (!known_.proves(b)) needed_.push_back(b);
      learn(a, of_other);
      return learn(b - a - (predicate == llvm::CmpInst::ICMP_ULT ? 1 : 0), of_other);
    case llvm::CmpInst::ICMP_SGT:
    case llvm::CmpInst::ICMP_SGE:
    case llvm::CmpInst::ICMP_UGT:
    case llvm::CmpInst::ICMP_UGE:
      return learn_comparison(
          llvm::CmpInst::getSwappedPredicate(static_cast<llvm::CmpInst::Predicate>(predicate)), b,
          a, of_other);
    default:
      return;
  }
}

void RowProver::learn_conditions(const Access& access, bool of_other) {
  for (const auto& [compare, holds] : held_conditions(*access.at, tree_)) {
    if (!compare->getOperand(0)->getType()->isIntegerTy()) continue;
    const llvm::SCEV* sides[2];
    bool in_reach = true;
    for (unsigned i = 0; i < 2; ++i) {
      sides[i] = evolution_.getSCEV(compare->getOperand(i));
      // Of a loop that is over, the counter here would be another one.
      in_reach &= is_wide(evolution_, sides[i]) &&
                  !llvm::SCEVExprContains(sides[i], [&](const llvm::SCEV* part) {
                    const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part);
                    return recurrence && !recurrence->getLoop()->contains(access.at);
                  });
    }
    if (in_reach)
      learn_comparison(holds ? compare->getPredicate() : compare->getInversePredicate(),
                       read(sides[0]), read(sides[1]), of_other);
  }
}

void RowProver::know_atoms() {
  for (std::size_t i = 0; i < atoms_.size(); ++i)
    for (const int of_other : {0, 1}) {
      const Atom number = static_cast<Atom>(2 * i) + of_other;
      known_.natural[number] = atoms_[i].natural;
      const auto end = ends_.find(atoms_[i].loop);
      if (atoms_[i].loop && end != ends_.end())
        known_.most[number] = of_other ? others(end->second) : end->second;
      known_.largest_of.erase(number);
      if (const auto choices = choices_.find(static_cast<Atom>(i)); choices != choices_.end())
        for (const Polynomial& choice : choices->second)
          known_.largest_of[number].push_back(of_other ? others(choice) : choice);
      if (const std::optional<Polynomial> size = size_of(atoms_[i]))
        known_.not_negative.push_back(*size - 1 - Polynomial::of(number));
    }
}

// Ids stay below the size of what they count.
std::optional<Polynomial> RowProver::size_of(const AtomFacts& id) const {
  constexpr std::pair<BoundKind, BoundKind> kSizes[] = {
      {BoundKind::kGlobalId, BoundKind::kGlobalSize},
      {BoundKind::kLocalId, BoundKind::kLocalSize},
      {BoundKind::kGroupId, BoundKind::kGroups}};
  for (const auto& [kind, size] : kSizes)
    for (std::size_t i = 0; id.bound && id.bound->kind == kind && i < atoms_.size(); ++i)
      if (atoms_[i].bound && atoms_[i].bound->kind == size &&
          atoms_[i].bound->value == id.bound->value)
        return Polynomial::of(static_cast<Atom>(2 * i));
  return std::nullopt;
}

RowProof RowProver::apart(const Access& load, const Access& store) {
  known_ = {};
  needed_.clear();
  leaves_row_ = false;
  const std::optional<Polynomial> first = place_of(load), second = place_of(store);
  if (load.base != store.base || load.bytes != store.bytes || !first || !second) return {};
  know_atoms();  // comparisons are read with it
  learn_conditions(load, false);
  learn_conditions(store, true);
  know_atoms();
  RowProof proof = search({*first, others(*second)}, kMostNested);
  for (const Polynomial& value : needed_)
    if (proof.dimensions && !demand(value, proof)) return {};
  proof.leaves_row = proof.dimensions == 0 && leaves_row_;
  return proof;
}

bool RowProver::never_equal(const Places& places) const {
  const Polynomial difference = places.first - places.second;
  if (!difference.valid()) return false;
  const std::int64_t step = difference.common_factor();
  if (step == 0 ? difference.constant() != 0 : difference.constant() % step != 0) return true;
  return known_.proves(difference - 1) || known_.proves(difference * -1 - 1);
}

// The dimension whose id must be equal where the two are.
unsigned RowProver::same_id(const Places& places) const {
  const Polynomial difference = places.first - places.second;
  const auto& terms = difference.terms();
  if (terms.size() != 2) return 0;
  const auto& [one, factor] = *terms.begin();
  const auto& [two, against] = *terms.rbegin();
  if (one.size() != 1 || two.size() != 1 || factor != -against || one[0] / 2 != two[0] / 2)
    return 0;
  const AtomFacts& facts = atoms_[static_cast<std::size_t>(one[0] / 2)];
  return facts.kind == AtomKind::kId ? 1U << facts.dimension : 0;
}

bool RowProver::is_uniform(Atom atom) const {
  return atoms_[static_cast<std::size_t>(atom / 2)].kind == AtomKind::kUniform;
}

// What ids are multiplied by, and by what the two differ.
RowProver::Lengths RowProver::lengths_of(const Places& places) const {
  Lengths lengths;
  for (const Polynomial& place : {places.first, places.second, places.first - places.second})
    for (const auto& [product, factor] : place.terms()) {
      const bool moves = !std::all_of(product.begin(), product.end(),
                                      [this](Atom atom) { return is_uniform(atom); });
      if (moves && std::llabs(factor) > 1) lengths.constants.insert(std::llabs(factor));
      for (const Atom atom : product)
        if (is_uniform(atom)) lengths.atoms.insert(atom);
    }
  return lengths;
}

RowProof RowProver::search(const Places& places, int depth) {
  if (never_equal(places)) return {kGroupBits, {}, false};
  RowProof best{same_id(places), {}, false};
  if (depth == 0) return best;
  const Lengths lengths = lengths_of(places);
  const auto consider = [&](const RowProof& found) {
    const auto count = [](unsigned mask) { return __builtin_popcount(mask); };
    if (count(found.dimensions) > count(best.dimensions) ||
        (found.dimensions == best.dimensions && found.conditions.size() < best.conditions.size()))
      best = found;
  };
  for (const Atom length : lengths.atoms)
    consider(in_rows(split_rows(places.first, length), split_rows(places.second, length),
                     Polynomial::of(length), depth));
  for (const std::int64_t length : lengths.constants)
    consider(in_rows(split_rows(places.first, length), split_rows(places.second, length), length,
                     depth));
  return best;
}

RowProof RowProver::in_rows(Rows first, Rows second, const Polynomial& length, int depth) {
  RowProof proof;
  if (!settle(first, length, proof) || !settle(second, length, proof)) return {};
  // On diagonals rows and columns change together.
  if (never_equal({first.row + first.column, second.row + second.column}) ||
      never_equal({first.row - first.column, second.row - second.column})) {
    proof.dimensions = kGroupBits;
    return proof;
  }
  for (const RowProof& part : {search({first.row, second.row}, depth - 1),
                               search({first.column, second.column}, depth - 1)}) {
    if ((proof.dimensions | part.dimensions) == proof.dimensions) continue;
    proof.dimensions |= part.dimensions;
    proof.conditions.insert(proof.conditions.end(), part.conditions.begin(), part.conditions.end());
  }
  return proof;
}

// Whether columns stay in their row, with as few conditions as possible; a[id * n + n - 1] counts
// from the end of it.
bool RowProver::settle(Rows& rows, const Polynomial& length, RowProof& proof) {
  const bool left_before = leaves_row_;
  const Rows from_end{rows.row - 1, rows.column + length}, from_start = rows;
  std::optional<RowProof> best;
  for (const Rows& attempt : {from_start, from_end}) {
    RowProof with = proof;
    if (!demand(attempt.column, with) || !demand(length - attempt.column - 1, with)) continue;
    if (best && best->conditions.size() <= with.conditions.size()) continue;
    best = std::move(with);
    rows = attempt;
  }
  if (!best) return false;
  leaves_row_ = left_before;
  proof = *std::move(best);
  return true;
}

// Proves that a value is not negative, or makes it a condition of the launch.
bool RowProver::demand(const Polynomial& not_negative, RowProof& proof) {
  if (known_.proves(not_negative)) return true;
  const std::optional<Polynomial> least = known_.smallest(not_negative);
  if (!least) return false;
  const std::vector<Polynomial> cases = known_.cases(*least);
  return std::all_of(cases.begin(), cases.end(),
                     [&](const Polynomial& one) { return demand_case(one, proof); });
}

bool RowProver::demand_case(const Polynomial& least, RowProof& proof) {
  if (known_.proves(least)) return true;
  const std::optional<Bound> shortfall = bound_of(least * -1);
  if (!shortfall) return false;
  if (!has_chance(least)) {
    leaves_row_ = true;
    return false;
  }
  const std::string text = text_of(least) + " >= 0";
  const bool known = std::any_of(proof.conditions.begin(), proof.conditions.end(),
                                 [&](const auto& other) { return other.text == text; });
  if (!known) proof.conditions.push_back({*shortfall, text});
  return true;
}

// Whether arguments or a small range can make it positive: then it is up to the host, else the
// kernel is at fault.
bool RowProver::has_chance(const Polynomial& value) const {
  return !value.is_constant() &&
         std::any_of(value.terms().begin(), value.terms().end(), [this](const auto& term) {
           return term.second > 0 &&
                  std::all_of(term.first.begin(), term.first.end(), [this](Atom atom) {
                    const auto& bound = atoms_[static_cast<std::size_t>(atom / 2)].bound;
                    return bound && bound->kind == BoundKind::kArgument;
                  });
         });
}

std::optional<Bound> RowProver::bound_of(const Polynomial& value) const {
  if (!value.valid()) return std::nullopt;
  Bound sum{BoundKind::kSum, 0, {{BoundKind::kConstant, value.constant()}}};
  for (const auto& [product, factor] : value.terms()) {
    if (product.empty()) continue;
    Bound term{BoundKind::kProduct, 0, {{BoundKind::kConstant, factor}}};
    for (const Atom atom : product) {
      const AtomFacts& facts = atoms_[static_cast<std::size_t>(atom / 2)];
      if (!facts.bound) return std::nullopt;
      term.parts.push_back(*facts.bound);
    }
    sum.parts.push_back(std::move(term));
  }
  return sum;
}

// "n - 1 - get_global_id(0)", positive terms first.
std::string RowProver::text_of(const Polynomial& value) const {
  std::string text;
  for (const bool positive : {true, false})
    for (const auto& [product, factor] : value.terms()) {
      if ((factor > 0) != positive) continue;
      const std::int64_t size = std::llabs(factor);
      std::string term = product.empty() || size != 1 ? std::to_string(size) : "";
      for (const Atom atom : product)
        term += (term.empty() ? "" : " * ") + atoms_[static_cast<std::size_t>(atom / 2)].name;
      text += (text.empty() ? (positive ? "" : "-") : positive ? " + " : " - ") + term;
    }
  return text;
}

}  // namespace omen::loadbalance
