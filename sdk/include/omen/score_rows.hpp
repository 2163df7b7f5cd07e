// SPDX-License-Identifier: Apache-2.0
// The answer of a scorer, added best candidate first; ranks follow from the order.
#ifndef OMEN_SCORE_ROWS_HPP
#define OMEN_SCORE_ROWS_HPP

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "omen/table.hpp"
#include "omen/tables.h"

namespace omen {

class ScoreRows {
 public:
  // The next best candidate of a workload; rows of different workloads may alternate.
  void add(std::int64_t workload, std::int32_t candidate, double score, bool feasible,
           std::string reason) {
    workload_.push_back(workload);
    candidate_.push_back(candidate);
    score_.push_back(score);
    rank_.push_back(++last_rank_[workload]);
    feasible_.push_back(feasible);
    reason_.push_back(std::move(reason));
  }

  // The table `scores`; leaves nothing behind.
  Table finish() {
    Table table = TableBuilder()
                      .add(OMEN_COLUMN_WORKLOAD_ID, std::move(workload_))
                      .add(OMEN_COLUMN_CANDIDATE_ID, std::move(candidate_))
                      .add(OMEN_COLUMN_SCORE, std::move(score_))
                      .add(OMEN_COLUMN_RANK, std::move(rank_))
                      .add_bools(OMEN_COLUMN_FEASIBLE, feasible_)
                      .add_strings(OMEN_COLUMN_REASON, reason_)
                      .finish();
    *this = ScoreRows();
    return table;
  }

 private:
  std::vector<std::int64_t> workload_;
  std::vector<std::int32_t> candidate_, rank_;
  std::vector<double> score_;
  std::vector<bool> feasible_;
  std::vector<std::string> reason_;
  std::map<std::int64_t, std::int32_t> last_rank_;
};

}  // namespace omen

#endif  // OMEN_SCORE_ROWS_HPP
