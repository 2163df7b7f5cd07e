// SPDX-License-Identifier: Apache-2.0
// Recognises sources and IR, picks kernels, and hands out the tables of their graphs.
#include "frontend/programl_frontend.hpp"

#include <llvm/IR/Module.h>

#include <filesystem>
#include <map>

#include "frontend/ir_files.hpp"
#include "frontend/module_graphs.hpp"
#include "graph/cdfg.hpp"
#include "llvm/compile.hpp"
#include "llvm/grewe_counts.hpp"
#include "llvm/guard.hpp"
#include "llvm/read_module.hpp"
#include "llvm/struct_definitions.hpp"
#include "opencl/launch.hpp"
#include "opencl/splittable.hpp"

namespace omen::loadbalance {
namespace fs = std::filesystem;
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool looks_like_opencl(std::string_view text) {
  return contains(text, "__kernel") || contains(text, "kernel void") ||
         contains(text, "get_global_id");
}

CompileOptions settings_of(const ProgramlOptions& options) {
  CompileOptions settings;
  settings.cl_std = options.cl_std;
  settings.target = options.target;
  settings.opt_level = options.opt_level;
  settings.defines = options.define;
  settings.include_dirs = options.include_dir;
  settings.includes = options.include;
  return settings;
}

// Files that a person may take for one of ours, with the way that leads from them to a graph.
void refuse_relatives(const std::string& bytes, const std::string& path) {
  if (is_spirv(bytes))
    throw Error(
        OMEN_UNSUPPORTED, path + " is SPIR-V",
        "loadbalance.programl19 reads it, which is built where llvm-19-dev is installed and "
        "needs llvm-spirv-15; or give the OpenCL source.");
  if (is_cuda_or_hip(path))
    throw Error(
        OMEN_UNSUPPORTED, path + " is CUDA or HIP, and only OpenCL C is compiled here",
        "Compile it to IR first: clang++ -S -emit-llvm --cuda-device-only, and give the .ll "
        "file.");
}

IrModule load(const std::string& bytes, const char* path, const ProgramlOptions& options) {
  refuse_relatives(bytes, path);
  const bool named_ir = fs::path(path).extension() == ".ll";
  const bool named_source = fs::path(path).extension() == ".cl";
  if (is_bitcode(bytes) || named_ir || (!named_source && looks_like_ir(bytes)))
    return read_module(bytes, path);
  return compile_opencl(bytes, path, settings_of(options));
}

GraphRequest request_of(const ProgramlOptions& options) {
  return {options.dialect, options.scope, options.kernel,
          options.full_text || !options.inst2vec.empty(), options.instructions_only};
}

void add_statements(std::vector<ProgramGraph>& graphs, const llvm::Module& module,
                    const ProgramlOptions& options) {
  if (options.inst2vec.empty()) return;
  const Inst2vecDictionary dictionary = Inst2vecDictionary::read(options.inst2vec);
  const StructDefinitions structs = struct_definitions(module);
  for (ProgramGraph& graph : graphs) {
    graph.statements = dictionary.ids(graph, structs);
    if (!options.full_text) graph.full_texts.clear();
  }
}

// What IR with address spaces tells of each kernel.
struct KernelFacts {
  std::vector<GreweCounts> counts;
  std::map<std::string, SplitVerdict> verdicts;
};

// Nothing for IR, and for a source that the other target refuses.
KernelFacts facts_of(const std::string& bytes, const IrModule& module, const char* path,
                     const ProgramlOptions& options) {
  // The judgement optimises the source, for which LLVM takes minutes beyond this size.
  constexpr std::size_t kLargestJudged = std::size_t{512} << 10;
  const bool judged = options.divisible && bytes.size() <= kLargestJudged;
  KernelFacts facts;
  if (module.compiled == "ir" || (!options.counts && !judged)) return facts;
  try {
    IrModule spir = compile_for_spir(bytes, path, settings_of(options));
    if (options.counts) facts.counts = count_grewe(spir, path);
    if (judged) facts.verdicts = judge_kernels(std::move(spir), path);
  } catch (const Error& e) {
    log(OMEN_LOG_WARN, "loadbalance.programl",
        std::string(path) +
            ": accesses are not counted, nor is it told whether kernels can be divided: " +
            e.what());
  }
  return facts;
}

// One column of counts, null for graphs that are no counted kernel.
void add_counts(TableBuilder& table, const std::vector<ProgramGraph>& graphs,
                const std::vector<GreweCounts>& counts, const char* name,
                double GreweCounts::*count) {
  std::vector<double> values(graphs.size(), 0);
  std::vector<bool> known(graphs.size(), false);
  for (std::size_t g = 0; g < graphs.size(); ++g)
    for (const GreweCounts& kernel : counts)
      if (kernel.kernel == graphs[g].name) {
        values[g] = kernel.*count;
        known[g] = true;
      }
  table.add(name, std::move(values)).valid(known);
}

// Whether the work-groups of each kernel may be divided between devices: "yes" or why not, and
// along which dimensions.
void add_verdicts(TableBuilder& table, const std::vector<ProgramGraph>& graphs,
                  const std::map<std::string, SplitVerdict>& verdicts) {
  std::vector<std::string> texts, dimensions;
  std::vector<bool> known, divisible;
  for (const ProgramGraph& graph : graphs) {
    const auto verdict = verdicts.find(graph.name);
    known.push_back(verdict != verdicts.end());
    divisible.push_back(known.back() && verdict->second.splittable());
    texts.push_back(!known.back() ? "" : divisible.back() ? kDivisible : verdict->second.reason());
    dimensions.push_back(divisible.back() ? dimensions_text(verdict->second.dimensions) : "");
  }
  table.add_strings("divisible", texts).valid(known);
  table.add_strings("divisible_along", dimensions).valid(divisible);
}

Table workloads_of(const std::vector<ProgramGraph>& graphs, const IrModule& module,
                   const KernelFacts& facts, const ProgramlOptions& options, const char* path) {
  TableBuilder table;
  add_module_columns(table, graphs, module, path, options.module_facts);
  add_counts(table, graphs, facts.counts, "comp", &GreweCounts::comp);
  add_counts(table, graphs, facts.counts, "rational", &GreweCounts::rational);
  add_counts(table, graphs, facts.counts, "mem", &GreweCounts::mem);
  add_counts(table, graphs, facts.counts, "localmem", &GreweCounts::localmem);
  add_counts(table, graphs, facts.counts, "coalesced", &GreweCounts::coalesced);
  add_counts(table, graphs, facts.counts, "atomic", &GreweCounts::atomic);
  add_verdicts(table, graphs, facts.verdicts);
  return table.finish();
}

}  // namespace

