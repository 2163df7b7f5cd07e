// SPDX-License-Identifier: Apache-2.0
// The five classical data-flow analyses on program graphs, as labels of nodes for one root each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "graph/program_graph.hpp"

namespace omen::loadbalance {

enum class Analysis : std::uint8_t {
  kReachability,   // instructions that control reaches from the root instruction
  kDominance,      // instructions that control reaches only through the root instruction
  kDatadep,        // instructions whose results the root variable is computed from
  kLiveness,       // values that are used after the root instruction before they are redefined
  kSubexpressions  // instructions that compute the same expression as the root instruction
};

inline constexpr std::array<const char*, 5> kAnalysisNames = {
    "reachability", "dominance", "datadep", "liveness", "subexpressions"};

// OMEN_INVALID_ARGUMENT with the known names where this is none of them.
Analysis analysis_named(std::string_view name);

// The answer for one root.
struct Labels {
  std::vector<std::uint8_t> value;  // 1 where the node belongs to the answer
  std::int64_t steps = 0;           // how far information travels; each analysis says what it is
  std::int64_t active = 0;          // labelled nodes
  // Steps from node to node after which the label of each node can be known: 0 where a label is not
  // expected unless something comes from the root. Empty in kCompat.
  std::vector<std::int32_t> known;
  // What the answer is derived from: for each of some properties that spread from node to node the
  // step in which they come to a node, -1 where never. As many for every root of an analysis.
  std::vector<std::vector<std::int32_t>> waves;
};

// One analysis of one graph, which must outlive it. Node 0 stands for the outside and is never a
// root.
class DataFlow {
 public:
  virtual ~DataFlow() = default;
  // Nodes that make a question, ascending.
  virtual std::vector<std::int32_t> roots() const = 0;
  // OMEN_INVALID_ARGUMENT where the root is not a node of the right type.
  virtual Labels run(std::int32_t root) const = 0;
};

// How the labels are made.
enum class Mode : std::uint8_t {
  kExact,  // the fixed points that compilers compute
  kCompat  // with the quirks of ProGraML's generators: dominators from the least fixed point, which
           // misses what lies behind a loop header, and at most 1,000 changes; liveness only where
           // an exit is reached, with its cap on steps; every visit of a node counted as active in
           // reachability; subexpressions answered by datadep. OMEN_INVALID_DATA where a cap is hit
};

// Steps are, by analysis: depth of the last node of a breadth-first walk along control edges, the
// root being 1; largest control distance from the entry of the root's function (kCompat: changes of
// dominator sets); depth of that walk against data edges, the root being 0; largest distance of an
// answer along control and data edges, the root being 1; and 2. A walk may meet a node again that
// is still waiting, one step later, as the definition of the published tables has it.
std::unique_ptr<DataFlow> make_analysis(Analysis analysis, const ProgramGraph& graph,
                                        Mode mode = Mode::kExact);

// A share of the roots, rounded up, and at most `limit` of them, drawn by the seed and sorted.
std::vector<std::int32_t> sample_roots(const std::vector<std::int32_t>& roots, std::int64_t limit,
                                       std::uint64_t seed, double share = 0.1);

}  // namespace omen::loadbalance
