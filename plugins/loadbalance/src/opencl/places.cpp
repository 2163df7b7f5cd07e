// SPDX-License-Identifier: Apache-2.0
// Takes the expressions of scalar evolution apart into steps of ids, loops and constants.
#include "opencl/places.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstdlib>

#include "opencl/id_flow.hpp"

namespace omen::loadbalance {
namespace {

// An expression before the first turn of every loop.
class AtStart : public llvm::SCEVRewriteVisitor<AtStart> {
 public:
  using SCEVRewriteVisitor::SCEVRewriteVisitor;
  const llvm::SCEV* visitAddRecExpr(const llvm::SCEVAddRecExpr* recurrence) {
    return visit(recurrence->getStart());
  }
};

// Sums and products of values, however they are cast.
bool is_polynomial(const llvm::SCEV* value) {
  return !llvm::SCEVExprContains(value, [](const llvm::SCEV* part) {
    return !llvm::isa<llvm::SCEVConstant, llvm::SCEVUnknown, llvm::SCEVCastExpr, llvm::SCEVAddExpr,
                      llvm::SCEVMulExpr>(part);
  });
}

}  // namespace

Place PlaceReader::read(const llvm::SCEV* address, std::uint64_t bytes,
                        const llvm::Instruction& at) {
  place_ = {};
  walk(address, 1);
  for (const auto& [value, factor] : place_.terms) classify(value, factor, at);
  if (bytes == 0) place_.endless = true;
  place_.high += static_cast<std::int64_t>(bytes);
  return std::move(place_);
}

Place PlaceReader::at_id(const Place& place, const llvm::SCEV* id, const llvm::SCEV* value) {
  place_ = place;
  place_.terms.erase(id);
  place_.ids.erase(id);
  walk(value, place.terms.at(id));
  return std::move(place_);
}

void PlaceReader::walk(const llvm::SCEV* expression, std::int64_t factor) {
  switch (expression->getSCEVType()) {
    case llvm::scConstant: {
      const llvm::APInt& value = llvm::cast<llvm::SCEVConstant>(expression)->getAPInt();
      if (value.getMinSignedBits() > 64) place_.clear = false;
      place_.offset += product(factor, value.sextOrTrunc(64).getSExtValue());
      return;
    }
    case llvm::scTruncate:
      // A cut to 32 bits tells the ids of every real range apart; `id & 31` does not.
      if (evolution_.getTypeSizeInBits(expression->getType()) < 31) place_.clear = false;
      [[fallthrough]];
    case llvm::scZeroExtend:
    case llvm::scSignExtend:
    case llvm::scPtrToInt:
      return walk(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand(), factor);
    case llvm::scAddExpr:
      for (const llvm::SCEV* part : llvm::cast<llvm::SCEVAddExpr>(expression)->operands())
        walk(part, factor);
      return;
    case llvm::scMulExpr:
      return walk_product(expression, factor);
    case llvm::scAddRecExpr:
      return walk_loop(expression, factor);
    default:
      add_term(expression, factor);
  }
}

void PlaceReader::walk_product(const llvm::SCEV* expression, std::int64_t factor) {
  llvm::SmallVector<const llvm::SCEV*, 4> rest;
  for (const llvm::SCEV* part : llvm::cast<llvm::SCEVMulExpr>(expression)->operands()) {
    const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(part);
    if (constant && constant->getAPInt().getMinSignedBits() <= 64)
      factor = product(factor, constant->getAPInt().getSExtValue());
    else
      rest.push_back(part);
  }
  if (rest.size() == 1) return walk(rest[0], factor);
  add_term(evolution_.getMulExpr(rest), factor);
}

void PlaceReader::walk_loop(const llvm::SCEV* expression, std::int64_t factor) {
  const auto* recurrence = llvm::cast<llvm::SCEVAddRecExpr>(expression);
  walk(recurrence->getStart(), factor);
  const llvm::SCEV* step = recurrence->getStepRecurrence(evolution_);
  if (!recurrence->isAffine() || bits_of(step) & kGroupBits) place_.clear = false;
  const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(step);
  if (!known) {  // such as get_global_size
    place_.plain = false;
    place_.endless = true;
    return;
  }
  const auto* turns = llvm::dyn_cast<llvm::SCEVConstant>(
      evolution_.getConstantMaxBackedgeTakenCount(recurrence->getLoop()));
  constexpr unsigned kSensibleBits = 40;
  if (!turns || turns->getAPInt().getActiveBits() > kSensibleBits)
    place_.endless = true;
  else
    cover(product(product(factor, known->getAPInt().getSExtValue()),
                  static_cast<std::int64_t>(turns->getAPInt().getZExtValue())));
}

void PlaceReader::add_term(const llvm::SCEV* value, std::int64_t factor) {
  const llvm::SCEV* start = AtStart(evolution_).visit(value);
  place_.plain &= start == value;
  std::int64_t& sum = place_.terms[start];
  sum += factor;
  if (sum == 0) place_.terms.erase(start);
}

void PlaceReader::cover(std::int64_t bytes) {
  (bytes < 0 ? place_.low : place_.high) += bytes;
}

void PlaceReader::classify(const llvm::SCEV* value, std::int64_t factor,
                           const llvm::Instruction& at) {
  const unsigned bits = bits_of(value);
  const auto* plain = llvm::dyn_cast<llvm::SCEVUnknown>(value);
  const bool is_call = plain && llvm::isa<llvm::CallBase>(plain->getValue());
  const std::int64_t step = factor < 0 ? -factor : factor;
  if (bits & (kDataBit | kFoldedBit)) place_.clear = false;
  if (!is_call && varies(value, at)) place_.endless = true;
  if (!(bits & kGroupBits)) {
    if (!(bits & kLocalBit)) return;
    cover(step);  // a group has at least one neighbour
    place_.plain = false;
    return;
  }
  place_.ids.insert(value);
  place_.plain &= is_call;
  if (is_call)
    place_.pitch = place_.pitch ? std::min(place_.pitch, step) : step;
  else if (plain || !is_polynomial(value))
    place_.clear = false;
}

// A value that a loop around the access changes, in another way than by equal steps.
bool PlaceReader::varies(const llvm::SCEV* value, const llvm::Instruction& at) const {
  for (const llvm::Loop* loop = loops_.getLoopFor(at.getParent()); loop;
       loop = loop->getParentLoop())
    if (!evolution_.isLoopInvariant(value, loop)) return true;
  return false;
}

unsigned PlaceReader::bits_of(const llvm::SCEV* value) const {
  unsigned joined = 0;
  llvm::SCEVExprContains(value, [&](const llvm::SCEV* part) {
    if (const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part))
      joined |= bits_(unknown->getValue());
    return false;
  });
  return joined;
}

