// SPDX-License-Identifier: Apache-2.0
// Drawings of graphs as text, whose layout is left to graphviz.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "graphs/drawing_layout.hpp"
#include "graphs/drawing_style.hpp"
#include "graphs/graph_output.hpp"
#include "graphs/graph_rows.hpp"
#include "text/render.hpp"

namespace omen::host {
namespace {

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

// "_Z13get_global_idj" reads "get_global_id"; other names stay.
std::string short_name(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;
  std::size_t at = 2, length = 0;
  while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) && length < 1000)
    length = length * 10 + static_cast<std::size_t>(name[at++] - '0');
  return length > 0 && at + length <= name.size() ? name.substr(at, length) : name;
}

// Writes the body of a drawing and counts what the legend must explain.
class Drawing {
 public:
  Drawing(const Tables& tables, std::int64_t max_nodes)
      : nodes_(tables.at("nodes")),
        left_(max_nodes),
        ids_(integers(nodes_, "node_id")),
        ops_(texts(nodes_, "op", "?")),
        types_(texts(nodes_, "type", "")),
        details_(texts(nodes_, "full_text", "")),
        functions_(texts(nodes_, "function", "")),
        blocks_(nodes_.has("block") ? integers(nodes_, "block")
                                    : std::vector<std::int64_t>(ids_.size(), -1)),
        program_(nodes_.has("type") && nodes_.has("function")) {
    for (std::size_t row = 0; row < ids_.size(); ++row) styles_.push_back(style_of(row));
    if (const auto edges = tables.find("edges");
        edges != tables.end() && edges->second.rows() > 0) {
      src_ = integers(edges->second, "src");
      dst_ = integers(edges->second, "dst");
      kinds_ = texts(edges->second, "kind", "data");
      positions_ = edges->second.has("position") ? integers(edges->second, "position")
                                                 : std::vector<std::int64_t>(src_.size(), 0);
    }
  }

