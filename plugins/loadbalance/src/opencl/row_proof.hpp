// SPDX-License-Identifier: Apache-2.0
// Proofs that two accesses do not meet because their rows or their columns differ.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "opencl/id_flow.hpp"
#include "opencl/memory_accesses.hpp"
#include "opencl/polynomial.hpp"
#include "opencl/split_verdict.hpp"

namespace llvm {
class DominatorTree;
class LoopInfo;
class ScalarEvolution;
}  // namespace llvm

namespace omen::loadbalance {

// What a proof shows and what it takes: work-items that differ along one of the dimensions never
// meet, where the launch meets the conditions.
struct RowProof {
  unsigned dimensions = 0;
  std::vector<LaunchCondition> conditions;
  bool leaves_row = false;  // no launch could meet them: columns are as long as several rows
};

// Reads addresses as row * length + column, where 0 <= column < length makes row and column
// unique: by the conditions around an access and the ends of loops, or else as a condition of the
// launch.
class RowProver {
 public:
  RowProver(llvm::ScalarEvolution& evolution, const llvm::LoopInfo& loops,
            const llvm::DominatorTree& tree, const IdFlow& ids)
      : evolution_(evolution), loops_(loops), tree_(tree), ids_(ids) {}

  // Of `load` by one item and `store` by another; both have been located.
  RowProof apart(const Access& load, const Access& store);

 private:
  enum class AtomKind { kUniform, kId, kOwn };
  struct AtomFacts {
    AtomKind kind = AtomKind::kOwn;
    unsigned dimension = 0;            // of ids
    bool natural = false;              // never negative
    const llvm::Loop* loop = nullptr;  // of counters
    std::optional<Bound> bound = {};   // where a launch knows it
    std::string name = {};
  };
  using Places = std::pair<Polynomial, Polynomial>;  // of the two items

  Polynomial read(const llvm::SCEV* expression);
  Polynomial opaque(const llvm::SCEV* expression);
  Polynomial counter(const llvm::Loop& loop);
  Atom atom_of(const llvm::Value& value);
  Atom add_atom(AtomFacts facts);
  unsigned bits_of(const llvm::SCEV* expression) const;
  std::optional<Polynomial> place_of(const Access& access);
  void learn_conditions(const Access& access, bool of_other);
  void learn_comparison(unsigned predicate, const Polynomial& a, const Polynomial& b,
                        bool of_other);
  void learn(const Polynomial& fact, bool of_other);
  void know_atoms();
  std::optional<Polynomial> size_of(const AtomFacts& id) const;
  Polynomial others(const Polynomial& own) const;

  struct Lengths {
    std::set<Atom> atoms;
    std::set<std::int64_t> constants;
  };
  Lengths lengths_of(const Places& places) const;
  RowProof search(const Places& places, int depth);
  RowProof in_rows(Rows first, Rows second, const Polynomial& length, int depth);
  bool never_equal(const Places& places) const;
  unsigned same_id(const Places& places) const;
  bool settle(Rows& rows, const Polynomial& length, RowProof& proof);
  bool demand(const Polynomial& not_negative, RowProof& proof);
  bool demand_case(const Polynomial& least, RowProof& proof);
  bool has_chance(const Polynomial& value) const;
  bool is_uniform(Atom atom) const;
  std::optional<Bound> bound_of(const Polynomial& value) const;
  std::string text_of(const Polynomial& value) const;

  llvm::ScalarEvolution& evolution_;
  const llvm::LoopInfo& loops_;
  const llvm::DominatorTree& tree_;
  const IdFlow& ids_;
  std::vector<AtomFacts> atoms_;  // atom 2 * i is that of one item, 2 * i + 1 that of the other
  std::map<const void*, Atom> numbers_;
  std::map<const llvm::Loop*, Polynomial> ends_;
  std::map<Atom, std::vector<Polynomial>> choices_;  // by half the number of an atom
  Knowledge known_;
  bool leaves_row_ = false;
  std::vector<Polynomial> needed_;  // what comparisons without signs take for granted
};

}  // namespace omen::loadbalance
