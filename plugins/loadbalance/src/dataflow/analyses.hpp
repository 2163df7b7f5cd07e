// SPDX-License-Identifier: Apache-2.0
// What the files of the analyses share; others use analysis.hpp.
#pragma once

#include "dataflow/analysis.hpp"

namespace omen::loadbalance {

std::unique_ptr<DataFlow> make_dominance(const ProgramGraph& graph, Mode mode);
std::unique_ptr<DataFlow> make_liveness(const ProgramGraph& graph, Mode mode);

// Throws OMEN_INVALID_ARGUMENT where the root is not a node of this type.
void expect_root(const ProgramGraph& graph, std::int32_t root, NodeType type);
// All but node 0, ascending.
std::vector<std::int32_t> nodes_of_type(const ProgramGraph& graph, NodeType type);
std::int64_t count_labels(const std::vector<std::uint8_t>& value);

// A set of nodes as bits.
class NodeSet {
 public:
  explicit NodeSet(std::size_t size = 0) : words_((size + 63) / 64, 0) {}
  void add(std::int32_t node) { word(node) |= bit(node); }
  void remove(std::int32_t node) { word(node) &= ~bit(node); }
  bool has(std::int32_t node) const {
    return words_[static_cast<std::size_t>(node) / 64] & bit(node);
  }
  bool empty() const {
    for (const std::uint64_t w : words_)
      if (w) return false;
    return true;
  }
  void unite(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void intersect(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  bool operator==(const NodeSet&) const = default;

 private:
  static std::uint64_t bit(std::int32_t node) { return std::uint64_t{1} << (node % 64); }
  std::uint64_t& word(std::int32_t node) { return words_[static_cast<std::size_t>(node) / 64]; }
  std::vector<std::uint64_t> words_;
};

}  // namespace omen::loadbalance
