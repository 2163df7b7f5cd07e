// SPDX-License-Identifier: Apache-2.0
// Graphs and groups of rows one after the other from tables that are larger than memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "graph/program_graph.hpp"
#include "omen/dataset.hpp"

namespace omen::loadbalance {

// Rows of a streamed table that share the value of an ascending int64 column, group by group.
class GroupStream {
 public:
  GroupStream(TableStream stream, std::string key, std::string table);

  // The key of the next group; nothing at the end.
  std::optional<std::int64_t> peek();
  // All rows of the next group.
  Table take();
  // The rows of this group, without rows where it has none; groups before it are passed over.
  Table take(std::int64_t key);

 private:
  bool fill();
  TableStream stream_;
  std::string key_, table_;
  Table schema_, rest_;
  std::optional<std::int64_t> last_;
};

// The graphs of a dataset in the order of graph_id; holds one of them and a batch of rows.
class GraphStream {
 public:
  explicit GraphStream(const Dataset& data);
  // Graph and graph_id; nothing at the end.
  std::optional<std::pair<ProgramGraph, std::int64_t>> next();

 private:
  GroupStream nodes_, edges_;
};

}  // namespace omen::loadbalance
