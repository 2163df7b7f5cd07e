// SPDX-License-Identifier: Apache-2.0
// IR of other versions: what is mended, and what is refused with which words.
#include "llvm/read_module.hpp"

#include <gmock/gmock.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include "llvm/mend_ir.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

using ::testing::HasSubstr;

Error refusal(const std::string& bytes) {
  try {
    read_module(bytes, "x.ll");
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "was read";
  return Error(OMEN_OK, "");
}

TEST(MendAttributes, GivesBareAttributesTheirType) {
  EXPECT_EQ(mend_attributes("define void @f(%struct.s* byval align 8 %x)"),
            "define void @f(%struct.s* byval(%struct.s) align 8 %x)");
  EXPECT_EQ(mend_attributes("declare void @f(i32, { i8, [2 x i32] }* noalias sret)"),
            "declare void @f(i32, { i8, [2 x i32] }* noalias sret({ i8, [2 x i32] }))");
  EXPECT_EQ(mend_attributes("call void @f(%\"a,b(\"* byval %x, i32 addrspace(1)** byval %y)"),
            "call void @f(%\"a,b(\"* byval(%\"a,b(\") %x, i32 addrspace(1)** byval(i32 "
            "addrspace(1)*) %y)");
  EXPECT_EQ(mend_attributes("call void @f(i8 addrspace(4)* byval %x)"),
            "call void @f(i8 addrspace(4)* byval(i8) %x)");
  EXPECT_EQ(mend_attributes("call void @f(void (i8*)* byval %x)"),
            "call void @f(void (i8*)* byval(void (i8*)) %x)");
}

TEST(MendAttributes, LeavesTheRestAlone) {
  for (const char* text : {"define void @f(i32* byval(i32) %x)", "define void @byval(i32* %sret)",
                           "; a comment (i32* byval %x)\n", "@s = constant [5 x i8] c\"(byval\"",
                           "byval", "(byval", "(i32 byval", ")))]]}}>>((( \"", ""})
    EXPECT_EQ(mend_attributes(text), text);
}

TEST(ReadModule, MendsOldText) {
  EXPECT_NO_THROW(
      read_module("%s = type { i32 }\n"
                  "define void @f(%s* noalias sret %r, %s* byval align 4 %x) {\n"
                  "  ret void\n}\n",
                  "x.ll"));
  // Debug information of LLVM 3.9, with a field that was dropped later.
  const IrModule module = read_module(R"(
define void @f(i32 %x) !dbg !4 {
  call void @llvm.dbg.value(metadata i32 %x, i64 0, metadata !8, metadata !DIExpression()), !dbg !9
  ret void, !dbg !9
}
declare void @llvm.dbg.value(metadata, i64, metadata, metadata)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, subprograms: !2)
!1 = !DIFile(filename: "x.c", directory: "/")
!2 = !{!4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, variables: !2)
!8 = !DILocalVariable(name: "x", arg: 1, scope: !4)
!9 = !DILocation(line: 1, column: 1, scope: !4)
)",
                                      "x.ll");
  EXPECT_NE(module.get().getFunction("f"), nullptr);
  EXPECT_EQ(module.compiled, "ir");
}

TEST(ReadModule, SaysWhereTextIsWrong) {
  const Error error = refusal("define void @f() {\n  %x = frobnicate i32 1\n  ret void\n}\n");
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(error.what(), HasSubstr("x.ll:2:8: expected instruction opcode"));
  EXPECT_THAT(error.what(), HasSubstr("\n       ^"));
}

TEST(ReadModule, KnowsIrOfNewerVersions) {
  const Error error = refusal("define void @f(ptr %x) {\n  ret void\n}\n");
  EXPECT_THAT(error.hint(), HasSubstr("Another version of LLVM wrote it"));
}

TEST(ReadModule, ReadsBitcodeAndRefusesDamagedOnes) {
  const IrModule module = read_module("define void @f() {\n  ret void\n}\n", "x.ll");
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  llvm::WriteBitcodeToFile(module.get(), out);
  out.flush();
  ASSERT_TRUE(is_bitcode(bytes));
  EXPECT_NE(read_module(bytes, "x.bc").get().getFunction("f"), nullptr);
  // In a child, because what LLVM held when it gave up is lost.
  const auto damaged = [&] {
    for (std::size_t keep = 4; keep < bytes.size(); keep += bytes.size() / 16)
      if (refusal(bytes.substr(0, keep)).code() != OMEN_INVALID_DATA) ::_exit(1);
#ifndef __SANITIZE_ADDRESS__  // which ends the process where LLVM asks for terabytes
    for (std::size_t at = 4; at < bytes.size(); at += 7) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] + 1);
      try {
        read_module(changed, "x.bc");
      } catch (const Error& error) {
        if (error.code() != OMEN_INVALID_DATA || error.hint().empty()) ::_exit(2);
      }
    }
#endif
    ::_exit(0);
  };
  EXPECT_EXIT(damaged(), ::testing::ExitedWithCode(0), "");
  EXPECT_THROW(read_module_file("/nowhere/x.ll"), Error);
}

TEST(ReadModule, RefusesNoise) {
  EXPECT_EQ(refusal(std::string(1000, '\xff')).code(), OMEN_INVALID_DATA);
  EXPECT_EQ(refusal(std::string("define \0 void", 13)).code(), OMEN_INVALID_DATA);
  EXPECT_EQ(refusal("@x = global " + std::string(20000, '[')).code(), OMEN_INVALID_DATA);
}

}  // namespace
}  // namespace omen::loadbalance
