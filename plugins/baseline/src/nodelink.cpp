// SPDX-License-Identifier: Apache-2.0
// Node-link JSON to tables, with errors that say where.
#include "nodelink.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <omen/learn/errors.hpp>
#include <set>

namespace omen::baseline {
namespace {

using nlohmann::json;
constexpr const char* kDialect = "ops/1";

/// A value with its place in the document, so that every complaint can name it.
class Place {
 public:
  Place(const json& value, std::string source, std::string path)
      : value_(value), source_(std::move(source)), path_(std::move(path)) {}

  const json& value() const { return value_; }
  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  Place at(const char* key) const {
    if (!value_.is_object()) fail("is not an object");
    const auto found = value_.find(key);
    if (found == value_.end()) fail(std::string("has no \"") + key + "\"");
    return {*found, source_, path_.empty() ? key : path_ + "." + key};
  }
  Place at(std::size_t index) const {
    return {value_[index], source_, path_ + "[" + std::to_string(index) + "]"};
  }
  std::size_t size() const {
    if (!value_.is_array()) fail("is not a list");
    return value_.size();
  }
  std::string text() const {
    if (!value_.is_string()) fail("is not a string");
    return value_.get<std::string>();
  }
  [[noreturn]] void fail(const std::string& what) const {
    learn::throw_bad_data(source_ + ": " + (path_.empty() ? "the document" : path_) + " " + what,
                          "See plugins/baseline/README.md for the node-link form.");
  }

 private:
  const json& value_;
  std::string source_, path_;
};

/// Columns of the workloads table that come from the graphs' own attributes.
struct Attribute {
  bool text = false;
  std::vector<double> numbers;
  std::vector<std::string> strings;
  std::vector<bool> present;
};

struct Tables {
  std::vector<std::int64_t> workload_id, node_graph, edge_graph;
  std::vector<std::string> names, groups, ops, kinds;
  std::vector<std::int32_t> node_id, src, dst, position;
  std::vector<float> feat;
  std::size_t feat_width = 0;
  std::map<std::string, Attribute> attributes;
};

// Node ids are strings or integers; their JSON text tells "1" from 1.
std::string node_key(const Place& id) {
  if (!id.value().is_string() && !id.value().is_number_integer()) {
    id.fail("is neither a string nor an integer");
  }
  return id.value().dump();
}

void read_feat(const Place& feat, bool first_node, Tables& tables) {
  const std::size_t width = feat.size();
  if (first_node) tables.feat_width = width;
  if (width != tables.feat_width) {
    feat.fail("has " + std::to_string(width) + " values, but earlier nodes have " +
              std::to_string(tables.feat_width));
  }
  for (std::size_t i = 0; i < width; ++i) {
    const Place value = feat.at(i);
    if (!value.value().is_number()) value.fail("is not a number");
    tables.feat.push_back(value.value().get<float>());
  }
}

std::map<std::string, std::int32_t> read_nodes(const Place& nodes, std::int64_t graph,
                                               Tables& tables) {
  std::map<std::string, std::int32_t> numbers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Place node = nodes.at(i);
    const auto number = static_cast<std::int32_t>(i);
    if (!numbers.emplace(node_key(node.at("id")), number).second) {
      node.at("id").fail("is used by an earlier node");
    }
    const bool first_node = tables.ops.empty();
    tables.node_graph.push_back(graph);
    tables.node_id.push_back(number);
    tables.ops.push_back(node.at("op").text());
    if (node.has("feat")) {
      if (!first_node && tables.feat_width == 0)
        node.at("feat").fail("is missing in earlier nodes");
      read_feat(node.at("feat"), first_node, tables);
    } else if (tables.feat_width > 0) {
      node.fail("has no \"feat\", but earlier nodes have one");
    }
  }
  return numbers;
}

void read_links(const Place& links, std::int64_t graph,
                const std::map<std::string, std::int32_t>& numbers, Tables& tables) {
  const auto end_of = [&](const Place& end) {
    const auto found = numbers.find(node_key(end));
    if (found == numbers.end()) end.fail("is " + end.value().dump() + ", which is no node's id");
    return found->second;
  };
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Place link = links.at(i);
    std::int32_t position = 0;
    if (link.has("position")) {
      const Place given = link.at("position");
      if (!given.value().is_number_integer()) given.fail("is not an integer");
      position = given.value().get<std::int32_t>();
    }
    tables.edge_graph.push_back(graph);
    tables.src.push_back(end_of(link.at("source")));
    tables.dst.push_back(end_of(link.at("target")));
    tables.kinds.push_back(link.has("kind") ? link.at("kind").text() : "data");
    tables.position.push_back(position);
  }
}

void read_attribute(const Place& value, const std::string& name, std::size_t graph,
                    Tables& tables) {
  const json& given = value.value();
  const bool text = given.is_string();
  if (!text && !given.is_number() && !given.is_boolean()) return;
  const auto [found, fresh] = tables.attributes.emplace(name, Attribute{});
  Attribute& column = found->second;
  if (fresh) column.text = text;
  if (column.text != text) value.fail("is a number in one graph and a text in another");
  column.numbers.resize(graph, 0);
  column.strings.resize(graph);
  column.present.resize(graph, false);
  column.strings.push_back(text ? given.get<std::string>() : "");
  column.numbers.push_back(given.is_boolean() ? (given.get<bool>() ? 1.0 : 0.0)
                           : text             ? 0.0
                                              : given.get<double>());
  column.present.push_back(true);
}

