// SPDX-License-Identifier: Apache-2.0
// Recognises and lowers descriptions.
#include "spec/spec_frontend.hpp"

#include "spec/spec_graph.hpp"

namespace omen::ensemble {

int SpecFrontend::sniff(const char*, std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return 0;
  return head.find("\"ensemble\"") != std::string_view::npos ? 90 : 0;
}

void SpecFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (!path)
    throw Error(OMEN_INVALID_ARGUMENT, "ensemble.spec reads a file, and none was given",
                "Name a description such as plugins/ensemble/examples/six-nets.json.");
  run.step(-1, "read");
  put_graph(read_spec(path), out);
}

Component spec_component() {
  return frontend<SpecFrontend>("ensemble.spec",
                                "an ensemble, its machine and its sharing, described in JSON")
      .reads(".json")
      .writes("workloads", "nodes@ensemble/1", "edges")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::ensemble
