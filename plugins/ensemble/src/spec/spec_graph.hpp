// SPDX-License-Identifier: Apache-2.0
// A described ensemble as a graph: sources, stages, queues, collectives, trainers, accelerators.
#pragma once

#include <omen/dataset.hpp>

#include "spec/ensemble_spec.hpp"

namespace omen::ensemble {

// Rates of a trainer in the table of nodes, on 1, 2, ... accelerators.
inline constexpr std::int64_t kScalingWidth = 16;

// Puts workloads (one row), nodes and edges of dialect ensemble/1.
void put_graph(const EnsembleSpec& spec, const TablesOut& out);

}  // namespace omen::ensemble
