// SPDX-License-Identifier: Apache-2.0
// Jobs as tables of the dialect step/1, and back.
#ifndef OMEN_OPGRAPH_TABLES_HPP
#define OMEN_OPGRAPH_TABLES_HPP

#include <omen/dataset.hpp>
#include <span>
#include <string>
#include <vector>

#include "omen/opgraph/op_graph.hpp"

namespace omen::opgraph {

inline constexpr const char* kDialect = "step/1";

// Tables workloads, nodes and edges. Each job is a group of its own unless `groups` names them.
void put_jobs(std::span<const Job> jobs, const TablesOut& out,
              const std::vector<std::string>& groups = {});

// The same tables, for those who add columns before they put them.
TableBuilder workload_columns(std::span<const Job> jobs,
                              const std::vector<std::string>& groups = {});
TableBuilder node_columns(std::span<const Job> jobs);
TableBuilder edge_columns(std::span<const Job> jobs);

// Every workload with its graph; control edges are left out. Sizes of dimensions come back up to
// 2^31 - 1, everything else exactly. OMEN_INVALID_DATA where an edge leads backwards.
std::vector<Job> read_jobs(const Dataset& in);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_TABLES_HPP
