// SPDX-License-Identifier: Apache-2.0
// Program graphs to and from the tables that cross the plugin boundary.
#include "graph/program_graph.hpp"

#include <algorithm>
#include <map>

namespace omen::loadbalance {
namespace {

const std::vector<std::string>& node_type_names() {
  static const std::vector<std::string> names(kNodeTypeNames.begin(), kNodeTypeNames.end());
  return names;
}

const std::vector<std::string>& flow_names() {
  static const std::vector<std::string> names(kFlowNames.begin(), kFlowNames.end());
  return names;
}

// One dictionary for several graphs, each of which has its own numbers.
class Merged {
 public:
  std::vector<std::int32_t> codes_of(const std::vector<std::string>& texts) {
    std::vector<std::int32_t> codes;
    codes.reserve(texts.size());
    for (const std::string& text : texts) {
      const auto [at, fresh] = codes_.try_emplace(text, static_cast<std::int32_t>(values_.size()));
      if (fresh) values_.push_back(text);
      codes.push_back(at->second);
    }
    return codes;
  }
  const std::vector<std::string>& values() const { return values_; }

 private:
  std::unordered_map<std::string, std::int32_t> codes_;
  std::vector<std::string> values_;
};

Table nodes_table(const std::vector<ProgramGraph>& graphs, const char* dialect,
                  std::int64_t first_id) {
  std::vector<std::int64_t> graph_id;
  std::vector<std::int32_t> node_id, op, type, function, block, source_node, statement;
  std::vector<bool> in_function;
  std::vector<std::string> full_text, value;
  Merged texts, functions;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const ProgramGraph& graph = graphs[g];
    const std::vector<std::int32_t> text_codes = texts.codes_of(graph.texts);
    const std::vector<std::int32_t> function_codes = functions.codes_of(graph.functions);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      graph_id.push_back(first_id + static_cast<std::int64_t>(g));
      node_id.push_back(static_cast<std::int32_t>(n));
      op.push_back(text_codes[static_cast<std::size_t>(node.text)]);
      type.push_back(static_cast<std::int32_t>(node.type));
      in_function.push_back(node.function >= 0);
      function.push_back(
          node.function < 0 ? 0 : function_codes[static_cast<std::size_t>(node.function)]);
      block.push_back(node.block);
    }
    full_text.insert(full_text.end(), graph.full_texts.begin(), graph.full_texts.end());
    value.insert(value.end(), graph.values.begin(), graph.values.end());
    source_node.insert(source_node.end(), graph.source_nodes.begin(), graph.source_nodes.end());
    statement.insert(statement.end(), graph.statements.begin(), graph.statements.end());
  }
  const std::size_t rows = graph_id.size();
  TableBuilder builder;
  builder.metadata("omen.dialect", dialect)
      .add("graph_id", std::move(graph_id))
      .add("node_id", std::move(node_id))
      .add_dictionary("op", std::move(op), texts.values())
      .add_dictionary("type", std::move(type), node_type_names())
      .add_dictionary(
          "function", std::move(function),
          functions.values().empty() ? std::vector<std::string>{""} : functions.values())
      .valid(in_function)
      .add("block", std::move(block));
  if (rows > 0 && full_text.size() == rows) builder.add_strings("full_text", full_text);
  if (rows > 0 && value.size() == rows) builder.add_strings("value", value);
  if (rows > 0 && source_node.size() == rows) builder.add("source_node", std::move(source_node));
  if (rows > 0 && statement.size() == rows) builder.add("inst2vec", std::move(statement));
  return builder.finish();
}

Table edges_table(const std::vector<ProgramGraph>& graphs, const char* dialect,
                  std::int64_t first_id) {
  std::vector<std::int64_t> graph_id;
  std::vector<std::int32_t> src, dst, kind, position;
  for (std::size_t g = 0; g < graphs.size(); ++g)
    for (const Edge& edge : graphs[g].edges) {
      graph_id.push_back(first_id + static_cast<std::int64_t>(g));
      src.push_back(edge.source);
      dst.push_back(edge.target);
      kind.push_back(static_cast<std::int32_t>(edge.flow));
      position.push_back(edge.position);
    }
  return TableBuilder()
      .metadata("omen.dialect", dialect)
      .add("graph_id", std::move(graph_id))
      .add("src", std::move(src))
      .add("dst", std::move(dst))
      .add_dictionary("kind", std::move(kind), flow_names())
      .add("position", std::move(position))
      .finish();
}

