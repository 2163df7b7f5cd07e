// SPDX-License-Identifier: Apache-2.0
// Networks as tables of nodes and edges, and back.
#pragma once

#include <cstdint>
#include <map>
#include <omen/dataset.hpp>
#include <string>
#include <vector>

#include "nets/net.hpp"

namespace omen::power {

inline constexpr const char* kDialect = "pw-blocks/1";

// Each network once; its place in the list is its graph_id. `labels`: what drawings show.
Table node_table(const std::vector<Net>& nets, bool labels);
Table edge_table(const std::vector<Net>& nets);

struct ReadNet {
  Net net;
  std::string fault;  // why it is no network; empty: it is one
};
// The layers of every graph, at the usual precision.
std::map<std::int64_t, ReadNet> read_net_tables(const Dataset& in);

}  // namespace omen::power
