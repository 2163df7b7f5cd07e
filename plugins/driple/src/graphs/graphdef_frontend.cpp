// SPDX-License-Identifier: Apache-2.0
// A file to tables: those of step/1, with operation, device and size as the published networks see
// them.
#include "graphdef_frontend.hpp"

#include <omen/tables.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <omen/host.hpp>
#include <omen/opgraph/tables.hpp>
#include <optional>

#include "graph_file.hpp"
#include "graphdef_steps.hpp"

namespace omen::driple {
namespace {

Table edge_table(const std::vector<GraphEdge>& edges) {
  std::vector<std::int64_t> graph(edges.size(), 0);
  std::vector<std::int32_t> src, dst, kind, position;
  for (const GraphEdge& edge : edges) {
    src.push_back(edge.src), dst.push_back(edge.dst);
    kind.push_back(static_cast<std::int32_t>(edge.kind));
    position.push_back(edge.position);
  }
  TableBuilder table;
  table.add(OMEN_COLUMN_GRAPH_ID, std::move(graph))
      .add(OMEN_COLUMN_SRC, std::move(src))
      .add(OMEN_COLUMN_DST, std::move(dst))
      .add_dictionary(OMEN_COLUMN_KIND, std::move(kind), {"data", "control", "back"})
      .add(OMEN_COLUMN_POSITION, std::move(position));
  return table.finish();
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The length of a field at `at`, which is moved behind it; nothing where the head ends before.
std::optional<std::size_t> length_at(std::string_view head, std::size_t& at) {
  std::size_t length = 0;
  for (unsigned shift = 0; at < head.size() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(head[at++]);
    length |= static_cast<std::size_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return length;
  }
  return std::nullopt;
}

// A text field with that tag at `at`, which is moved behind it; empty where there is none.
std::string_view text_at(std::string_view head, std::size_t& at, char tag) {
  if (at >= head.size() || head[at] != tag) return {};
  const auto length = length_at(head, ++at);
  if (!length || *length > head.size() - at) return {};
  at += *length;
  return head.substr(at - *length, *length);
}

// Other messages start with a node as well, but only here a node starts with its name and op.
bool looks_like_graphdef_binary(std::string_view head) {
  std::size_t at = 1;
  if (head.empty() || head[0] != '\x0a' || !length_at(head, at)) return false;
  const std::string_view name = text_at(head, at, '\x0a');
  const std::string_view op = text_at(head, at, '\x12');
  const auto of_a_word = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '>'; };
  return !name.empty() && !op.empty() && std::all_of(op.begin(), op.end(), of_a_word);
}

}  // namespace

int GraphdefFrontend::sniff(const char* path, std::string_view head) {
  if (head.data() == nullptr || path == nullptr) return 0;
  const std::string_view name(path);
  // Graphs of other messages have nodes too, but none with an op.
  const bool text = looks_like_graphdef_text(head) && head.find("op:") != head.npos;
  if (ends_with(name, ".pbtxt") || ends_with(name, ".pb.txt")) return text ? 95 : 0;
  if (ends_with(name, ".pb") || ends_with(name, ".graphdef"))
    return text ? 80 : looks_like_graphdef_binary(head) ? 70 : 0;
  return 0;
}

void GraphdefFrontend::lower(const char* path, const TablesOut& out, const Run&) {
  const std::string content =
      read_graph_file(path, "driple.graphdef", "Give a .pb or .pbtxt file.");
  const std::filesystem::path place(path);
  GraphSteps steps = graph_steps(read_graphdef(content, place.filename().string()),
                                 place.stem().string(), options_.batch);
  for (const std::string& sentence : steps.warnings)
    log(OMEN_LOG_WARN, "driple.graphdef", place.filename().string() + ": " + sentence);
  const std::span<const opgraph::Job> jobs(&steps.job, 1);
  out.put(OMEN_TABLE_WORKLOADS, opgraph::workload_columns(jobs).finish());
  out.put(OMEN_TABLE_NODES, opgraph::node_columns(jobs)
                                .add_categories("source_op", steps.ops)
                                .add_categories("device", steps.devices)
                                .add("tensor_size", steps.tensor_sizes)
                                .finish());
  out.put(OMEN_TABLE_EDGES, edge_table(steps.edges));
}

}  // namespace omen::driple
