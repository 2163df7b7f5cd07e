// SPDX-License-Identifier: Apache-2.0
// OpenCL C through Clang as a library: options, diagnostics, and inputs that end Clang.
#include "llvm/compile.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "llvm/kernels.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kScale =
    "__kernel void scale(__global float* y, float a) { y[get_global_id(0)] *= a; }\n";

Error refusal(const std::string& source, const CompileOptions& options = {}) {
  try {
    compile_opencl(source, "k.cl", options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "was compiled";
  return Error(OMEN_OK, "");
}

TEST(Compile, GivesKernelsInIr) {
  const IrModule module = compile_opencl(kScale, "k.cl");
  EXPECT_EQ(kernels_of(module.get()).size(), 1U);
  EXPECT_EQ(module.get().getTargetTriple(), "x86_64-unknown-linux-gnu");
  EXPECT_EQ(module.compiled, "CL1.2 -O2 x86_64-unknown-linux-gnu");
  EXPECT_EQ(module.diagnostics, "");
}

TEST(Compile, ForSpirKeepsAddressSpacesVariablesAndLines) {
  const IrModule module = compile_for_spir(kScale, "k.cl");
  EXPECT_EQ(module.get().getTargetTriple(), "spir64-unknown-unknown");
  const llvm::Function& kernel = *module.get().getFunction("scale");
  EXPECT_EQ(kernel.getArg(0)->getType()->getPointerAddressSpace(), 1U);
  bool variables = false, lines = false;
  for (const llvm::BasicBlock& block : kernel)
    for (const llvm::Instruction& instruction : block) {
      variables |= llvm::isa<llvm::AllocaInst>(instruction);
      lines |= instruction.getDebugLoc() && instruction.getDebugLoc().getLine() == 1;
    }
  EXPECT_TRUE(variables);
  EXPECT_TRUE(lines);
  EXPECT_FALSE(kernel.hasOptNone());
}

TEST(Compile, ObeysItsOptions) {
  CompileOptions options;
  options.target = "spir64-unknown-unknown";
  options.opt_level = 0;
  options.cl_std = "CL2.0";
  options.defines = {"N=3", "FLAG"};
  const fs::path directory =
      fs::temp_directory_path() / ("omen-compile-test-" + std::to_string(::getpid()));
  fs::create_directories(directory);
  std::ofstream(directory / "part.h") << "#define PART 2\n";
  std::ofstream(directory / "first.h") << "#define FIRST 1\n";
  options.include_dirs = {directory.string()};
  options.includes = {(directory / "first.h").string()};
  const IrModule module = compile_opencl(
      "#include \"part.h\"\n#ifndef FLAG\n#error no flag\n#endif\n"
      "#if __OPENCL_C_VERSION__ != 200\n#error not 2.0\n#endif\n"
      "__kernel void k(__global int* x) { x[0] = N + PART + FIRST; }\n",
      "k.cl", options);
  fs::remove_all(directory);
  EXPECT_EQ(module.compiled, "CL2.0 -O0 spir64-unknown-unknown");
  EXPECT_EQ(kernels_of(module.get()).size(), 1U);
}

TEST(Compile, ShowsDiagnosticsAsClangPrintsThem) {
  const Error error = refusal("__kernel void f(__global int* x) {\n  x[0] = undeclared;\n}\n");
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(error.what(),
              HasSubstr("k.cl:2:10: error: use of undeclared identifier 'undeclared'\n"
                        "  x[0] = undeclared;\n         ^"));
  EXPECT_THAT(refusal("#include <nowhere.h>\n").hint(), HasSubstr("--include-dir"));
  const IrModule warned =
      compile_opencl("__kernel void f(__global int* x) { int u; x[0] = u; }\n", "k.cl");
  EXPECT_THAT(warned.diagnostics, ::testing::AnyOf("", HasSubstr("warning:")));
}

TEST(Compile, RefusesWrongSettings) {
  CompileOptions options;
  options.target = "no-such-machine";
  EXPECT_EQ(refusal(kScale, options).code(), OMEN_INVALID_ARGUMENT);
  options = {};
  options.cl_std = "CL9";
  EXPECT_EQ(refusal(kScale, options).code(), OMEN_INVALID_ARGUMENT);
}

// What Clang held when it was ended is lost, which leak checkers would report of this process.
TEST(Compile, SurvivesWhatEndsClang) {
  const auto in_child = [] {
    const std::string words = refusal("#pragma clang __debug llvm_fatal_error\n").what();
    const IrModule module = compile_opencl(kScale, "k.cl");  // the process is still sound
    const bool good = words.find("Clang gave up on k.cl") != words.npos;
    ::_exit(good && kernels_of(module.get()).size() == 1 ? 0 : 1);
  };
  EXPECT_EXIT(in_child(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(refusal("__kernel void f() { " + std::string(5000, '(')).code(), OMEN_INVALID_DATA);
}

TEST(Compile, RunsOnSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<std::size_t> kernels(4);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    threads.emplace_back([&kernels, i] {
      const IrModule module = compile_opencl(kScale, "k" + std::to_string(i) + ".cl");
      kernels[i] = kernels_of(module.get()).size();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(kernels, ::testing::Each(1U));
}

}  // namespace
}  // namespace omen::loadbalance