std::int64_t PlaceReader::product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kSensible = std::int64_t{1} << 52;  // sums of these do not overflow
  std::int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result) && result > -kSensible && result < kSensible)
    return result;
  place_.clear = false;
  return 0;
}

std::int64_t span_of(const Place& a, const Place& b) {
  return std::max(a.offset + a.high, b.offset + b.high) -
         std::min(a.offset + a.low, b.offset + b.low);
}

namespace {

std::int64_t factor_of(const Place& place, const llvm::SCEV* value) {
  const auto term = place.terms.find(value);
  return term == place.terms.end() ? 0 : term->second;
}

// Whether `behind` starts where `front` has ended, whatever the ids of the two items are: none of
// them is negative, and those that move a place move it away from the other.
bool lies_behind(const Place& front, const Place& behind) {
  for (const Place* place : {&front, &behind})
    for (const auto& [value, factor] : place->terms) {
      const bool is_id = front.ids.count(value) || behind.ids.count(value);
      const std::int64_t first = factor_of(front, value), second = factor_of(behind, value);
      if (is_id ? first > 0 || second < 0 : first != second) return false;
    }
  return front.offset + front.high <= behind.offset + behind.low;
}

// a[x + y]: two ids with one step reach each other's places.
bool steps_repeat(const Place& place) {
  std::set<std::int64_t> seen;
  return std::any_of(place.ids.begin(), place.ids.end(), [&](const llvm::SCEV* id) {
    return llvm::isa<llvm::SCEVUnknown>(id) && !seen.insert(std::abs(place.terms.at(id))).second;
  });
}

}  // namespace

Apart keep_apart(const Place& a, const Place& b, bool owned) {
  if (!a.clear || !b.clear) return Apart::kNo;
  const bool bounded = a.plain && b.plain && !a.endless && !b.endless;
  if (bounded && (lies_behind(a, b) || lies_behind(b, a))) return Apart::kYes;
  if (b.ids.empty() || a.terms != b.terms || steps_repeat(b)) return Apart::kNo;
  if (b.pitch > 0 && (a.endless || b.endless || span_of(a, b) > b.pitch)) return Apart::kNo;
  if (b.pitch > 0 && b.ids.size() == 1) return Apart::kYes;
  return owned ? Apart::kInRows : Apart::kNo;
}

}  // namespace omen::loadbalance
