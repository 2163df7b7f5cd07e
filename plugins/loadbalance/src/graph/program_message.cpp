// SPDX-License-Identifier: Apache-2.0
// Writes the wire format and the text format of protocol buffers directly: both are small, and a
// plugin that opens in milliseconds should not load their library.
#include "graph/program_message.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

namespace omen::loadbalance {
namespace {

struct Field {
  int number;
  const char* name;
};

// Fields of one message after another; what equals the default of proto3 is left out by callers.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  virtual void integer(Field field, std::int64_t value) = 0;
  virtual void name(Field field, const char* enumerator, int number) = 0;
  virtual void bytes(Field field, std::string_view value) = 0;
  virtual void begin(Field field) = 0;
  virtual void end() = 0;
  virtual std::string take() = 0;
};

class BinarySink final : public MessageSink {
 public:
  void integer(Field field, std::int64_t value) override {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
  }
  void name(Field field, const char*, int number) override { integer(field, number); }
  void bytes(Field field, std::string_view value) override {
    key(field, 2);
    varint(value.size());
    open_.back().text += value;
  }
  // An inner message is preceded by its length, so it is kept apart until it ends.
  void begin(Field field) override { open_.push_back({field, {}}); }
  void end() override {
    const Open inner = std::move(open_.back());
    open_.pop_back();
    bytes(inner.field, inner.text);
  }
  std::string take() override { return std::move(open_.front().text); }

 private:
  struct Open {
    Field field;
    std::string text;
  };
  void key(Field field, unsigned wire_type) {
    varint(static_cast<std::uint64_t>(field.number) << 3 | wire_type);
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) open_.back().text += static_cast<char>(value | 0x80);
    open_.back().text += static_cast<char>(value);
  }
  std::vector<Open> open_ = {{{0, ""}, {}}};
};

class TextSink final : public MessageSink {
 public:
  void integer(Field field, std::int64_t value) override {
    line(std::string(field.name) + ": " + std::to_string(value));
  }
  void name(Field field, const char* enumerator, int) override {
    line(std::string(field.name) + ": " + enumerator);
  }
  void bytes(Field field, std::string_view value) override {
    line(std::string(field.name) + ": \"" + escaped(value) + "\"");
  }
  void begin(Field field) override {
    line(std::string(field.name) + " {");
    ++depth_;
  }
  void end() override {
    --depth_;
    line("}");
  }
  std::string take() override { return std::move(text_); }

 private:
  static std::string escaped(std::string_view value) {
    std::string out;
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\'' || c == '\\') {
        out += '\\';
        out += c;
      } else if (c == '\n' || c == '\r' || c == '\t') {
        out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
      } else if (byte < 0x20 || byte >= 0x7f) {
        char octal[5];
        std::snprintf(octal, sizeof octal, "\\%03o", byte);
        out += octal;
      } else {
        out += c;
      }
    }
    return out;
  }
  void line(const std::string& text) {
    text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    text_ += text + "\n";
  }
  std::string text_;
  int depth_ = 0;
};

constexpr std::array<const char*, 4> kTypeEnumerators = {"INSTRUCTION", "VARIABLE", "CONSTANT",
                                                         "TYPE"};
constexpr std::array<const char*, 4> kFlowEnumerators = {"CONTROL", "DATA", "CALL", "TYPE"};

void write_number(MessageSink& sink, Field field, std::int64_t value) {
  if (value != 0) sink.integer(field, value);
}
void write_text(MessageSink& sink, Field field, std::string_view value) {
  if (!value.empty()) sink.bytes(field, value);
}
template <class Enum>
void write_name(MessageSink& sink, Field field, Enum value,
                const std::array<const char*, 4>& names) {
  const auto number = static_cast<std::size_t>(value);
  if (number != 0) sink.name(field, names[number], static_cast<int>(number));
}

void write_feature(MessageSink& sink, std::string_view key, std::string_view value) {
  sink.begin({1, "feature"});
  sink.bytes({1, "key"}, key);
  sink.begin({2, "value"});
  sink.begin({1, "bytes_list"});
  sink.bytes({1, "value"}, value);
  for (int i = 0; i < 3; ++i) sink.end();
}

