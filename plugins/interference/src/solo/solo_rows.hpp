// SPDX-License-Identifier: Apache-2.0
// A job alone at one batch size: what it is called, what was counted, how large a batch is.
#pragma once

#include <functional>
#include <omen/dataset.hpp>
#include <omen/learn/matrix.hpp>
#include <string>
#include <vector>

namespace omen::interference {

struct SoloColumns {
  std::vector<std::string> texts;     // tell jobs apart, such as model, family and device
  std::vector<std::string> counters;  // numbers other than the batch
};

struct SoloRows {
  std::vector<std::int64_t> workload_id;
  std::vector<std::int32_t> candidate_id;       // empty without candidates
  std::vector<std::vector<std::string>> texts;  // by row; empty text: not known
  learn::Matrix counters;                       // NaN: not known
  std::vector<double> batch;                    // NaN: not known
  std::vector<bool> synthetic;                  // filled in by densify, not measured

  // All texts of a row: rows with the same are one curve over the batch.
  std::string curve(std::size_t row) const;
};

// `as`: the columns of a fitted model; those that the data does not have are unknown.
// OMEN_INVALID_DATA for a batch size that is not above 0.
SoloColumns solo_columns(const Dataset& data, const std::function<void()>& check);
SoloRows read_solo_rows(const Dataset& data, const SoloColumns& as,
                        const std::function<void()>& check);

}  // namespace omen::interference
