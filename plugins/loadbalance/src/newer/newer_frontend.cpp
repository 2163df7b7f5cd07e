// SPDX-License-Identifier: Apache-2.0
// Recognises newer IR by its producer and its pointers, and hands out the tables of its graphs.
#include "newer/newer_frontend.hpp"

#include <llvm/Bitcode/BitcodeReader.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "frontend/ir_files.hpp"
#include "frontend/module_graphs.hpp"
#include "graph/cdfg.hpp"
#include "llvm/guard.hpp"
#include "llvm/read_module.hpp"
#include "newer/spirv.hpp"

namespace omen::loadbalance {
namespace {

constexpr const char* kComponent = "loadbalance.programl19";
constexpr int kFirstNewer = 15;

// The version in "LLVM19.1.7", which bitcode begins with; 0: unknown.
int producer_version(std::string_view head) {
  const llvm::StringRef whole_words(head.data(), head.size() / 4 * 4);
  llvm::Expected<std::string> producer =
      llvm::getBitcodeProducerString(llvm::MemoryBufferRef(whole_words, "head"));
  if (!producer) {
    llvm::consumeError(producer.takeError());
    return 0;
  }
  return producer->rfind("LLVM", 0) == 0 ? std::atoi(producer->c_str() + 4) : 0;
}

// Pointers may first occur behind long tables of types and globals.
bool is_newer_text(const char* path, std::string_view head) {
  constexpr std::size_t kEnough = std::size_t{4} << 20;
  if (looks_newer(head)) return true;
  std::ifstream file(path, std::ios::binary);
  std::string more(kEnough, '\0');
  file.read(more.data(), static_cast<std::streamsize>(more.size()));
  more.resize(static_cast<std::size_t>(file.gcount()));
  return looks_newer(more);
}

}  // namespace

int NewerFrontend::sniff(const char* path, std::string_view head) {
  if (!head.data()) return 0;
  if (is_spirv(head)) return 90;
  if (is_bitcode(head)) return producer_version(head) >= kFirstNewer ? 97 : 0;
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (!looks_like_ir(head) || is_another_form(suffix)) return 0;
  return is_newer_text(path, head) ? 97 : 0;
}

void NewerFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (!path)
    throw Error(OMEN_INVALID_ARGUMENT,
                std::string(kComponent) + " reads a file, and none was given",
                "Name a .ll, a .bc or a .spv file.");
  run.step(-1, "read");
  std::string bytes = read_file(path);
  if (is_spirv(bytes)) bytes = bitcode_of_spirv(path, run);
  const IrModule module = read_module(bytes, path);
  run.step(-1, "graphs");
  std::vector<ProgramGraph> graphs;
  run_guarded("LLVM", path, [&] {
    settle_debug_info(module, options_.strip_debug, path, kComponent);
    graphs = graphs_of(module, path,
                       {options_.dialect, options_.scope, options_.kernel, options_.full_text,
                        options_.instructions_only},
                       run);
  });
  if (options_.dialect == "cdfg")
    for (ProgramGraph& graph : graphs) graph = to_cdfg(graph);
  TableBuilder workloads;
  add_module_columns(workloads, graphs, module, path, options_.module_facts);
  GraphTables tables = to_tables(graphs, table_dialect(options_.dialect));
  out.put("workloads", workloads.finish());
  out.put("nodes", std::move(tables.nodes));
  out.put("edges", std::move(tables.edges));
}

}  // namespace omen::loadbalance
