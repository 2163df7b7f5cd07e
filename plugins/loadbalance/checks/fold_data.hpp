// SPDX-License-Identifier: Apache-2.0
// A dataset of kernels cut into the folds of a frozen task.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "omen/dataset.hpp"
#include "omen/run.hpp"

namespace omen::loadbalance {

// Table files as `omen data make` leaves them, and the fold of each row by repeat.
class FoldData {
 public:
  FoldData(const std::string& tables, const std::string& split,
           const std::vector<std::string>& targets);

  std::int64_t repeats() const { return static_cast<std::int64_t>(fold_.size()); }
  std::int64_t folds() const { return folds_; }
  std::int64_t rows() const { return workloads_.rows(); }
  const Table& targets() const { return targets_; }

  std::vector<std::int64_t> test_rows(std::int64_t repeat, std::int64_t fold) const;
  // Rows of all other folds with their targets, and those of the fold without.
  std::unique_ptr<MemoryDataset> train(std::int64_t repeat, std::int64_t fold) const;
  std::unique_ptr<MemoryDataset> test(std::int64_t repeat, std::int64_t fold) const;

 private:
  std::unique_ptr<MemoryDataset> subset(const std::vector<std::int64_t>& rows, bool answers) const;

  Table workloads_, nodes_, edges_, targets_;
  std::vector<std::vector<std::int64_t>> fold_;  // [repeat][row]
  std::int64_t folds_ = 0;
};

}  // namespace omen::loadbalance
