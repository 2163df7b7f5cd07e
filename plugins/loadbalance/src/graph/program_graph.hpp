// SPDX-License-Identifier: Apache-2.0
// The program graph: instructions, variables, constants and types, joined by control, data, call
// and type edges.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "omen/table.hpp"

namespace omen::loadbalance {

enum class NodeType : std::uint8_t { kInstruction, kVariable, kConstant, kType };
enum class Flow : std::uint8_t { kControl, kData, kCall, kType };

// Names in tables, by the number of the enumerator.
inline constexpr std::array<const char*, 4> kNodeTypeNames = {"instruction", "variable", "constant",
                                                              "type"};
inline constexpr std::array<const char*, 4> kFlowNames = {"control", "data", "call", "type"};

// The dialect of graphs that v0.3.2 of ProGraML would build, and of its variants.
inline constexpr const char* kDialect = "programl/1";
inline constexpr const char* kTypedDialect = "programl-typed/1";       // with type nodes
inline constexpr const char* kIdentifierDialect = "programl-ident/1";  // one node per identifier
inline constexpr const char* kCdfgDialect = "cdfg/1";                  // instructions only

struct Node {
  NodeType type = NodeType::kInstruction;
  std::int32_t text = 0;       // index into ProgramGraph::texts
  std::int32_t function = -1;  // index into ProgramGraph::functions; -1: the root and constants
  std::int32_t block = 0;      // counted through the module
};

struct Edge {
  std::int32_t source = 0, target = 0, position = 0;
  Flow flow = Flow::kControl;
};

// Node 0 is the root, an instruction that stands for everything outside of the module.
struct ProgramGraph {
  std::string name;                // of the kernel, or of the file for a whole module
  std::vector<std::string> texts;  // distinct node texts
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<std::string> functions;      // in module order, declarations included
  std::vector<std::string> full_texts;     // one per node, or empty where they were not asked for
  std::vector<std::string> values;         // printed constants by node in the identifier dialect,
                                           // else empty
  std::vector<std::int32_t> source_nodes;  // the node of another form that each node stands for,
                                           // or empty

  std::vector<std::int32_t> statements;  // id of inst2vec's statement by node, or empty

  std::string_view text(const Node& node) const {
    return texts[static_cast<std::size_t>(node.text)];
  }
};

// Interns node texts while a graph grows.
class TextTable {
 public:
  explicit TextTable(ProgramGraph& graph) : graph_(graph) {}
  std::int32_t code(std::string_view text);

 private:
  ProgramGraph& graph_;
  std::unordered_map<std::string, std::int32_t> codes_;
};

// The tables `nodes` (graph_id, node_id, op = text, type, function, block, and full_text, value,
// source_node and inst2vec where the graphs have them) and `edges` (graph_id, src, dst, kind,
// position). Graph i gets id first_id + i. `function` is a dictionary of names, null for the root
// and constants.
struct GraphTables {
  Table nodes, edges;
};
GraphTables to_tables(const std::vector<ProgramGraph>& graphs, const char* dialect,
                      std::int64_t first_id = 0);

// Graphs back from tables, in the order of graph_id; `edges` may have no columns. Columns beside
// op, src and dst may be absent: the type is then an instruction, the flow data, the position 0.
// OMEN_INVALID_DATA where an edge names a node that does not exist. Functions are numbered by first
// appearance.
std::vector<ProgramGraph> from_tables(const Table& nodes, const Table& edges);

}  // namespace omen::loadbalance
