// SPDX-License-Identifier: Apache-2.0
// Lays out nothing itself: writes text, and leaves the drawing to graphviz.
#include "graph_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>
#include <unordered_map>
#include <vector>

#include "child_process.hpp"
#include "json_writer.hpp"
#include "machine.hpp"
#include "render.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

struct Family {
  const char* name;
  const char* fill;
  const char* line;
};
// Indexed by OpFamily; fills are light enough for black text and differ in lightness for
// colour-blind eyes.
constexpr std::array<Family, 7> kFamilies = {{{"compute", "#a7c7f2", "#3a6fb0"},
                                              {"elementwise", "#fbe3a3", "#b48a1c"},
                                              {"reduce, normalise", "#d9c2f0", "#7a4fa3"},
                                              {"memory, layout", "#bfe5c6", "#3f8a52"},
                                              {"control", "#f6c1bd", "#b34a43"},
                                              {"data", "#eceff3", "#8a94a3"},
                                              {"other", "#ffffff", "#6b7280"}}};

struct EdgeStyle {
  const char* kind;
  const char* attributes;
  const char* colour;
  const char* sample;
};
constexpr EdgeStyle kEdgeStyles[] = {
    {"data", "color=\"#4b5563\"", "#4b5563", "&#8212;&#8212;"},
    {"control", "color=\"#b34a43\" style=dashed", "#b34a43", "- - -"},
    {"call", "color=\"#7a4fa3\" style=bold", "#7a4fa3", "&#9473;&#9473;"},
    {"type", "color=\"#9ca3af\" style=dotted", "#9ca3af", "&#183; &#183; &#183;"}};

const EdgeStyle& edge_style(std::string_view kind) {
  for (const EdgeStyle& style : kEdgeStyles)
    if (kind == style.kind) return style;
  return kEdgeStyles[0];
}

std::string dot_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::vector<std::int64_t> integers(const Table& table, const char* column) {
  std::vector<std::int64_t> values;
  for (const double value : table.numbers(column))
    values.push_back(static_cast<std::int64_t>(value));
  return values;
}

std::vector<std::string> texts(const Table& table, const char* column, const char* otherwise) {
  std::vector<std::string> values(static_cast<std::size_t>(table.rows()), otherwise);
  const auto at = table.find(column);
  if (!at || !is_text(table.type(*at))) return values;
  const StringColumn strings = table.strings(*at);
  for (std::int64_t row = 0; row < table.rows(); ++row)
    values[static_cast<std::size_t>(row)] = strings[row];
  return values;
}

// The rows of both tables that belong to each graph, in file order.
struct GraphRows {
  std::int64_t id = 0;
  std::vector<std::int64_t> nodes, edges;
};

std::vector<GraphRows> graphs_in(const Tables& tables) {
  const auto nodes = tables.find("nodes");
  if (nodes == tables.end())
    throw Error(OMEN_INVALID_DATA, "the input has no graph: there is no table 'nodes'");
  std::vector<GraphRows> graphs;
  std::unordered_map<std::int64_t, std::size_t> index;
  const auto node_graphs = integers(nodes->second, "graph_id");
  for (std::size_t row = 0; row < node_graphs.size(); ++row) {
    const auto [at, fresh] = index.try_emplace(node_graphs[row], graphs.size());
    if (fresh) graphs.push_back({node_graphs[row], {}, {}});
    graphs[at->second].nodes.push_back(static_cast<std::int64_t>(row));
  }
  const auto edges = tables.find("edges");
  if (edges == tables.end()) return graphs;
  const auto edge_graphs = integers(edges->second, "graph_id");
  for (std::size_t row = 0; row < edge_graphs.size(); ++row)
    if (const auto at = index.find(edge_graphs[row]); at != index.end())
      graphs[at->second].edges.push_back(static_cast<std::int64_t>(row));
  return graphs;
}

