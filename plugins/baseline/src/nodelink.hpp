// SPDX-License-Identifier: Apache-2.0
// Reads graphs from node-link JSON, the form that networkx writes.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <string_view>

namespace omen::baseline {

/// {"nodes": [{"id": .., "op": .., "feat": [..]}], "links" or "edges": [{"source": .., "target":
/// .., "kind": .., "position": ..}], "graph": {"name": .., "group": .., further workload columns}};
/// several graphs form a list. Nodes and graphs are numbered in file order.
class NodeLinkFrontend final : public GraphFrontend {
 public:
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;
};

/// Puts the tables workloads, nodes and edges. `source` names the text in messages, `stem` the
/// graphs that have no name of their own.
void lower_node_link(const std::string& text, const std::string& source, const std::string& stem,
                     const TablesOut& out, const Run& run);

}  // namespace omen::baseline
