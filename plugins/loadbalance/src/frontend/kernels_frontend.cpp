// SPDX-License-Identifier: Apache-2.0
// Reads, rewrites and judges one kernel.
#include "frontend/kernels_frontend.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "frontend/ir_files.hpp"
#include "llvm/read_module.hpp"
#include "opencl/kernel_source.hpp"
#include "opencl/reach.hpp"
#include "opencl/runnable_kernel.hpp"
#include "opencl/splittable.hpp"

namespace omen::loadbalance {
namespace {

std::string source_text(const char* path) {
  std::ifstream in(path ? path : "", std::ios::binary);
  if (!path || !in)
    throw Error(path ? OMEN_NOT_FOUND : OMEN_INVALID_ARGUMENT,
                path ? std::string("there is no file ") + path : "no OpenCL source was given",
                "name an OpenCL source, such as k.cl");
  return {std::istreambuf_iterator<char>(in), {}};
}

// What is no OpenCL C would give the errors of a C compiler, which say nothing of the file.
void refuse_other_languages(const std::string& source, const std::string& path) {
  if (is_bitcode(source) || is_spirv(source) || std::filesystem::path(path).extension() == ".ll")
    throw Error(OMEN_UNSUPPORTED, path + " is IR, and kernels are divided by their source",
                "give the OpenCL source; omen graph and omen predict take IR");
  if (is_cuda_or_hip(path))
    throw Error(OMEN_UNSUPPORTED, path + " is CUDA or HIP, and OpenCL kernels are run here",
                "write the kernel in OpenCL C; IR of it, by clang++ -S -emit-llvm "
                "--cuda-device-only, is enough for omen graph and omen predict");
}

CompileOptions compile_options(const KernelsOptions& options) {
  CompileOptions made;
  made.cl_std = options.cl_std;
  made.defines = options.define;
  made.include_dirs = options.include_dir;
  made.includes = options.include;
  return made;
}

RunnableKernel runnable_kernel(const std::string& source, const std::string& path,
                               const CompileOptions& options, const std::string& name) {
  const KernelSource code = read_kernels(source, path, options);
  RunnableKernel kernel;
  kernel.signature = code.kernel(name);
  kernel.text = code.text;
  kernel.split_text = code.split_text;
  kernel.build_options = code.build_options;
  kernel.rewritten = code.rewritten;
  kernel.takes_range = code.takes_range.count(kernel.signature.kernel) > 0;
  kernel.verdict = judge_split(source, path, options, kernel.signature.kernel);
  const auto reach = read_reach(source, path, options, kernel.signature.kernel);
  for (std::size_t i = 0; i < std::min(reach.size(), kernel.signature.parameters.size()); ++i)
    kernel.signature.parameters[i].reach = reach[i];
  return kernel;
}

}  // namespace

void KernelsFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  run.step(-1, "compile");
  const std::string source = source_text(path);
  refuse_other_languages(source, path);
  const RunnableKernel kernel =
      runnable_kernel(source, path, compile_options(options_), options_.kernel);
  const bool divisible = kernel.verdict.splittable();
  out.put("workloads",
          TableBuilder()
              .add("workload_id", std::vector<std::int64_t>{0})
              .add_strings("name", {kernel.signature.kernel})
              .add_categories("group", {std::filesystem::path(path).filename().string()})
              .add_strings("divisible", {divisible ? "yes" : kernel.verdict.reason()})
              .add_strings(kRunnableColumn, {to_json(kernel)})
              .finish());
}

}  // namespace omen::loadbalance
