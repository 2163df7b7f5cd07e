// SPDX-License-Identifier: Apache-2.0
// Graphs and groups of rows one after the other from tables that are larger than memory.
#include "dataflow/graph_stream.hpp"

#include <vector>

#include "omen/error.hpp"

namespace omen::loadbalance {

GroupStream::GroupStream(TableStream stream, std::string key, std::string table)
    : stream_(std::move(stream)),
      key_(std::move(key)),
      table_(std::move(table)),
      schema_(stream_.schema()) {}

// True while there is a row to look at.
bool GroupStream::fill() {
  while (rest_.rows() == 0) {
    std::optional<Table> more = stream_.next();
    if (!more) return false;
    rest_ = std::move(*more);
  }
  return true;
}

std::optional<std::int64_t> GroupStream::peek() {
  if (!fill()) return std::nullopt;
  return rest_.column<std::int64_t>(key_)[0];
}

Table GroupStream::take() {
  const std::optional<std::int64_t> key = peek();
  if (!key) return schema_;
  if (last_ && *key <= *last_)
    throw Error(OMEN_INVALID_DATA,
                "table '" + table_ + "' goes back from " + key_ + " " + std::to_string(*last_) +
                    " to " + std::to_string(*key),
                "Sort it by " + key_ + "; examples of one graph stand together.");
  last_ = key;
  std::vector<Table> pieces;
  while (fill()) {
    const auto keys = rest_.column<std::int64_t>(key_);
    std::int64_t count = 0;
    while (count < rest_.rows() && keys[count] == *key) ++count;
    if (count == 0) break;
    pieces.push_back(rest_.slice(0, count));
    rest_ = rest_.slice(count, rest_.rows() - count);
  }
  return pieces.size() == 1 ? pieces.front() : concat(pieces);
}

Table GroupStream::take(std::int64_t key) {
  for (std::optional<std::int64_t> next = peek(); next && *next <= key; next = peek()) {
    Table rows = take();
    if (*next == key) return rows;
  }
  return schema_;
}

GraphStream::GraphStream(const Dataset& data)
    : nodes_(data.stream("nodes"), "graph_id", "nodes"),
      edges_(data.stream("edges"), "graph_id", "edges") {}

std::optional<std::pair<ProgramGraph, std::int64_t>> GraphStream::next() {
  const std::optional<std::int64_t> id = nodes_.peek();
  if (!id) return std::nullopt;
  const Table nodes = nodes_.take();
  std::vector<ProgramGraph> graphs = from_tables(nodes, edges_.take(*id));
  graphs.front().name = "graph " + std::to_string(*id);
  return std::pair(std::move(graphs.front()), *id);
}

}  // namespace omen::loadbalance
