// SPDX-License-Identifier: Apache-2.0
// Where the memory accesses of a kernel lie, as far as addresses are linear in the ids of
// work-items.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

namespace llvm {
class Instruction;
class LoopInfo;
class SCEV;
class ScalarEvolution;
class Value;
}  // namespace llvm

namespace omen::loadbalance {

// An address as `offset` and steps of values, and the bytes around it that the access covers.
struct Place {
  std::map<const llvm::SCEV*, std::int64_t> terms;  // bytes for each step of a value
  std::set<const llvm::SCEV*> ids;                  // those of them that tell work-items apart
  std::int64_t offset = 0, low = 0, high = 0;       // it covers offset + low up to offset + high
  std::int64_t pitch = 0;  // smallest known step of an id; 0: only rows of unknown length
  bool endless = false;    // a loop moves it on, nobody knows how far
  bool clear = true;       // every id enters linearly, and no data
  // Every id enters by a constant, no local one does, and loops go round by constants.
  bool plain = true;
};

class PlaceReader {
 public:
  using Bits = std::function<unsigned(const llvm::Value*)>;
  PlaceReader(llvm::ScalarEvolution& evolution, const llvm::LoopInfo& loops, Bits bits)
      : evolution_(evolution), loops_(loops), bits_(std::move(bits)) {}

  // Of an access of `bytes` (0: unknown) by the instruction `at`. Sums do not overflow, or the
  // kernel would leave its buffer.
  Place read(const llvm::SCEV* address, std::uint64_t bytes, const llvm::Instruction& at);
  // The same place where one of its ids has a value that is the same for all items.
  Place at_id(const Place& place, const llvm::SCEV* id, const llvm::SCEV* value);

 private:
  void walk(const llvm::SCEV* expression, std::int64_t factor);
  void walk_product(const llvm::SCEV* product, std::int64_t factor);
  void walk_loop(const llvm::SCEV* recurrence, std::int64_t factor);
  void add_term(const llvm::SCEV* value, std::int64_t factor);
  void cover(std::int64_t bytes);
  void classify(const llvm::SCEV* value, std::int64_t factor, const llvm::Instruction& at);
  bool varies(const llvm::SCEV* value, const llvm::Instruction& at) const;
  unsigned bits_of(const llvm::SCEV* value) const;
  std::int64_t product(std::int64_t a, std::int64_t b);

  llvm::ScalarEvolution& evolution_;
  const llvm::LoopInfo& loops_;
  Bits bits_;
  Place place_;
};

// Bytes from the first to the last that either covers, where their terms are equal.
std::int64_t span_of(const Place& a, const Place& b);

// Whether `a` of one work-item and `b` of any other can meet.
enum class Apart : std::uint8_t {
  kNo,      // they can, or nobody knows
  kInRows,  // not where rows and columns of unknown length (id * n + k, or two ids) lie side by
            // side
  kYes,
};

// Places that ids only move away from each other, as a[k] and a[k + 1 + id], are apart; with rows,
// `a` must be a place that the item itself writes (`owned`).
Apart keep_apart(const Place& a, const Place& b, bool owned);

}  // namespace omen::loadbalance
