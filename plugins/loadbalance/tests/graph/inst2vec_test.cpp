// SPDX-License-Identifier: Apache-2.0
// Printed instructions become the statements of inst2vec's dictionary.
#include "graph/inst2vec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Statement, TakesNamesAndNumbersOut) {
  const std::pair<const char*, const char*> cases[] = {
      {"%3 = add nsw i32 %1, -5", "<%ID> = add nsw i32 <%ID>, <INT>"},
      {"store float 1.000000e+00, float* %p, align 4",
       "store float <FLOAT>, float* <%ID>, align 4"},
      {"%x = fadd double %a, 0x3FF0000000000000", "<%ID> = fadd double <%ID>, <FLOAT>"},
      {"%1 = getelementptr inbounds [4 x i32], [4 x i32]* @\"g.1\", i64 0, i64 %i",
       "<%ID> = getelementptr inbounds [4 x i32], [4 x i32]* <@ID>, i64 <INT>, i64 <%ID>"},
      {"%e = extractelement <4 x float> %v, i32 2",
       "<%ID> = extractelement <4 x float> <%ID>, <TYP> 2"},
      {"%e = extractvalue { i32, i1 } %v, 1", "<%ID> = extractvalue { i32, i1 } <%ID>, 1"},
      {"br i1 %c, label %a.b-c, label %d", "br i1 <%ID>, label <%ID>, label <%ID>"},
      {"%7 = tail call i64 @_Z13get_global_idj(i32 0) #4",
       "<%ID> = tail call i64 <@ID>(i32 <INT>)"},
      {"%9 = load i32, i32* %8, align 4, !tbaa !5", "<%ID> = load i32, i32* <%ID>, align 4"},
      {"  ret void", "ret void"}};
  for (const auto& [printed, statement] : cases)
    EXPECT_EQ(inst2vec_statement(printed), statement) << printed;
}

TEST(Statement, PutsMembersInPlaceOfStructureNames) {
  const StructDefinitions structs = {{"%struct.a", "{ i32 }"}, {"%struct.ab", "{ float, i8* }"}};
  EXPECT_EQ(inst2vec_statement("%1 = alloca %struct.ab, align 8", structs),
            "<%ID> = alloca { float, i8* }, align 8");
  EXPECT_EQ(inst2vec_statement("%1 = load %struct.a, %struct.a* %0", structs),
            "<%ID> = load { i32 }, { i32 }* <%ID>");
}

TEST(Statement, LeavesOutWhatIsNone) {
  for (const char* text :
       {"", "; undefined function", "!3 = !{}", "}", "call void asm sideeffect \"nop\", \"\"()",
        "call void @llvm.dbg.declare(metadata i32* %1, metadata !2)"})
    EXPECT_EQ(inst2vec_statement(text), "") << text;
}

TEST(Statement, DropsMetadataArguments) {
  EXPECT_EQ(inst2vec_statement("call void @llvm.x(i32 %1, metadata !12, metadata !Foo())"),
            "call void <@ID>(i32 <%ID>())");
}

TEST(Statement, EndsOnDamagedTexts) {
  for (const char* text : {"%", "@", "-", "c\"", "c\"\"", "0x", "1.", "1.e", "1.5e", " -", "i", "!",
                           "#", "metadata !", "(metadata !", "(metadata !)"})
    EXPECT_NO_THROW(inst2vec_statement(text)) << text;
}

class Dictionary : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  Inst2vecDictionary read(const std::string& text) {
    std::ofstream(path_) << text;
    return Inst2vecDictionary::read(path_.string());
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  const fs::path path_ = fs::temp_directory_path() / ("omen-inst2vec-" + std::to_string(getpid()));
};

constexpr const char* kEntries =
    "[0, \"ret void\"]\n[1, \"<%ID> = add i32 <%ID>, <INT>\"]\n[2, \"!UNK\"]\n"
    "[3, \"!IDENTIFIER\"]\n[4, \"!IMMEDIATE\"]\n";

TEST_F(Dictionary, GivesEveryNodeAnId) {
  ProgramGraph graph;
  TextTable texts(graph);
  graph.nodes = {{NodeType::kInstruction, texts.code("[external]"), -1, 0},
                 {NodeType::kInstruction, texts.code("add"), 0, 0},
                 {NodeType::kVariable, texts.code("i32"), 0, 0},
                 {NodeType::kConstant, texts.code("i32"), -1, 0},
                 {NodeType::kInstruction, texts.code("ret"), 0, 0}};
  graph.full_texts = {"", "%2 = add i32 %1, 7", "i32 %1", "i32 7", "ret void"};
  const Inst2vecDictionary dictionary = read(kEntries);
  EXPECT_EQ(dictionary.size(), 5u);
  EXPECT_THAT(dictionary.ids(graph, {}), ElementsAre(2, 1, 3, 4, 0));
  graph.full_texts.clear();
  EXPECT_THROW(dictionary.ids(graph, {}), Error);
}

TEST_F(Dictionary, NamesTheDamagedLine) {
  EXPECT_THAT(refusal(std::string(kEntries) + "[5]\n"), HasSubstr(":6: expected"));
  EXPECT_THAT(refusal("BZh91AY"), HasSubstr(":1: expected"));
  EXPECT_THAT(refusal("[0, \"ret void\"]\n"), HasSubstr("lacks the entry !UNK"));
  EXPECT_THROW(Inst2vecDictionary::read("/does/not/exist"), Error);
}

}  // namespace
}  // namespace omen::loadbalance
