// SPDX-License-Identifier: Apache-2.0
// The one rule for a workload's graph.
#pragma once

#include <omen/table.hpp>

namespace omen::learn {

/// The column that names a workload's graph: graph_id, or workload_id where there is none.
inline const char* graph_id_column(const Table& workloads) {
  return workloads.has("graph_id") ? "graph_id" : "workload_id";
}

}  // namespace omen::learn