void write_cell(JsonWriter& json, const Table& table, std::size_t column, std::int64_t row) {
  const Type type = table.type(column);
  if (table.is_null(column, row)) {
    json.null();
  } else if (type == Type::kBool) {
    json.value(table.boolean(column, row));
  } else if (is_text(type)) {
    json.value(table.strings(column)[row]);
  } else if (type == Type::kInt64) {
    json.value(table.column<std::int64_t>(column)[row]);
  } else if (type == Type::kFloatList || type == Type::kIntList) {
    std::string list = "[";
    for (std::int64_t i = 0; i < table.list_size(column); ++i) {
      JsonWriter number;
      if (type == Type::kFloatList)
        number.value(static_cast<double>(table.list<float>(column)[row][i]));
      else
        number.value(table.list<std::int32_t>(column)[row][i]);
      const std::string text = number.text();
      list += (i ? ", " : "") + text.substr(0, text.size() - 1);
    }
    json.raw(list + "]");
  } else {
    json.value(table.slice(row, 1).numbers(column)[0]);
  }
}

// Columns of one row as fields; `renamed` maps names, an empty new name leaves the column out.
void write_fields(JsonWriter& json, const Table& table, std::int64_t row,
                  const std::map<std::string, std::string>& renamed) {
  for (std::size_t c = 0; c < table.columns(); ++c) {
    std::string name(table.name(c));
    if (const auto at = renamed.find(name); at != renamed.end()) name = at->second;
    if (name.empty()) continue;
    json.key(name);
    write_cell(json, table, c, row);
  }
}

void write_graph(JsonWriter& json, const Tables& tables, const GraphRows& graph,
                 std::int64_t workload) {
  const Table& nodes = tables.at("nodes");
  json.object().field("format_version", 1).field("directed", true).field("multigraph", true);
  json.key("graph").object();
  const std::string dialect = nodes.metadata("omen.dialect");
  if (!dialect.empty()) json.field("dialect", dialect);
  if (workload >= 0)
    write_fields(json, tables.at("workloads"), workload, {{"workload_id", ""}, {"graph_id", ""}});
  json.end().key("nodes").array();
  for (const std::int64_t row : graph.nodes) {
    json.object();
    write_fields(json, nodes, row, {{"graph_id", ""}, {"node_id", "id"}});
    json.end();
  }
  json.end().key("links").array();
  for (const std::int64_t row : graph.edges) {
    json.object();
    write_fields(json, tables.at("edges"), row,
                 {{"graph_id", ""}, {"src", "source"}, {"dst", "target"}});
    json.end();
  }
  json.end().end();
}

// The first workload of each graph.
std::unordered_map<std::int64_t, std::int64_t> workload_of_graph(const Tables& tables) {
  std::unordered_map<std::int64_t, std::int64_t> rows;
  const auto at = tables.find("workloads");
  if (at == tables.end()) return rows;
  const char* column = at->second.has("graph_id") ? "graph_id" : "workload_id";
  const auto ids = integers(at->second, column);
  for (std::size_t row = 0; row < ids.size(); ++row)
    rows.try_emplace(ids[row], static_cast<std::int64_t>(row));
  return rows;
}

std::string most_frequent(const std::map<std::string, std::int64_t>& counts, std::size_t shown) {
  std::vector<std::pair<std::string, std::int64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](auto& a, auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, order.size()); ++i)
    text += (i ? ", " : "") + order[i].first + " " + std::to_string(order[i].second);
  return text;
}

// Writes the body of a drawing and counts what the legend must explain.
class Drawing {
 public:
  Drawing(const Tables& tables, std::int64_t max_nodes)
      : tables_(tables),
        nodes_(tables.at("nodes")),
        left_(max_nodes),
        ids_(integers(nodes_, "node_id")),
        ops_(texts(nodes_, "op", "?")),
        types_(texts(nodes_, "type", "")),
        details_(texts(nodes_, "full_text", "")) {
    if (const auto edges = tables.find("edges");
        edges != tables.end() && edges->second.rows() > 0) {
      src_ = integers(edges->second, "src");
      dst_ = integers(edges->second, "dst");
      kinds_ = texts(edges->second, "kind", "data");
    }
  }

