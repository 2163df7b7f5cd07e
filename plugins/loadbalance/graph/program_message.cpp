// SPDX-License-Identifier: Apache-2.0
// Writes the wire format and the text format of protocol buffers directly: both are small, and a
// plugin that opens in milliseconds should not load their library.
#include "graph/program_message.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

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

void write_full_text(MessageSink& sink, std::string_view full_text) {
  sink.begin({8, "features"});
  sink.begin({1, "feature"});
  sink.bytes({1, "key"}, "full_text");
  sink.begin({2, "value"});
  sink.begin({1, "bytes_list"});
  sink.bytes({1, "value"}, full_text);
  for (int i = 0; i < 4; ++i) sink.end();
}

void write_graph(MessageSink& sink, const ProgramGraph& graph, const std::string& file) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    sink.begin({1, "node"});
    write_name(sink, {1, "type"}, node.type, kTypeEnumerators);
    write_text(sink, {2, "text"}, graph.text(node));
    write_number(sink, {4, "function"}, std::max(node.function, 0));
    write_number(sink, {7, "block"}, node.block);
    if (!graph.full_texts.empty() && n > 0) write_full_text(sink, graph.full_texts[n]);
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
  sink.begin({5, "module"});
  write_text(sink, {1, "name"}, file);
  sink.end();
}

// The source file of each graph, in the order of graph_id; the column `group` holds it.
std::vector<std::string> source_files(const Dataset& in) {
  std::map<std::int64_t, std::string> files;
  const Table nodes = in.table("nodes");
  for (const std::int64_t id : nodes.column<std::int64_t>("graph_id")) files.try_emplace(id);
  if (in.has("workloads")) {
    const Table workloads = in.table("workloads");
    const auto ids = workloads.find("graph_id"), group = workloads.find("group");
    if (ids && group && is_text(workloads.type(*group))) {
      const StringColumn names = workloads.strings(*group);
      const std::vector<double> numbers = workloads.numbers(*ids);
      for (std::int64_t row = 0; row < workloads.rows(); ++row)
        if (const auto at =
                files.find(static_cast<std::int64_t>(numbers[static_cast<std::size_t>(row)]));
            at != files.end() && at->second.empty())
          at->second = names[row];
    }
  }
  std::vector<std::string> list;
  for (auto& [id, file] : files) list.push_back(std::move(file));
  return list;
}

}  // namespace

std::string to_message(const std::vector<ProgramGraph>& graphs,
                       const std::vector<std::string>& files, MessageForm form) {
  BinarySink binary;
  TextSink text;
  MessageSink& sink = form == MessageForm::kText ? static_cast<MessageSink&>(text) : binary;
  const bool list = graphs.size() != 1;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    if (list) sink.begin({2, "graph"});
    write_graph(sink, graphs[g], g < files.size() ? files[g] : "");
    if (list) sink.end();
  }
  return sink.take();
}

void write_message_file(const Dataset& in, const char* path, const Run&) {
  const bool text = std::filesystem::path(path).extension() == ".pbtxt";
  const std::vector<ProgramGraph> graphs =
      from_tables(in.table("nodes"), in.has("edges") ? in.table("edges") : Table());
  const std::string message =
      to_message(graphs, source_files(in), text ? MessageForm::kText : MessageForm::kBinary);
  std::ofstream file(path, std::ios::binary);
  file.write(message.data(), static_cast<std::streamsize>(message.size()));
  file.close();
  if (!file)
    throw Error(OMEN_IO, std::string("cannot write '") + path + "'",
                "check that its directory exists, is writable and has room");
}

}  // namespace omen::loadbalance
