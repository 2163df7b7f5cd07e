// SPDX-License-Identifier: Apache-2.0
// Reading datasets and splits for the checks.
#include "fold_data.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "omen/container.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

// Some columns behind the number of each row.
Table with_ids(const Table& table, const std::vector<std::string>& columns) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(table.rows()));
  std::iota(ids.begin(), ids.end(), 0);
  TableBuilder builder;
  builder.add("workload_id", std::move(ids));
  for (const std::string& column : columns) builder.add_column(table, table.index(column));
  return builder.finish();
}

}  // namespace

FoldData::FoldData(const std::string& tables, const std::string& split,
                   const std::vector<std::string>& targets) {
  const container::Reader file = container::Reader::open(tables);
  const Table all = container::get_table(file, "workloads");
  nodes_ = container::get_table(file, "nodes");
  edges_ = container::get_table(file, "edges");
  targets_ = with_ids(all, targets);
  workloads_ = with_ids(all, {"graph_id", "wgsize", "input_size"});
  std::ifstream csv(split);
  std::string line;
  if (!std::getline(csv, line)) throw Error(OMEN_NOT_FOUND, "cannot read " + split);
  fold_.resize(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')));
  while (std::getline(csv, line)) {
    std::istringstream cells(line);
    std::string cell;
    std::getline(cells, cell, ',');
    for (std::vector<std::int64_t>& folds : fold_) {
      std::getline(cells, cell, ',');
      folds.push_back(std::stoll(cell));
      folds_ = std::max(folds_, folds.back() + 1);
    }
  }
  if (fold_.empty() || static_cast<std::int64_t>(fold_[0].size()) != all.rows())
    throw Error(OMEN_INVALID_DATA, split + " does not fit " + tables);
}

std::vector<std::int64_t> FoldData::test_rows(std::int64_t repeat, std::int64_t fold) const {
  const std::vector<std::int64_t>& folds = fold_[static_cast<std::size_t>(repeat)];
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < this->rows(); ++row)
    if (folds[static_cast<std::size_t>(row)] == fold) rows.push_back(row);
  return rows;
}

std::unique_ptr<MemoryDataset> FoldData::subset(const std::vector<std::int64_t>& rows,
                                                bool answers) const {
  auto data = std::make_unique<MemoryDataset>();
  data->put("workloads", take(workloads_, rows));
  data->put("nodes", nodes_);
  data->put("edges", edges_);
  if (answers) data->put("targets", take(targets_, rows));
  return data;
}

std::unique_ptr<MemoryDataset> FoldData::train(std::int64_t repeat, std::int64_t fold) const {
  const std::vector<std::int64_t> tested = test_rows(repeat, fold);
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < this->rows(); ++row)
    if (!std::binary_search(tested.begin(), tested.end(), row)) rows.push_back(row);
  return subset(rows, true);
}

std::unique_ptr<MemoryDataset> FoldData::test(std::int64_t repeat, std::int64_t fold) const {
  return subset(test_rows(repeat, fold), false);
}

}  // namespace omen::loadbalance
