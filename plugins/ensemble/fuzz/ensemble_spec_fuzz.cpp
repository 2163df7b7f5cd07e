// SPDX-License-Identifier: Apache-2.0
// Descriptions of any kind: a complaint with a hint, or a graph whose edges have their nodes.
// needs: ensemble_core
// covers: plugins/ensemble/src/spec/ensemble_spec.cpp
// covers: plugins/ensemble/src/spec/spec_graph.cpp
#include <cstdint>
#include <cstdlib>
#include <string>

#include "omen/error.hpp"
#include "spec/spec_graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omen;
  using namespace omen::ensemble;
  // Graphs of thousands of models take long and find nothing that small ones do not.
  constexpr std::size_t kMostModels = 64;
  try {
    const EnsembleSpec spec = parse_spec({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (spec.models.size() > kMostModels) return 0;
    TableCollector collected;
    put_graph(spec, TablesOut(collected.c()));
    const auto tables = collected.take();
    const std::int64_t nodes = tables.at("nodes").rows();
    for (const char* end : {"src", "dst"})
      for (const std::int32_t id : tables.at("edges").column<std::int32_t>(end))
        if (id < 0 || id >= nodes) std::abort();
    if (planned_models(spec).size() != spec.models.size()) std::abort();
  } catch (const Error& error) {
    if (error.hint().empty()) std::abort();
  }
  return 0;
}