  void add(const GraphRows& graph, const std::string& name, bool framed) {
    if (left_ <= 0) {
      hidden_ += static_cast<std::int64_t>(graph.nodes.size());
      return;
    }
    prefix_ = "g" + std::to_string(graph.id) + "_";
    if (framed)
      body_ += "  subgraph \"cluster_" + prefix_ + "\" { label=\"" + dot_text(name) +
               "\" style=\"rounded\" color=\"#d1d5db\" fontcolor=\"#374151\" fontsize=12\n";
    folded_ = program_ && static_cast<std::int64_t>(graph.nodes.size()) > kMostLoose;
    take_rows(graph);
    find_callees();
    if (folded_) {
      any_folded_ = true;
      add_listings();
    } else {
      add_nodes();
      for (const std::size_t row : edges_) add_edge(row);
    }
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
  // Larger programs are drawn as listings: graphviz needs minutes for a long spine of loose nodes,
  // and nobody can read the result.
  static constexpr std::int64_t kMostLoose = 160;

  std::size_t style_of(std::size_t row) const {
    if (types_[row] == "variable") return kVariableStyle;
    if (types_[row] == "constant") return kConstantStyle;
    if (types_[row] == "type") return kTypeStyle;
    if (program_ && ops_[row] == "[external]") return kOutsideStyle;
    if (program_ && ops_[row] == "; undefined function") return kDeclaredStyle;
    return static_cast<std::size_t>(op_family(ops_[row]));
  }

  // The nodes of one graph that fit, and the edges between them.
  void take_rows(const GraphRows& graph) {
    rows_.clear();
    edges_.clear();
    row_of_.clear();
    for (const std::int64_t row : graph.nodes) {
      const auto at = static_cast<std::size_t>(row);
      const bool costs = !folded_ || styles_[at] < kFamilyCount;
      if (left_ <= 0 && costs) {
        ++hidden_;
        continue;
      }
      left_ -= costs;
      rows_.push_back(at);
      row_of_[ids_[at]] = at;
    }
    for (const std::int64_t row : graph.edges) {
      const auto at = static_cast<std::size_t>(row);
      if (row_of_.count(src_[at]) && row_of_.count(dst_[at])) edges_.push_back(at);
    }
  }

  // The node before the edge, and the one behind it.
  std::size_t source(std::size_t edge) const { return row_of_.at(src_[edge]); }
  std::size_t target(std::size_t edge) const { return row_of_.at(dst_[edge]); }

  void find_callees() {
    callees_.clear();
    branches_.clear();
    for (const std::size_t edge : edges_) {
      if (kinds_[edge] == "call" && ops_[source(edge)] == "call")
        callees_[source(edge)] = short_name(functions_[target(edge)]);
      if (kinds_[edge] == "control") ++branches_[source(edge)];
    }
  }

  void add_nodes() {
    std::multimap<std::size_t, std::size_t> users;
    for (const std::size_t edge : edges_)
      if (kinds_[edge] == "data" || kinds_[edge] == "type")
        users.emplace(source(edge), target(edge));
    DrawingLayout layout(functions_, blocks_, styles_);
    layout.arrange(rows_, users);
    std::map<DrawnPlace, std::vector<std::size_t>> places;
    for (const std::size_t row : rows_) places[layout.place(row)].push_back(row);
    std::int64_t open = -1;
    for (const auto& [place, rows] : places) {
      if (place.function != open) {
        if (open >= 0) body_ += "  }\n";
        open = place.function;
        if (open >= 0) open_function(open, layout.function(open));
      }
      if (place.block >= 0) open_block(place);
      for (const std::size_t row : rows) add_node(row);
      if (place.block >= 0) body_ += "  }\n";
    }
    if (open >= 0) body_ += "  }\n";
  }

  void open_function(std::int64_t number, const std::string& name) {
    body_ += "  subgraph \"cluster_" + prefix_ + "f" + std::to_string(number) + "\" { label=\"" +
             dot_text(short_name(name)) + "\" tooltip=\"" + dot_text(name) +
             "\" labeljust=l style=\"rounded,filled\" fillcolor=\"#f8fafc\" color=\"#94a3b8\" "
             "fontcolor=\"#334155\" fontsize=14 margin=14\n";
  }
  void open_block(const DrawnPlace& place) {
    body_ += "  subgraph \"cluster_" + prefix_ + "f" + std::to_string(place.function) + "b" +
             std::to_string(place.block) + "\" { label=\"block " + std::to_string(place.block) +
             "\" labeljust=r style=\"rounded,filled\" fillcolor=\"#ffffff\" color=\"#dbe2ea\" "
             "fontcolor=\"#94a3b8\" fontsize=9 margin=10\n";
  }

  // One table for each block, with a line for each instruction; values flow between the lines of
  // different blocks, and what flows within a block is left to the eye.
  void add_listings() {
    std::map<std::string, std::int64_t> numbers;
    std::map<DrawnPlace, std::vector<std::size_t>> blocks;
    for (const std::size_t row : rows_) {
      if (styles_[row] >= kFamilyCount) {
        ++style_counts_[styles_[row]];
        continue;
      }
      const auto number =
          numbers.try_emplace(functions_[row], static_cast<std::int64_t>(numbers.size()));
      blocks[{number.first->second, blocks_[row]}].push_back(row);
    }
    std::unordered_map<std::size_t, std::string> ports;
    std::int64_t open = -1;
    for (const auto& [place, rows] : blocks) {
      if (place.function != open) {
        if (open >= 0) body_ += "  }\n";
        open = place.function;
        open_function(open, functions_[rows[0]]);
      }
      add_listing(place, rows, ports);
    }
    if (open >= 0) body_ += "  }\n";
    add_listing_edges(ports);
  }

  void add_listing(const DrawnPlace& place, const std::vector<std::size_t>& rows,
                   std::unordered_map<std::size_t, std::string>& ports) {
    const std::string node =
        prefix_ + "f" + std::to_string(place.function) + "b" + std::to_string(place.block);
    body_ += "  " + node + " [shape=plain style=\"\" tooltip=\"block " +
             std::to_string(place.block) +
             "\" label=<<TABLE BORDER=\"1\" COLOR=\"#94a3b8\" BGCOLOR=\"#ffffff\" "
             "CELLBORDER=\"0\" CELLSPACING=\"1\" CELLPADDING=\"2\"><TR><TD PORT=\"top\" "
             "ALIGN=\"LEFT\"><FONT POINT-SIZE=\"9\" COLOR=\"#94a3b8\">block " +
             std::to_string(place.block) + "</FONT></TD></TR>";
    for (const std::size_t row : rows) {
      ++style_counts_[styles_[row]];
      ports[row] = node + ":n" + std::to_string(ids_[row]);
      body_ += "<TR><TD ALIGN=\"LEFT\" PORT=\"n" + std::to_string(ids_[row]) + "\" BGCOLOR=\"" +
               kNodeStyles[styles_[row]].fill + "\">" + line_text(row) + "</TD></TR>";
    }
    body_ += "</TABLE>>]\n";
  }

  std::string line_text(std::size_t row) const {
    constexpr int kLineWidth = 72;
    if (!details_[row].empty()) {
      std::string line = details_[row];
      std::replace(line.begin(), line.end(), '\n', ' ');
      return html_text(clip(line, kLineWidth));
    }
    const auto callee = callees_.find(row);
    return html_text(ops_[row]) +
           (callee == callees_.end() ? "" : " <I>" + html_text(callee->second) + "</I>");
  }

  void add_listing_edges(const std::unordered_map<std::size_t, std::string>& ports) {
    const auto block_of = [&](std::size_t row) {
      return std::string_view(ports.at(row)).substr(0, ports.at(row).find(':'));
    };
    std::unordered_map<std::size_t, std::size_t> definers;
    for (const std::size_t edge : edges_) {
      ++edge_kinds_[kinds_[edge]];
      if (kinds_[edge] == "data" && styles_[target(edge)] == kVariableStyle &&
          ports.count(source(edge)))
        definers[target(edge)] = source(edge);
    }
    std::set<std::pair<std::size_t, std::size_t>> flows;
    for (const std::size_t edge : edges_) {
      const std::size_t from = source(edge), to = target(edge);
      if (!ports.count(to)) continue;
      if (kinds_[edge] == "control" && ports.count(from) && block_of(from) != block_of(to)) {
        body_ += "  " + ports.at(from) + ":s -> " + std::string(block_of(to)) + ":top:n [" +
                 edge_style("control", true).attributes + edge_text(edge) + "]\n";
      } else if (kinds_[edge] == "data") {
        const auto definer = definers.find(from);
        const std::size_t start = definer == definers.end() ? from : definer->second;
        if (ports.count(start) && block_of(start) != block_of(to)) flows.emplace(start, to);
      }
    }
    for (const auto& [from, to] : flows)
      body_ += "  " + ports.at(from) + ":e -> " + ports.at(to) +
               ":e [color=\"#5b8fc9a0\" penwidth=0.8 arrowsize=0.5 constraint=false tooltip=\"" +
               dot_text(ops_[from]) + " to " + dot_text(ops_[to]) + "\"]\n";
  }

  // Values show what they are, and operations their name; what does not fit is in the tooltip.
  std::string label(std::size_t row) const {
    constexpr int kWidth = 24;
    if (styles_[row] == kOutsideStyle) return "outside";
    if (styles_[row] == kDeclaredStyle) return dot_text(clip(short_name(functions_[row]), kWidth));
    const bool value = styles_[row] == kVariableStyle || styles_[row] == kConstantStyle;
    const std::string& text = value && !details_[row].empty() ? details_[row] : ops_[row];
    std::string out = dot_text(clip(text, kWidth));
    if (const auto callee = callees_.find(row); callee != callees_.end())
      out += "\\n" + dot_text(clip(callee->second, kWidth));
    return out;
  }

  void add_node(std::size_t row) {
    const NodeStyle& style = kNodeStyles[styles_[row]];
    ++style_counts_[styles_[row]];
    const std::string& detail = !details_[row].empty()           ? details_[row]
                                : styles_[row] == kDeclaredStyle ? functions_[row]
                                                                 : ops_[row];
    body_ += "  " + prefix_ + std::to_string(ids_[row]) + " [label=\"" + label(row) +
             "\" tooltip=\"" + dot_text(detail) + "\" fillcolor=\"" + style.fill + "\" color=\"" +
             style.line + "\"" + style.shape + "]\n";
  }

  // Which way a branch goes, and which operand a value is.
  std::string edge_text(std::size_t edge) const {
    const std::string position = std::to_string(positions_[edge]);
    if (kinds_[edge] == "control" && branches_.at(source(edge)) > 1) {
      if (ops_[source(edge)] != "br") return " label=\" " + position + "\"";
      return positions_[edge] == 0 ? " label=\" yes\"" : " label=\" no\"";
    }
    if (kinds_[edge] == "data" && styles_[target(edge)] < kFamilyCount)
      return " tooltip=\"operand " + position + "\"";
    return " tooltip=\"" + dot_text(kinds_[edge]) + "\"";
  }

  void add_edge(std::size_t edge) {
    ++edge_kinds_[kinds_[edge]];
    std::string attributes = edge_style(kinds_[edge], program_).attributes;
    // A call back up would turn the picture upside down.
    const bool returns = kinds_[edge] == "call" && ops_[source(edge)] != "call" &&
                         styles_[source(edge)] != kOutsideStyle;
    if (program_ && returns) attributes += " constraint=false";
    attributes += program_ ? edge_text(edge) : " tooltip=\"" + dot_text(kinds_[edge]) + "\"";
    body_ += "  " + prefix_ + std::to_string(src_[edge]) + " -> " + prefix_ +
             std::to_string(dst_[edge]) + " [" + attributes + "]\n";
  }

  // Families are named for networks; two of them have plainer names in programs.
  std::string style_name(std::size_t style) const {
    if (program_ && style == static_cast<std::size_t>(OpFamily::kElementwise)) return "arithmetic";
    if (program_ && style == static_cast<std::size_t>(OpFamily::kMemory)) return "memory";
    return kNodeStyles[style].name;
  }

  std::string legend() const {
    std::string rows;
    for (std::size_t i = 0; i < kNodeStyles.size(); ++i) {
      if (style_counts_[i] == 0) continue;
      rows += std::string("<TR><TD BGCOLOR=\"") + kNodeStyles[i].fill + "\" COLOR=\"" +
              kNodeStyles[i].line + "\" BORDER=\"1\" WIDTH=\"22\"></TD><TD ALIGN=\"LEFT\">" +
              html_text(style_name(i)) + "</TD><TD ALIGN=\"RIGHT\">" +
              std::to_string(style_counts_[i]) + "</TD></TR>";
    }
    for (const auto& [kind, count] : edge_kinds_) {
      const EdgeStyle& style = edge_style(kind, program_);
      rows += std::string("<TR><TD><FONT COLOR=\"") + style.colour + "\">" + style.sample +
              "</FONT></TD><TD ALIGN=\"LEFT\">" + html_text(kind) + "</TD><TD ALIGN=\"RIGHT\">" +
              std::to_string(count) + "</TD></TR>";
    }
    if (any_folded_)
      rows +=
          "<TR><TD COLSPAN=\"3\" ALIGN=\"LEFT\">values are folded into their "
          "instructions</TD></TR>";
    return "  { rank=sink; legend [shape=plaintext style=\"\" fontsize=10 fontcolor=\"#374151\" "
           "tooltip=legend label=<"
           "<TABLE BORDER=\"1\" COLOR=\"#d1d5db\" CELLBORDER=\"0\" CELLSPACING=\"3\" "
           "CELLPADDING=\"2\" STYLE=\"ROUNDED\">" +
           rows + "</TABLE>>] }\n";
  }

  const Table& nodes_;
  std::int64_t left_, hidden_ = 0;
  std::vector<std::int64_t> ids_, src_, dst_, positions_;
  std::vector<std::string> ops_, types_, details_, functions_, kinds_;
  std::vector<std::int64_t> blocks_;
  bool program_, folded_ = false, any_folded_ = false;
  std::vector<std::size_t> styles_;
  // Of the graph that is being added: its rows, and what its edges say about them.
  std::string prefix_;
  std::vector<std::size_t> rows_, edges_;
  std::unordered_map<std::int64_t, std::size_t> row_of_;
  std::unordered_map<std::size_t, std::string> callees_;
  std::unordered_map<std::size_t, int> branches_;

  std::string body_;
  std::array<std::int64_t, kNodeStyles.size()> style_counts_{};
  std::map<std::string, std::int64_t> edge_kinds_;
};

}  // namespace

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

}  // namespace omen::host
