// SPDX-License-Identifier: Apache-2.0
// Messages are those that protoc reads, in both forms.
#include "graph/program_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

ProgramGraph sample() {
  ProgramGraph graph;
  TextTable texts(graph);
  graph.functions = {"helper", "k"};
  graph.nodes = {{NodeType::kInstruction, texts.code("[external]"), -1, 0},
                 {NodeType::kInstruction, texts.code("; undefined function"), 0, 0},
                 {NodeType::kInstruction, texts.code("add"), 1, 300},
                 {NodeType::kConstant, texts.code("i32"), -1, 301}};
  graph.edges = {{0, 2, 0, Flow::kCall}, {3, 2, 1, Flow::kData}};
  return graph;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class MessageFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(directory_);
    dataset_.put("nodes", tables_.nodes);
    dataset_.put("edges", tables_.edges);
    dataset_.put("workloads", TableBuilder()
                                  .add("graph_id", std::vector<std::int64_t>{0})
                                  .add_strings("group", {"k.cl"})
                                  .finish());
  }
  void TearDown() override { fs::remove_all(directory_); }
  std::string write(const char* name) {
    write_message_file(dataset_.view(), (directory_ / name).c_str(), omen::Run(nullptr));
    return read(directory_ / name);
  }
  // What protoc makes of `input`; `mode` is --decode or --encode.
  std::string protoc(const std::string& mode, const std::string& message, const fs::path& input) {
    const fs::path proto = fs::path(LOADBALANCE_PROTO);
    const fs::path output = directory_ / "protoc.out";
    const std::string command = std::string(LOADBALANCE_PROTOC) + " -I" +
                                proto.parent_path().string() + " " + mode + "=programl." + message +
                                " " + proto.string() + " < " + input.string() + " > " +
                                output.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return read(output);
  }

  const GraphTables tables_ = to_tables({sample()}, kDialect);
  MemoryDataset dataset_;
  const fs::path directory_ =
      fs::temp_directory_path() / ("omen-message-" + std::to_string(getpid()));
};

constexpr const char* kText = R"(node {
  text: "[external]"
}
node {
  text: "; undefined function"
}
node {
  text: "add"
  function: 1
  block: 300
}
node {
  type: CONSTANT
  text: "i32"
  block: 301
}
edge {
  flow: CALL
  target: 2
}
edge {
  flow: DATA
  position: 1
  source: 3
  target: 2
}
function {
  name: "helper"
}
function {
  name: "k"
}
module {
  name: "k.cl"
}
)";

TEST(Message, WritesTextAsProtocPrintsIt) {
  EXPECT_EQ(to_message({sample()}, {{"k.cl"}}, MessageForm::kText), kText);
}

TEST(Message, WritesTheWireFormat) {
  ProgramGraph graph;
  TextTable texts(graph);
  graph.nodes = {{NodeType::kVariable, texts.code("i1"), 0, 300}};
  graph.edges = {{0, 0, 2, Flow::kData}};
  EXPECT_EQ(to_message({graph}, {}, MessageForm::kBinary),
            std::string("\x0a\x09\x08\x01\x12\x02i1\x38\xac\x02"
                        "\x12\x04\x08\x01\x10\x02"
                        "\x2a\x00",
                        19));
}

TEST(Message, KeepsFullTextsAsBytesAndEscapesThem) {
  ProgramGraph graph = sample();
  graph.full_texts = {"", "", "%1 = add i32 %0, 1", "c\"a\\\n\xff\""};
  const std::string text = to_message({graph}, {}, MessageForm::kText);
  EXPECT_THAT(text, HasSubstr("key: \"full_text\""));
  EXPECT_THAT(text, HasSubstr(R"(value: "c\"a\\\n\377\"")"));
}

TEST(Message, SeveralGraphsAreAList) {
  const std::string text =
      to_message({sample(), sample()}, {{"a.cl"}, {"b.cl"}}, MessageForm::kText);
  EXPECT_THAT(text, testing::StartsWith("graph {\n  node {\n"));
  EXPECT_THAT(text, HasSubstr("name: \"b.cl\""));
  EXPECT_EQ(to_message({}, {}, MessageForm::kText), "");
}

TEST_F(MessageFiles, ProtocReadsBothForms) {
  if (std::string(LOADBALANCE_PROTOC).empty()) GTEST_SKIP() << "protoc is not installed";
  const std::string binary = write("g.pb");
  EXPECT_EQ(write("g.pbtxt"), kText);
  EXPECT_EQ(protoc("--decode", "ProgramGraph", directory_ / "g.pb"), kText);
  EXPECT_EQ(protoc("--encode", "ProgramGraph", directory_ / "g.pbtxt"), binary);
}

TEST_F(MessageFiles, ModulesSayWhatTheyWereCompiledFor) {
  dataset_.put("workloads", TableBuilder()
                                .add("graph_id", std::vector<std::int64_t>{0})
                                .add_strings("group", {"k.cl"})
                                .add_strings("target_triple", {"x86_64-unknown-linux-gnu"})
                                .add_strings("data_layout", {"e-i64:64"})
                                .finish());
  const std::string text = write("g.pbtxt");
  EXPECT_THAT(text, HasSubstr("module {\n  name: \"k.cl\"\n  features {\n    feature {\n"));
  EXPECT_THAT(text, HasSubstr("key: \"target_triple\""));
  EXPECT_THAT(text, HasSubstr("value: \"e-i64:64\""));
  if (std::string(LOADBALANCE_PROTOC).empty()) GTEST_SKIP() << "protoc is not installed";
  const std::string binary = write("g.pb");
  EXPECT_EQ(protoc("--encode", "ProgramGraph", directory_ / "g.pbtxt"), binary);
}

TEST_F(MessageFiles, ProtocReadsListsWithFullTexts) {
  if (std::string(LOADBALANCE_PROTOC).empty()) GTEST_SKIP() << "protoc is not installed";
  ProgramGraph graph = sample();
  graph.full_texts = {"", "", "%1 = add i32 %0, 1", "i8 \xff'\n\t\r\x01"};
  std::ofstream(directory_ / "list.pb", std::ios::binary)
      << to_message({graph, graph}, {{"a"}, {"b"}}, MessageForm::kBinary);
  EXPECT_EQ(protoc("--decode", "ProgramGraphList", directory_ / "list.pb"),
            to_message({graph, graph}, {{"a"}, {"b"}}, MessageForm::kText));
}

TEST_F(MessageFiles, ADirectoryThatDoesNotExistIsAnError) {
  EXPECT_THROW(write("missing/g.pb"), Error);
}

}  // namespace
}  // namespace omen::loadbalance