void write_module(MessageSink& sink, const MessageModule& module) {
  sink.begin({5, "module"});
  write_text(sink, {1, "name"}, module.name);
  if (!module.target_triple.empty() || !module.data_layout.empty()) {
    sink.begin({2, "features"});
    if (!module.data_layout.empty()) write_feature(sink, "data_layout", module.data_layout);
    if (!module.target_triple.empty()) write_feature(sink, "target_triple", module.target_triple);
    sink.end();
  }
  sink.end();
}

void write_graph(MessageSink& sink, const ProgramGraph& graph, const MessageModule& module) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    sink.begin({1, "node"});
    write_name(sink, {1, "type"}, node.type, kTypeEnumerators);
    write_text(sink, {2, "text"}, graph.text(node));
    write_number(sink, {4, "function"}, std::max(node.function, 0));
    write_number(sink, {7, "block"}, node.block);
    if (!graph.full_texts.empty() && n > 0) {
      sink.begin({8, "features"});
      write_feature(sink, "full_text", graph.full_texts[n]);
      sink.end();
    }
    sink.end();
  }
  for (const Edge& edge : graph.edges) {
    sink.begin({2, "edge"});
    write_name(sink, {1, "flow"}, edge.flow, kFlowEnumerators);
    write_number(sink, {2, "position"}, edge.position);
    write_number(sink, {3, "source"}, edge.source);
    write_number(sink, {4, "target"}, edge.target);
    sink.end();
  }
  for (const std::string& function : graph.functions) {
    sink.begin({4, "function"});
    write_text(sink, {1, "name"}, function);
    sink.end();
  }
  write_module(sink, module);
}

// A column of texts, or nothing where `workloads` has none of that name.
std::optional<StringColumn> texts_of(const Table& workloads, const char* name) {
  const auto column = workloads.find(name);
  if (!column || !is_text(workloads.type(*column))) return std::nullopt;
  return workloads.strings(*column);
}

// The module of each graph, in the order of graph_id; the column `group` holds its file.
std::vector<MessageModule> modules_of(const Dataset& in) {
  std::map<std::int64_t, MessageModule> modules;
  const Table nodes = in.table("nodes");
  for (const std::int64_t id : nodes.column<std::int64_t>("graph_id")) modules.try_emplace(id);
  const Table workloads = in.has("workloads") ? in.table("workloads") : Table();
  if (const auto ids = workloads.find("graph_id")) {
    const std::vector<double> numbers = workloads.numbers(*ids);
    const auto files = texts_of(workloads, "group"), triples = texts_of(workloads, "target_triple"),
               layouts = texts_of(workloads, "data_layout");
    for (std::int64_t row = 0; row < workloads.rows(); ++row) {
      const auto at =
          modules.find(static_cast<std::int64_t>(numbers[static_cast<std::size_t>(row)]));
      if (at == modules.end() || !at->second.name.empty()) continue;
      if (files) at->second.name = (*files)[row];
      if (triples) at->second.target_triple = (*triples)[row];
      if (layouts) at->second.data_layout = (*layouts)[row];
    }
  }
  std::vector<MessageModule> list;
  for (auto& [id, module] : modules) list.push_back(std::move(module));
  return list;
}

}  // namespace

std::string to_message(const std::vector<ProgramGraph>& graphs,
                       const std::vector<MessageModule>& modules, MessageForm form) {
  BinarySink binary;
  TextSink text;
  MessageSink& sink = form == MessageForm::kText ? static_cast<MessageSink&>(text) : binary;
  const bool list = graphs.size() != 1;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    if (list) sink.begin({2, "graph"});
    write_graph(sink, graphs[g], g < modules.size() ? modules[g] : MessageModule{});
    if (list) sink.end();
  }
  return sink.take();
}

void write_message_file(const Dataset& in, const char* path, const Run&) {
  const bool text = std::filesystem::path(path).extension() == ".pbtxt";
  const std::vector<ProgramGraph> graphs =
      from_tables(in.table("nodes"), in.has("edges") ? in.table("edges") : Table());
  const std::string message =
      to_message(graphs, modules_of(in), text ? MessageForm::kText : MessageForm::kBinary);
  std::ofstream file(path, std::ios::binary);
  file.write(message.data(), static_cast<std::streamsize>(message.size()));
  file.close();
  if (!file)
    throw Error(OMEN_IO, std::string("cannot write '") + path + "'",
                "check that its directory exists, is writable and has room");
}

}  // namespace omen::loadbalance
