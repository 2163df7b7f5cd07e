// SPDX-License-Identifier: Apache-2.0
// Recognises sources and IR, picks kernels, and hands out the tables of their graphs.
#include "frontend/programl_frontend.hpp"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "graph/cdfg.hpp"
#include "llvm/compile.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/grewe_counts.hpp"
#include "llvm/guard.hpp"
#include "llvm/kernels.hpp"
#include "llvm/read_module.hpp"
#include "llvm/struct_definitions.hpp"
#include "opencl/launch.hpp"
#include "opencl/splittable.hpp"

namespace omen::loadbalance {
namespace fs = std::filesystem;
namespace {

std::string read_file(const char* path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    throw Error(OMEN_IO, std::string("'") + path + "' is a directory",
                "Name a file in it; omen graph takes whole directories.");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_IO, std::string("cannot open '") + path + "'", "Check the path.");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool looks_like_ir(std::string_view text) {
  for (const char* mark : {"; ModuleID", "target datalayout", "target triple", "source_filename",
                           "\ndefine ", "\ndeclare "})
    if (contains(text, mark)) return true;
  return text.substr(0, 7) == "define " || text.substr(0, 8) == "declare ";
}

// Forms that may quote a kernel without being one.
bool is_another_form(const std::string& suffix) {
  static constexpr std::array kSuffixes = {".pb",  ".pbtxt", ".json", ".dot", ".svg", ".html",
                                           ".csv", ".md",    ".py",   ".c",   ".cc",  ".cpp"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
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

IrModule load(const std::string& bytes, const char* path, const ProgramlOptions& options) {
  const bool named_ir = fs::path(path).extension() == ".ll";
  const bool named_source = fs::path(path).extension() == ".cl";
  if (is_bitcode(bytes) || named_ir || (!named_source && looks_like_ir(bytes)))
    return read_module(bytes, path);
  return compile_opencl(bytes, path, settings_of(options));
}

// Models were trained without debug information, whose calls would be nodes like any other.
void settle_debug_info(llvm::Module& module, bool strip, const char* path) {
  if (strip) {
    llvm::StripDebugInfo(module);
    return;
  }
  for (const llvm::Function& function : module)
    if (function.getName().startswith("llvm.dbg."))
      return log(OMEN_LOG_WARN, "loadbalance.programl",
                 std::string(path) +
                     " holds debug information, whose calls become nodes; drop it with "
                     "--strip-debug");
}

std::string names_of(const std::vector<const llvm::Function*>& functions) {
  std::string text;
  for (const llvm::Function* function : functions)
    text += (text.empty() ? "" : ", ") + function->getName().str();
  return text;
}

// The function called `name`, a kernel or not.
const llvm::Function* find_kernel(const llvm::Module& module, const std::string& name,
                                  const std::vector<const llvm::Function*>& kernels,
                                  const char* path) {
  const llvm::Function* function = module.getFunction(name);
  if (function && !function->isDeclaration()) return function;
  throw Error(OMEN_NOT_FOUND, std::string(path) + " has no kernel '" + name + "'",
              kernels.empty() ? "It defines no kernel." : "It defines " + names_of(kernels) + ".");
}

Dialect dialect_of(const std::string& name) {
  if (name == "typed") return Dialect::kTyped;
  return name == "identifier" ? Dialect::kIdentifier : Dialect::kPrograml;
}

const char* table_dialect(const std::string& name) {
  return name == "cdfg" ? kCdfgDialect : dialect_name(dialect_of(name));
}

std::vector<ProgramGraph> build_graphs(const IrModule& module, const char* path,
                                       const ProgramlOptions& options, const Run& run) {
  BuildOptions build;
  build.dialect = dialect_of(options.dialect);
  build.full_text = options.full_text || !options.inst2vec.empty();
  build.instructions_only = options.instructions_only;
  std::vector<const llvm::Function*> kernels = kernels_of(module.get());
  if (!options.kernel.empty()) kernels = {find_kernel(module.get(), options.kernel, kernels, path)};
  const bool from_source = module.compiled != "ir";
  const bool by_kernel = !options.kernel.empty() || options.scope == "kernel" ||
                         (options.scope == "auto" && from_source);
  if (!by_kernel) return {build_graph(module.get(), fs::path(path).stem().string(), build)};
  if (kernels.empty())
    throw Error(OMEN_INVALID_DATA, std::string(path) + " defines no kernel",
                "Mark a function with __kernel, or take the whole file with --scope module.");
  std::vector<ProgramGraph> graphs;
  for (const llvm::Function* kernel : kernels) {
    run.step(static_cast<double>(graphs.size()) / static_cast<double>(kernels.size()), "graphs");
    graphs.push_back(
        build_graph(module.get(), with_callees(*kernel), kernel->getName().str(), build));
  }
  return graphs;
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
  std::vector<std::int64_t> ids;
  std::vector<std::string> names;
  for (const ProgramGraph& graph : graphs) {
    ids.push_back(static_cast<std::int64_t>(ids.size()));
    names.push_back(graph.name);
  }
  const std::vector<std::int32_t> first(ids.size(), 0);
  TableBuilder table;
  table.add("workload_id", ids)
      .add("graph_id", ids)
      .add_strings("name", names)
      .add_dictionary("group", first, {fs::path(path).filename().string()})
      .add_dictionary("compiled", first, {module.compiled});
  add_counts(table, graphs, facts.counts, "comp", &GreweCounts::comp);
  add_counts(table, graphs, facts.counts, "rational", &GreweCounts::rational);
  add_counts(table, graphs, facts.counts, "mem", &GreweCounts::mem);
  add_counts(table, graphs, facts.counts, "localmem", &GreweCounts::localmem);
  add_counts(table, graphs, facts.counts, "coalesced", &GreweCounts::coalesced);
  add_counts(table, graphs, facts.counts, "atomic", &GreweCounts::atomic);
  add_verdicts(table, graphs, facts.verdicts);
  if (options.module_facts)
    table.add_dictionary("target_triple", first, {module.get().getTargetTriple()})
        .add_dictionary("data_layout", first, {module.get().getDataLayoutStr()});
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
    settle_debug_info(module.get(), options_.strip_debug, path);
    graphs = build_graphs(module, path, options_, run);
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
