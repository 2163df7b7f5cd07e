// SPDX-License-Identifier: Apache-2.0
// GraphDefs of any kind, text or binary: an error that names what is wrong, or a graph in order.
// needs: driple_graphs
// covers: plugins/driple/src/graphs/text_proto.cpp
// covers: plugins/driple/src/graphs/wire_proto.cpp
// covers: plugins/driple/src/graphs/graphdef.cpp
// covers: plugins/driple/src/graphs/graphdef_steps.cpp
#include <cstdint>
#include <cstdlib>
#include <omen/error.hpp>
#include <string_view>

#include "graphs/graphdef_steps.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  try {
    const auto nodes = omen::driple::read_graphdef(content, "fuzz.pb");
    const auto steps = omen::driple::graph_steps(nodes, "fuzz", 2);
    for (const omen::opgraph::Edge& edge : steps.job.graph.edges)
      if (edge.src >= edge.dst) std::abort();
    for (const omen::opgraph::Op& op : steps.job.graph.ops)
      if (!(op.flops >= 0) || !(op.bytes_read >= 0)) std::abort();
  } catch (const omen::Error& error) {
    if (error.code() == OMEN_INTERNAL) std::abort();
  }
  return 0;
}
