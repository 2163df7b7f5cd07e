// SPDX-License-Identifier: Apache-2.0
// Networks as tables of nodes and edges, and back.
#pragma once

#include <cstdint>
#include <map>
#include <omen/dataset.hpp>
#include <vector>

#include "nets/net.hpp"

namespace omen::power {

inline constexpr const char* kDialect = "pw-blocks/1";

// Each network once; its place in the list is its graph_id. `labels`: what drawings show.
Table node_table(const std::vector<Net>& nets, bool labels);
Table edge_table(const std::vector<Net>& nets);

// The layers of every graph; precision is that of the weights' feature.
std::map<std::int64_t, Net> read_net_tables(const Dataset& in);

}  // namespace omen::power