  void add(const GraphRows& graph, const std::string& name, bool framed) {
    if (left_ <= 0) {
      hidden_ += static_cast<std::int64_t>(graph.nodes.size());
      return;
    }
    const std::string prefix = "g" + std::to_string(graph.id) + "_";
    if (framed)
      body_ += "  subgraph \"cluster_" + prefix + "\" { label=\"" + dot_text(name) +
               "\" style=\"rounded\" color=\"#d1d5db\" fontcolor=\"#374151\" fontsize=12\n";
    std::unordered_map<std::int64_t, bool> drawn;
    for (const std::int64_t row : graph.nodes) {
      if (left_ <= 0) {
        ++hidden_;
        continue;
      }
      --left_;
      add_node(prefix, static_cast<std::size_t>(row));
      drawn[ids_[static_cast<std::size_t>(row)]] = true;
    }
    for (const std::int64_t row : graph.edges)
      add_edge(prefix, static_cast<std::size_t>(row), drawn);
    if (framed) body_ += "  }\n";
  }

  std::string text(const std::string& title) const {
    std::string out =
        "digraph omen {\n  graph [fontname=\"Helvetica,Arial,sans-serif\" fontsize=16 labelloc=t "
        "pad=0.4 "
        "nodesep=0.25 ranksep=0.4 bgcolor=\"#ffffff\" label=\"" +
        dot_text(title) +
        "\\n \"]\n"
        "  node [fontname=\"Helvetica,Arial,sans-serif\" fontsize=11 shape=box "
        "style=\"rounded,filled\" "
        "margin=\"0.12,0.05\" height=0.3 penwidth=1.2]\n"
        "  edge [arrowsize=0.6 penwidth=1.1 fontname=\"Helvetica,Arial,sans-serif\" fontsize=9]\n";
    out += body_;
    if (hidden_ > 0)
      out += "  hidden [shape=plaintext style=\"\" fontcolor=\"#6b7280\" label=\"" +
             std::to_string(hidden_) + " more nodes are not drawn\\n(--max-nodes)\"]\n";
    return out + legend() + "}\n";
  }

 private:
  void add_node(const std::string& prefix, std::size_t row) {
    // Program graphs hold variables and constants as nodes of their own; they are data whatever
    // their text.
    const bool data =
        types_[row] == "variable" || types_[row] == "constant" || types_[row] == "type";
    const auto family = static_cast<std::size_t>(data ? OpFamily::kData : op_family(ops_[row]));
    ++families_[family];
    const std::string shape = data ? " shape=ellipse style=filled" : "";
    const std::string& detail = details_[row].empty() ? ops_[row] : details_[row];
    constexpr int kLabelWidth = 24;
    body_ += "  " + prefix + std::to_string(ids_[row]) + " [label=\"" +
             dot_text(clip(ops_[row], kLabelWidth)) + "\" tooltip=\"" + dot_text(detail) +
             "\" fillcolor=\"" + kFamilies[family].fill + "\" color=\"" + kFamilies[family].line +
             "\"" + shape + "]\n";
  }

  void add_edge(const std::string& prefix, std::size_t row,
                const std::unordered_map<std::int64_t, bool>& drawn) {
    if (!drawn.count(src_[row]) || !drawn.count(dst_[row])) return;
    ++edge_kinds_[kinds_[row]];
    body_ += "  " + prefix + std::to_string(src_[row]) + " -> " + prefix +
             std::to_string(dst_[row]) + " [" + edge_style(kinds_[row]).attributes + " tooltip=\"" +
             dot_text(kinds_[row]) + "\"]\n";
  }

