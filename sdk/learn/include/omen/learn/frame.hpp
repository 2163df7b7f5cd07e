// SPDX-License-Identifier: Apache-2.0
// What the learners see of a dataset before any fitting: scalar columns and bags of named counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

/// One scalar column: `numbers` when numeric, `codes` into `labels` when categorical.
struct Column {
  std::string name;
  bool categorical = false;
  std::vector<double> numbers;      ///< NaN is a null
  std::vector<std::int32_t> codes;  ///< negative is a null
  std::vector<std::string> labels;
};

/// Counts of named things per row, such as the ops of a graph.
struct Bag {
  struct Entry {
    Index row;
    std::int32_t label;
    double count;
  };
  std::string name;
  std::vector<std::string> labels;
  std::vector<Entry> entries;
};

struct Frame {
  Index rows = 0;
  std::vector<Column> columns;
  std::vector<Bag> bags;
};

/// One target column of the training rows.
struct Target {
  std::string name;
  std::vector<double> numbers;       ///< NaN: unknown; empty for a class
  std::vector<std::int32_t> codes;   ///< negative: unknown; empty for a number
  std::vector<std::string> classes;  ///< what the codes mean; empty for a number
};

/// Adds the rows of `more` below those of `frame`; both must have the same columns and bags.
void append_rows(Frame& frame, const Frame& more);

}  // namespace omen::learn
