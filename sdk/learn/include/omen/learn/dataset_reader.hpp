// SPDX-License-Identifier: Apache-2.0
// Reads the tables of a dataset into a frame with its keys, groups and targets.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <omen/dataset.hpp>
#include <string>
#include <vector>

#include "omen/learn/frame.hpp"

namespace omen::learn {

/// One row per workload, or per workload and candidate where the dataset has candidates.
struct Rows {
  Frame frame;
  std::vector<std::int64_t> workload_id;
  std::vector<std::int32_t> candidate_id;  ///< empty without candidates
  std::vector<std::int32_t> group;         ///< empty when the workloads have none
  std::vector<std::string> group_names;    ///< what the codes in `group` mean
  bool has_graphs = false;
  std::vector<bool> without_graph;  ///< rows whose graph is not in `nodes`
};

/// Every scalar column of `workloads` becomes a feature, except keys, names, groups and those in
/// `without`. A column of `candidates` joins them, or takes the place of one with its name. Where
/// there are nodes, graph statistics follow. `check` is called between batches and may throw.
Rows read_rows(const Dataset& dataset, const std::vector<std::string>& without,
               const std::function<void()>& check);

/// Forgets all features but these columns. Throws where one of them is not there.
void keep_columns(Rows& rows, const std::vector<std::string>& names);

/// A target with the metadata of its column, such as its unit.
struct ReadTarget {
  Target target;
  Metadata metadata;
};

/// Aligned with `rows`; a row without a measurement is unknown.
std::vector<ReadTarget> read_targets(const Dataset& dataset, const Rows& rows);

/// Names of the columns that read_targets would return.
std::vector<std::string> target_names(const Dataset& dataset);

/// Adds the rows and targets of a second dataset below the first.
void append(Rows& rows, std::vector<ReadTarget>& targets, const Rows& more,
            const std::vector<ReadTarget>& more_targets);

/// What `read` makes of the rows of training, and of those of validation where they were measured:
/// a model that chooses nothing on validation rows is free to learn from them too.
template <class Read>
auto read_both(const Dataset& train, const Dataset& valid, Read read) {
  auto rows = read(train);
  if (!valid || !valid.has("targets")) return rows;
  auto more = read(valid);
  rows.insert(rows.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
  return rows;
}

}  // namespace omen::learn