  std::string legend() const {
    std::string rows;
    for (std::size_t i = 0; i < kFamilies.size(); ++i) {
      if (families_[i] == 0) continue;
      rows += std::string("<TR><TD BGCOLOR=\"") + kFamilies[i].fill + "\" COLOR=\"" +
              kFamilies[i].line + "\" BORDER=\"1\" WIDTH=\"22\"></TD><TD ALIGN=\"LEFT\">" +
              html_text(kFamilies[i].name) + "</TD><TD ALIGN=\"RIGHT\">" +
              std::to_string(families_[i]) + "</TD></TR>";
    }
    for (const auto& [kind, count] : edge_kinds_)
      rows += std::string("<TR><TD><FONT COLOR=\"") + edge_style(kind).colour + "\">" +
              edge_style(kind).sample + "</FONT></TD><TD ALIGN=\"LEFT\">" + html_text(kind) +
              "</TD><TD ALIGN=\"RIGHT\">" + std::to_string(count) + "</TD></TR>";
    return "  { rank=sink; legend [shape=plaintext style=\"\" fontsize=10 fontcolor=\"#374151\" "
           "tooltip=legend label=<"
           "<TABLE BORDER=\"1\" COLOR=\"#d1d5db\" CELLBORDER=\"0\" CELLSPACING=\"3\" "
           "CELLPADDING=\"2\" STYLE=\"ROUNDED\">" +
           rows + "</TABLE>>] }\n";
  }

  const Tables& tables_;
  const Table& nodes_;
  std::int64_t left_, hidden_ = 0;
  std::vector<std::int64_t> ids_, src_, dst_;
  std::vector<std::string> ops_, types_, details_, kinds_;
  std::string body_;
  std::array<std::int64_t, kFamilies.size()> families_{};
  std::map<std::string, std::int64_t> edge_kinds_;
};

}  // namespace

OpFamily op_family(std::string_view op) {
  struct Word {
    const char* part;
    OpFamily family;
  };
  using enum OpFamily;
  // First match wins, so the special names stand before the short ones that they contain.
  static constexpr Word kWords[] = {{"batchnorm", kReduce},    {"layernorm", kReduce},
                                    {"norm", kReduce},         {"softmax", kReduce},
                                    {"pool", kReduce},         {"reduce", kReduce},
                                    {"mean", kReduce},         {"argmax", kReduce},
                                    {"cumsum", kReduce},       {"conv", kCompute},
                                    {"matmul", kCompute},      {"gemm", kCompute},
                                    {"dense", kCompute},       {"linear", kCompute},
                                    {"einsum", kCompute},      {"attention", kCompute},
                                    {"lstm", kCompute},        {"gru", kCompute},
                                    {"fma", kCompute},         {"biasadd", kElementwise},
                                    {"addn", kElementwise},    {"getelementptr", kMemory},
                                    {"load", kMemory},         {"store", kMemory},
                                    {"alloca", kMemory},       {"memcpy", kMemory},
                                    {"gather", kMemory},       {"scatter", kMemory},
                                    {"concat", kMemory},       {"reshape", kMemory},
                                    {"transpose", kMemory},    {"slice", kMemory},
                                    {"split", kMemory},        {"pad", kMemory},
                                    {"pack", kMemory},         {"squeeze", kMemory},
                                    {"expanddims", kMemory},   {"tile", kMemory},
                                    {"flatten", kMemory},      {"copy", kMemory},
                                    {"embedding", kMemory},    {"const", kData},
                                    {"placeholder", kData},    {"variable", kData},
                                    {"param", kData},          {"input", kData},
                                    {"identity", kData},       {"output", kData},
                                    {"switch", kControl},      {"while", kControl},
                                    {"loop", kControl},        {"branch", kControl},
                                    {"merge", kControl},       {"ret", kControl},
                                    {"phi", kControl},         {"call", kControl},
                                    {"barrier", kControl},     {"select", kControl},
                                    {"relu", kElementwise},    {"sigmoid", kElementwise},
                                    {"tanh", kElementwise},    {"gelu", kElementwise},
                                    {"add", kElementwise},     {"sub", kElementwise},
                                    {"mul", kElementwise},     {"div", kElementwise},
                                    {"rem", kElementwise},     {"exp", kElementwise},
                                    {"log", kElementwise},     {"sqrt", kElementwise},
                                    {"pow", kElementwise},     {"max", kElementwise},
                                    {"min", kElementwise},     {"cmp", kElementwise},
                                    {"cast", kElementwise},    {"ext", kElementwise},
                                    {"trunc", kElementwise},   {"shl", kElementwise},
                                    {"shr", kElementwise},     {"xor", kElementwise},
                                    {"dropout", kElementwise}, {"sum", kReduce}};
  std::string lower;
  for (const char c : op)
    if (c != '_') lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "br") return kControl;
  if (lower == "and" || lower == "or") return kElementwise;
  for (const Word& word : kWords)
    if (lower.find(word.part) != std::string::npos) return word.family;
  return kOther;
}

