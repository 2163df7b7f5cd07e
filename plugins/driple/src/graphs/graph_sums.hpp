// SPDX-License-Identifier: Apache-2.0
// Sums over the operations of a step, for predictors that read columns and no graphs.
#pragma once

#include <omen/opgraph/op_graph.hpp>
#include <omen/table.hpp>
#include <span>

namespace omen::driple {

// Adds a column for each sum: arithmetic and traffic by kind of operation, and launches.
void add_graph_sums(TableBuilder& workloads, std::span<const opgraph::Job> jobs);

}  // namespace omen::driple