int ProgramlFrontend::sniff(const char* path, std::string_view head) {
  if (!head.data()) return 0;
  const std::string suffix = fs::path(path).extension().string();
  if (is_bitcode(head)) return 95;
  if (looks_like_ir(head) && !is_another_form(suffix)) return suffix == ".ll" ? 95 : 70;
  if (suffix == ".cl") return 90;
  if (suffix == ".ll") return 80;
  // Nobody reads these; the answer says what to do with them.
  if (is_spirv(head) || is_cuda_or_hip(path)) return 20;
  return !is_another_form(suffix) && looks_like_opencl(head) ? 60 : 0;
}

void ProgramlFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (!path)
    throw Error(OMEN_INVALID_ARGUMENT, "loadbalance.programl reads a file, and none was given",
                "Name an OpenCL source, a .ll or a .bc file.");
  run.step(-1, "compile");
  const std::string bytes = read_file(path);
  const IrModule module = load(bytes, path, options_);
  if (!module.diagnostics.empty()) log(OMEN_LOG_WARN, "loadbalance.programl", module.diagnostics);
  run.step(-1, "graphs");
  std::vector<ProgramGraph> graphs;
  run_guarded("LLVM", path, [&] {
    settle_debug_info(module, options_.strip_debug, path, "loadbalance.programl");
    graphs = graphs_of(module, path, request_of(options_), run);
    add_statements(graphs, module.get(), options_);
  });
  if (options_.dialect == "cdfg")
    for (ProgramGraph& graph : graphs) graph = to_cdfg(graph);
  run.step(-1, "counts");
  const KernelFacts facts = facts_of(bytes, module, path, options_);
  GraphTables tables = to_tables(graphs, table_dialect(options_.dialect));
  out.put("workloads", workloads_of(graphs, module, facts, options_, path));
  out.put("nodes", std::move(tables.nodes));
  out.put("edges", std::move(tables.edges));
}

}  // namespace omen::loadbalance