std::string graph_json(const Tables& tables) {
  const auto graphs = graphs_in(tables);
  const auto workloads = workload_of_graph(tables);
  JsonWriter json;
  if (graphs.size() != 1) json.array();
  for (const GraphRows& graph : graphs) {
    const auto at = workloads.find(graph.id);
    write_graph(json, tables, graph, at == workloads.end() ? -1 : at->second);
  }
  if (graphs.size() != 1) json.end();
  return json.text();
}

std::string graph_dot(const Tables& tables, const std::string& title, std::int64_t max_nodes) {
  const auto graphs = graphs_in(tables);
  const auto workloads = workload_of_graph(tables);
  const auto at = tables.find("workloads");
  const std::vector<std::string> names =
      at == tables.end() ? std::vector<std::string>() : texts(at->second, "name", "");
  Drawing drawing(tables, max_nodes);
  for (const GraphRows& graph : graphs) {
    const auto row = workloads.find(graph.id);
    const std::string name =
        row == workloads.end() ? "" : names[static_cast<std::size_t>(row->second)];
    drawing.add(graph, name.empty() ? "graph " + std::to_string(graph.id) : name,
                graphs.size() > 1);
  }
  return drawing.text(title);
}

void write_svg(const fs::path& path, const std::string& dot_text) {
  constexpr std::chrono::seconds kPatience{120};
  const fs::path program = find_program("dot");
  if (program.empty())
    throw Error(OMEN_UNAVAILABLE,
                "drawing needs the program 'dot' of graphviz, which is not installed",
                "apt install graphviz, or write " + path.stem().string() + ".dot instead");
  const fs::path source = fs::temp_directory_path() / ("omen-" + std::to_string(getpid()) + ".dot");
  std::ofstream(source) << dot_text;
  SpawnRequest request;
  request.program = program;
  request.arguments = {"-Tsvg", "-o", path.string(), source.string()};
  ChildProcess child(std::move(request));
  const bool ended = child.wait_end(kPatience);
  std::error_code ignored;
  fs::remove(source, ignored);
  if (!ended) {
    child.kill();
    throw Error(OMEN_TIMEOUT,
                "dot did not finish the layout of " + path.string() + " within two minutes",
                "draw fewer nodes with --max-nodes");
  }
  if (!child.end_reason().empty())
    throw Error(OMEN_IO, "dot failed on " + path.string() + " (" + child.end_reason() +
                             "): " + child.stderr_tail());
}

GraphFacts graph_facts(const Tables& tables) {
  GraphFacts facts;
  if (!tables.count("nodes")) return facts;
  facts.graphs = static_cast<std::int64_t>(graphs_in(tables).size());
  facts.nodes = tables.at("nodes").rows();
  std::map<std::string, std::int64_t> ops, kinds;
  for (const std::string& op : texts(tables.at("nodes"), "op", "?")) ++ops[op];
  facts.ops = static_cast<std::int64_t>(ops.size());
  facts.frequent_ops = most_frequent(ops, 4);
  if (const auto edges = tables.find("edges"); edges != tables.end()) {
    facts.edges = edges->second.rows();
    for (const std::string& kind : texts(edges->second, "kind", "data")) ++kinds[kind];
    facts.edge_kinds = most_frequent(kinds, 4);
  }
  return facts;
}

}  // namespace omen::host
