// SPDX-License-Identifier: Apache-2.0
// Both kinds of vocabulary: exact ids of ProGraML's file, and stand-ins in our own.
#include "graph/vocabulary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class File {
 public:
  explicit File(const std::string& text)
      : path_(fs::temp_directory_path() / ("omen-vocabulary-" + std::to_string(getpid()))) {
    std::ofstream(path_) << text;
  }
  ~File() { fs::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string refusal(const std::string& path) {
  try {
    Vocabulary::read(path);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Vocabulary, ReadsTheFileOfProgramlByLineNumber) {
  const File file(
      "cumulative_frequency\tcumulative_node_frequency\tcount\ttext\n"
      "0.1\t0.1\t30\ti32\n0.2\t0.2\t20\tvoid (i8*, i32)*\n0.3\t0.3\t10\t%\"a b\"*\n");
  const Vocabulary vocabulary = Vocabulary::read(file.path());
  EXPECT_EQ(vocabulary.unknown(), 3);
  EXPECT_EQ(vocabulary.id("i32"), 0);
  EXPECT_EQ(vocabulary.id("void (i8*, i32)*"), 1);
  EXPECT_EQ(vocabulary.id("%\"a b\"*"), 2);
  EXPECT_EQ(vocabulary.id("i33"), 3) << "an exact vocabulary has no stand-ins";
}

TEST(Vocabulary, ThePublishedOneHasTheIdsThatModelsWereTrainedWith) {
  const char* data = std::getenv("OMEN_DATA");
  if (!data) GTEST_SKIP() << "OMEN_DATA is not set";
  const Vocabulary vocabulary =
      Vocabulary::read(std::string(data) + "/loadbalance/vocab/programl.csv");
  EXPECT_EQ(vocabulary.unknown(), 2230);
  const std::pair<const char*, int> known[] = {
      {"i32", 0},           {"load", 1}, {"i64", 2},
      {"i32*", 3},          {"br", 4},   {"struct*", 5},
      {"getelementptr", 6}, {"i8*", 7},  {"call", 8},
      {"store", 9},         {"i1", 10},  {"icmp", 11},
      {"alloca", 12},       {"add", 13}, {"; undefined function", 16},
      {"<root>", 38}};
  for (const auto& [text, id] : known) EXPECT_EQ(vocabulary.id(text), id) << text;
  for (const char* text : {"[external]", "fneg", "freeze", "half", "struct**", "callbr", "ptr"})
    EXPECT_EQ(vocabulary.id(text), vocabulary.unknown()) << text;
}

TEST(Vocabulary, RefusesWhatIsNone) {
  EXPECT_THAT(refusal("/does/not/exist"), HasSubstr("cannot be read"));
  const File other("hello\n");
  EXPECT_THAT(refusal(other.path()), HasSubstr("is no vocabulary"));
}

TEST(Vocabulary, NamesTheLineThatLacksAColumn) {
  const File file("count\ttext\n3\ti32\n4\n");
  EXPECT_THAT(refusal(file.path()), HasSubstr(":3: expected 2 columns"));
}

TEST(SimilarTexts, GoFromTheNormalisedTextToTheScalar) {
  EXPECT_THAT(similar_texts("i32"), ElementsAre("i32"));
  EXPECT_THAT(similar_texts("[13 x [5 x double]]*"),
              ElementsAre("[N x [N x double]]*", "[N x double]*", "double*"));
  EXPECT_THAT(similar_texts("[4 x <2 x float>]*"),
              ElementsAre("[N x <2 x float>]*", "<2 x float>*", "float*"));
  EXPECT_THAT(similar_texts("float addrspace(1)* addrspace(4)*"),
              ElementsAre("float addrspace(1)* addrspace(4)*", "float**", "float*"));
  EXPECT_THAT(similar_texts("[8 x %\"class.a b\"]*"), ElementsAre("[N x struct]*", "struct*"));
  EXPECT_THAT(similar_texts("void (%struct.s*, i32)**"),
              ElementsAre("void (struct*, i32)**", "function**", "function*"));
  EXPECT_THAT(similar_texts("[2 x { i32, i8 }]*"),
              ElementsAre("[N x { i32, i8 }]*", "{ i32, i8 }*", "struct*"));
  EXPECT_THAT(similar_texts("i24"), ElementsAre("i24", "i32"));
  EXPECT_THAT(similar_texts("i4096*"), ElementsAre("i4096*", "i128*"));
  EXPECT_THAT(similar_texts("<vscale x 4 x float>"), testing::Contains("float"));
}

TEST(SimilarTexts, EndOnDamagedTexts) {
  for (const char* text : {"", "[", "[3", "[3 x ", "%", "%\"", "<", "<4 x", "*", "]*", "i", "i*",
                           " addrspace(", "[3 x ]", "(", "{"})
    EXPECT_FALSE(similar_texts(text).empty()) << text;
}

TEST(OwnVocabulary, KnowsEveryOpcodeAndTheRoot) {
  const Vocabulary& vocabulary = Vocabulary::own();
  for (const char* text : {"[external]", "; undefined function", "fneg", "freeze", "half",
                           "struct**", "callbr", "load", "<16 x float>*"})
    EXPECT_EQ(vocabulary.texts()[static_cast<std::size_t>(vocabulary.id(text))], text);
}

TEST(OwnVocabulary, TakesTheNearestTextItKnows) {
  const Vocabulary& vocabulary = Vocabulary::own();
  EXPECT_EQ(vocabulary.id("[7 x [3 x [2 x [9 x double]]]]*"),
            vocabulary.id("[3 x [3 x [3 x double]]]*"));
  EXPECT_EQ(vocabulary.id("float addrspace(1)*"), vocabulary.id("float*"));
  EXPECT_EQ(vocabulary.id("something else"), vocabulary.unknown());
}

TEST(OwnVocabulary, KeepsTextsWithEqualCountsAndOrdersThem) {
  ProgramGraph graph;
  TextTable texts(graph);
  for (const char* text : {"[3 x i8]*", "[4 x i8]*", "zeta*", "alpha*", "rare*"})
    graph.nodes.push_back({NodeType::kVariable, texts.code(text), 0, 0});
  graph.nodes.push_back(graph.nodes[2]);
  graph.nodes.push_back(graph.nodes[3]);
  TextCounts counts;
  count_texts(graph, counts);
  const std::string file = vocabulary_file(counts, 2);
  EXPECT_THAT(file, testing::StartsWith("count\ttext\n2\t[N x i8]*\n2\talpha*\n2\tzeta*\n0\t"));
  EXPECT_THAT(file, testing::Not(HasSubstr("rare")));
}

TEST(OwnVocabulary, GivesOneIdPerNode) {
  ProgramGraph graph;
  TextTable texts(graph);
  graph.nodes = {{NodeType::kInstruction, texts.code("add"), 0, 0},
                 {NodeType::kVariable, texts.code("i32"), 0, 0},
                 {NodeType::kInstruction, texts.code("add"), 0, 0}};
  const Vocabulary vocabulary({"i32", "add"}, Vocabulary::Lookup::kExact);
  EXPECT_THAT(vocabulary.ids(graph), ElementsAre(1, 0, 1));
}

}  // namespace
}  // namespace omen::loadbalance
