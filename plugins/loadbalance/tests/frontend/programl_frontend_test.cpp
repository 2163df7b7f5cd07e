// SPDX-License-Identifier: Apache-2.0
// The front end through its tables: what it recognises, which graphs it gives, what it says.
#include "frontend/programl_frontend.hpp"

#include <gmock/gmock.h>

#include "graph/program_graph.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::loadbalance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTwoKernels = R"(
float twice(float v) { return 2 * v; }
__kernel void scale(__global float* y) { y[get_global_id(0)] = twice(y[get_global_id(0)]); }
__kernel void clear(__global float* y) { y[get_global_id(0)] = 0; }
)";

class FrontendTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    return directory_.write(name, text).string();
  }
  std::map<std::string, Table> lower(const std::string& path, const ProgramlOptions& options = {}) {
    ProgramlFrontend frontend(options);
    TableCollector out;
    frontend.lower(path.c_str(), TablesOut(out.c()), run_);
    return out.take();
  }
  Error refusal(const std::string& path, const ProgramlOptions& options = {}) {
    try {
      lower(path, options);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << path << " was lowered";
    return Error(OMEN_OK, "");
  }

 private:
  const test::TempDir directory_;
  const test::ReadyRun run_;
};

std::vector<std::string> column(const Table& table, const char* name) {
  std::vector<std::string> values;
  const StringColumn strings = table.strings(name);
  for (std::int64_t row = 0; row < table.rows(); ++row) values.emplace_back(strings[row]);
  return values;
}

TEST_F(FrontendTest, GivesOneGraphForEachKernel) {
  const auto tables = lower(file("two.cl", kTwoKernels));
  const Table& workloads = tables.at("workloads");
  EXPECT_THAT(column(workloads, "name"), ElementsAre("scale", "clear"));
  EXPECT_THAT(column(workloads, "group"), ElementsAre("two.cl", "two.cl"));
  EXPECT_THAT(column(workloads, "compiled"),
              ::testing::Each(std::string("CL1.2 -O2 x86_64-unknown-linux-gnu")));
  EXPECT_EQ(tables.at("nodes").metadata("omen.dialect"), kDialect);
  const auto graphs = from_tables(tables.at("nodes"), tables.at("edges"));
  ASSERT_EQ(graphs.size(), 2U);
  EXPECT_EQ(graphs[0].text(graphs[0].nodes[0]), "[external]");
}

TEST_F(FrontendTest, TakesOneKernelOrTheWholeFile) {
  const std::string path = file("two.cl", kTwoKernels);
  ProgramlOptions options;
  options.kernel = "clear";
  EXPECT_THAT(column(lower(path, options).at("workloads"), "name"), ElementsAre("clear"));
  options = {};
  options.scope = "module";
  options.opt_level = 0;
  const auto tables = lower(path, options);
  EXPECT_THAT(column(tables.at("workloads"), "name"), ElementsAre("two"));
  EXPECT_THAT(column(tables.at("nodes"), "function"), ::testing::Contains("clear"));
  options.kernel = "nothing";
  const Error error = refusal(path, options);
  EXPECT_EQ(error.code(), OMEN_NOT_FOUND);
  EXPECT_THAT(error.hint(), HasSubstr("scale, clear"));
}

TEST_F(FrontendTest, TakesIrAsAWhole) {
  const auto tables = lower(file("f.ll", "define void @f() {\n  ret void\n}\n"));
  EXPECT_THAT(column(tables.at("workloads"), "name"), ElementsAre("f"));
  EXPECT_THAT(column(tables.at("workloads"), "compiled"), ElementsAre("ir"));
  ProgramlOptions options;
  options.scope = "kernel";
  EXPECT_THAT(refusal(file("f.ll", "define void @f() {\n  ret void\n}\n"), options).what(),
              HasSubstr("defines no kernel"));
}

TEST_F(FrontendTest, DialectsStandInTheTables) {
  const std::string path = file("two.cl", kTwoKernels);
  ProgramlOptions options;
  options.dialect = "typed";
  EXPECT_EQ(lower(path, options).at("nodes").metadata("omen.dialect"), kTypedDialect);
  options.dialect = "identifier";
  const auto tables = lower(path, options);
  EXPECT_EQ(tables.at("edges").metadata("omen.dialect"), kIdentifierDialect);
  EXPECT_TRUE(tables.at("nodes").has("value"));
}

TEST_F(FrontendTest, DebugInformationGoesOnRequest) {
  const std::string path = file("d.ll", R"(
define void @f(i32 %x) !dbg !4 {
  call void @llvm.dbg.value(metadata i32 %x, metadata !8, metadata !DIExpression()), !dbg !9
  ret void, !dbg !9
}
declare void @llvm.dbg.value(metadata, metadata, metadata)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "x.c", directory: "/")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!8 = !DILocalVariable(name: "x", arg: 1, scope: !4, type: !10)
!9 = !DILocation(line: 1, column: 1, scope: !4)
!10 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
)");
  EXPECT_THAT(column(lower(path).at("nodes"), "op"), ::testing::Contains("call"));
  ProgramlOptions options;
  options.strip_debug = true;
  EXPECT_THAT(column(lower(path, options).at("nodes"), "op"),
              ::testing::Not(::testing::Contains("call")));
}

TEST_F(FrontendTest, SaysWhatItCannotRead) {
  EXPECT_EQ(refusal("/nowhere/k.cl").code(), OMEN_IO);
  EXPECT_EQ(refusal("/").code(), OMEN_IO);
  EXPECT_THAT(refusal(file("n.cl", "int f(int x) { return x; }\n")).hint(),
              HasSubstr("--scope module"));
}

TEST(Sniff, KnowsSourcesAndIr) {
  EXPECT_GT(ProgramlFrontend::sniff("k.cl", "int x;"), 80);
  EXPECT_GT(ProgramlFrontend::sniff("k.cl", ""), 80);
  EXPECT_GT(ProgramlFrontend::sniff("m.ll", "; ModuleID = 'm'\n"), 90);
  EXPECT_GT(ProgramlFrontend::sniff("m.txt", "target triple = \"x\"\ndefine void @f() {"), 50);
  EXPECT_GT(ProgramlFrontend::sniff("anything", "BC\xC0\xDE...."), 90);
  EXPECT_GT(ProgramlFrontend::sniff("k.txt", "__kernel void f() {}"), 50);
  EXPECT_EQ(ProgramlFrontend::sniff("host.cpp", "\"__kernel void f() {}\""), 0);
  EXPECT_EQ(ProgramlFrontend::sniff("g.pb", "\n\x12get_global_id"), 0);
  EXPECT_EQ(ProgramlFrontend::sniff("readme.txt", "a text about other things"), 0);
  EXPECT_EQ(ProgramlFrontend::sniff("name", std::string_view()), 0);
}

}  // namespace
}  // namespace omen::loadbalance
