// SPDX-License-Identifier: Apache-2.0
// Textual IR of any kind: it is refused with a message, or gives sound graphs in every dialect.
// needs: loadbalance_llvm
// covers: plugins/loadbalance/src/llvm/graph_builder.cpp
// covers: plugins/loadbalance/src/llvm/kernels.cpp
// covers: plugins/loadbalance/src/llvm/mend_ir.cpp
// covers: plugins/loadbalance/src/llvm/type_texts.cpp
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "graph/digest.hpp"
#include "guarded_llvm.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/kernels.hpp"
#include "llvm/mend_ir.hpp"
#include "llvm/read_module.hpp"

namespace {

using namespace omen::loadbalance;

// LLVM makes as many elements as a vector type names; memory is the worker's affair, not this
// one's.
bool names_large_numbers(const std::string& text) {
  std::size_t digits = 0;
  for (const char c : text) {
    digits = std::isdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
    if (digits > 4) return true;
  }
  return false;
}

void check(const ProgramGraph& graph) {
  const auto nodes = static_cast<std::int32_t>(graph.nodes.size());
  if (nodes == 0 || graph.text(graph.nodes[0]) != "[external]") std::abort();
  for (const Node& node : graph.nodes)
    if (node.text < 0 || node.text >= static_cast<std::int32_t>(graph.texts.size()) ||
        node.function >= static_cast<std::int32_t>(graph.functions.size()))
      std::abort();
  for (const Edge& edge : graph.edges)
    if (edge.source < 0 || edge.source >= nodes || edge.target < 0 || edge.target >= nodes ||
        edge.position < 0)
      std::abort();
  if (structure_digest(graph).size() != 16) std::abort();
}

// Building runs outside of the guard, so that a crash of ours is one here.
void build_all(const llvm::Module& module) {
  for (const Dialect dialect : {Dialect::kPrograml, Dialect::kTyped, Dialect::kIdentifier})
    for (const bool full_text : {false, true}) {
      BuildOptions options;
      options.dialect = dialect;
      options.full_text = full_text;
      try {
        const ProgramGraph graph = build_graph(module, "fuzz", options);
        check(graph);
        to_tables({graph}, dialect_name(dialect));
      } catch (const omen::Error& error) {
        if (error.hint().empty()) std::abort();
      }
    }
  for (const llvm::Function* kernel : kernels_of(module))
    check(build_graph(module, with_callees(*kernel), "kernel"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  drop_debug_info(mend_attributes(text));
  if (is_bitcode(text) || names_large_numbers(text)) return 0;
  try {
    const IrModule module = read_module(text, "fuzz.ll");
    build_all(module.get());
  } catch (const omen::Error& error) {
    if (error.hint().empty()) std::abort();
  }
  return 0;
}