void read_attributes(const Place& graph, std::size_t index, Tables& tables) {
  static const std::set<std::string, std::less<>> reserved = {"name", "group", "workload_id",
                                                              "graph_id"};
  if (!graph.has("graph")) return;
  const Place attributes = graph.at("graph");
  if (!attributes.value().is_object()) attributes.fail("is not an object");
  for (const auto& item : attributes.value().items()) {
    const Place value = attributes.at(item.key().c_str());
    if (item.key() == "name")
      tables.names[index] = value.text();
    else if (item.key() == "group")
      tables.groups[index] = value.text();
    else if (reserved.count(item.key()) == 0)
      read_attribute(value, item.key(), index, tables);
  }
}

void read_graph(const Place& graph, const std::string& default_name, Tables& tables) {
  const auto index = tables.workload_id.size();
  const auto id = static_cast<std::int64_t>(index);
  tables.workload_id.push_back(id);
  tables.names.push_back(default_name);
  tables.groups.emplace_back();
  read_attributes(graph, index, tables);
  if (tables.groups[index].empty()) tables.groups[index] = tables.names[index];
  const auto numbers = read_nodes(graph.at("nodes"), id, tables);
  const bool edges = !graph.has("links") && graph.has("edges");
  read_links(graph.at(edges ? "edges" : "links"), id, numbers, tables);
}

void put_tables(Tables& tables, const TablesOut& out) {
  TableBuilder workloads;
  workloads.add("workload_id", tables.workload_id)
      .add_categories("group", tables.groups)
      .add_strings("name", tables.names)
      .add("graph_id", tables.workload_id);
  for (auto& [name, column] : tables.attributes) {
    column.numbers.resize(tables.workload_id.size(), 0);
    column.strings.resize(tables.workload_id.size());
    column.present.resize(tables.workload_id.size(), false);
    if (column.text)
      workloads.add_categories(name, column.strings);
    else
      workloads.add(name, column.numbers);
    workloads.valid(column.present);
  }
  TableBuilder nodes;
  nodes.metadata("omen.dialect", kDialect)
      .add("graph_id", tables.node_graph)
      .add("node_id", tables.node_id)
      .add_categories("op", tables.ops);
  if (tables.feat_width > 0) {
    nodes.add_list("feat", static_cast<std::int64_t>(tables.feat_width), tables.feat);
  }
  TableBuilder edges;
  edges.metadata("omen.dialect", kDialect)
      .add("graph_id", tables.edge_graph)
      .add("src", tables.src)
      .add("dst", tables.dst)
      .add_categories("kind", tables.kinds)
      .add("position", tables.position);
  out.put("workloads", workloads.finish());
  out.put("nodes", nodes.finish());
  out.put("edges", edges.finish());
}

// "line 3, column 7" of a byte offset that counts from 1.
std::string line_and_column(const std::string& text, std::size_t byte) {
  const std::size_t before = std::min(byte > 0 ? byte - 1 : 0, text.size());
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(before), '\n');
  const std::size_t last = before == 0 ? std::string::npos : text.rfind('\n', before - 1);
  const std::size_t column = last == std::string::npos ? before + 1 : before - last;
  return "line " + std::to_string(line + 1) + ", column " + std::to_string(column);
}

json parse(const std::string& text, const std::string& source) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    learn::throw_bad_data(source + ": not valid JSON at " + line_and_column(text, error.byte),
                          "Check the file there for a missing comma, quote or bracket.");
  }
}

}  // namespace

void lower_node_link(const std::string& text, const std::string& source, const std::string& stem,
                     const TablesOut& out, const Run& run) {
  const json document = parse(text, source);
  Tables tables;
  if (document.is_array()) {
    const Place graphs(document, source, "graphs");
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      run.step(static_cast<double>(i) / static_cast<double>(graphs.size()), "graphs");
      read_graph(graphs.at(i), stem + "." + std::to_string(i), tables);
    }
  } else {
    run.step(-1, "graph");
    read_graph(Place(document, source, ""), stem, tables);
  }
  put_tables(tables, out);
}

int NodeLinkFrontend::sniff(const char*, std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return 0;
  const auto holds = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  if (!holds("\"nodes\"")) return 0;
  if (holds("\"links\"") || holds("\"edges\"")) return 80;
  // In a long file the links may lie beyond the head.
  return holds("\"op\"") && holds("\"id\"") ? 60 : 0;
}

void NodeLinkFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (!path) {
    throw Error(OMEN_INVALID_ARGUMENT, "baseline.nodelink reads a file, and none was given",
                "Name a node-link JSON file.");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_IO, std::string("cannot open '") + path + "'", "Check the path.");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::filesystem::path name(path);
  lower_node_link(text, name.filename().string(), name.stem().string(), out, run);
}

}  // namespace omen::baseline