// The enumerator of each dictionary code of a text column; OMEN_INVALID_DATA for another name.
template <class Enum, std::size_t n>
Enum enumerator(std::string_view name, const std::array<const char*, n>& names, const char* what) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw Error(OMEN_INVALID_DATA, std::string(what) + " '" + std::string(name) + "' is unknown");
  return static_cast<Enum>(at - names.begin());
}

struct OptionalText {
  OptionalText(const Table& table, const char* name) {
    if (const auto at = table.find(name); at && is_text(table.type(*at)))
      column = table.strings(*at);
  }
  std::optional<StringColumn> column;
};

void read_nodes(const Table& table, std::map<std::int64_t, ProgramGraph>& graphs) {
  const auto graph_id = table.column<std::int64_t>("graph_id");
  const StringColumn op = table.strings("op");
  const OptionalText type(table, "type"), function(table, "function"), full(table, "full_text"),
      value(table, "value");
  const auto block = table.find("block"), source_node = table.find("source_node"),
             statement = table.find("inst2vec");
  struct Numbers {
    std::unordered_map<std::string, std::int32_t> texts, functions;
  };
  std::map<std::int64_t, Numbers> numbers;
  const auto number = [](std::unordered_map<std::string, std::int32_t>& known,
                         std::vector<std::string>& list, std::string_view text) {
    const auto [at, fresh] =
        known.try_emplace(std::string(text), static_cast<std::int32_t>(list.size()));
    if (fresh) list.emplace_back(text);
    return at->second;
  };
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    ProgramGraph& graph = graphs[graph_id[row]];
    Numbers& known = numbers[graph_id[row]];
    Node node;
    node.text = number(known.texts, graph.texts, op[row]);
    if (type.column)
      node.type = enumerator<NodeType>((*type.column)[row], kNodeTypeNames, "node type");
    if (function.column && !function.column->is_null(row))
      node.function = number(known.functions, graph.functions, (*function.column)[row]);
    if (block) node.block = table.column<std::int32_t>(*block)[row];
    graph.nodes.push_back(node);
    if (full.column) graph.full_texts.emplace_back((*full.column)[row]);
    if (value.column) graph.values.emplace_back((*value.column)[row]);
    if (source_node) graph.source_nodes.push_back(table.column<std::int32_t>(*source_node)[row]);
    if (statement) graph.statements.push_back(table.column<std::int32_t>(*statement)[row]);
  }
}

void read_edges(const Table& table, std::map<std::int64_t, ProgramGraph>& graphs) {
  if (table.empty()) return;
  const auto graph_id = table.column<std::int64_t>("graph_id");
  const auto src = table.column<std::int32_t>("src"), dst = table.column<std::int32_t>("dst");
  const OptionalText kind(table, "kind");
  const auto position = table.find("position");
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const auto at = graphs.find(graph_id[row]);
    const auto inside = [&](std::int32_t node) {
      return at != graphs.end() && node >= 0 &&
             node < static_cast<std::int32_t>(at->second.nodes.size());
    };
    if (!inside(src[row]) || !inside(dst[row]))
      throw Error(OMEN_INVALID_DATA, "edge " + std::to_string(row) + " of graph " +
                                         std::to_string(graph_id[row]) +
                                         " names a node that does not exist");
    Edge edge{src[row], dst[row], 0, Flow::kData};
    if (kind.column) edge.flow = enumerator<Flow>((*kind.column)[row], kFlowNames, "edge kind");
    if (position) edge.position = table.column<std::int32_t>(*position)[row];
    at->second.edges.push_back(edge);
  }
}

}  // namespace

std::int32_t TextTable::code(std::string_view text) {
  const auto [at, fresh] =
      codes_.try_emplace(std::string(text), static_cast<std::int32_t>(graph_.texts.size()));
  if (fresh) graph_.texts.emplace_back(text);
  return at->second;
}

GraphTables to_tables(const std::vector<ProgramGraph>& graphs, const char* dialect,
                      std::int64_t first_id) {
  return {nodes_table(graphs, dialect, first_id), edges_table(graphs, dialect, first_id)};
}

std::vector<ProgramGraph> from_tables(const Table& nodes, const Table& edges) {
  std::map<std::int64_t, ProgramGraph> graphs;
  read_nodes(nodes, graphs);
  read_edges(edges, graphs);
  std::vector<ProgramGraph> list;
  list.reserve(graphs.size());
  for (auto& [id, graph] : graphs) list.push_back(std::move(graph));
  return list;
}

}  // namespace omen::loadbalance
