// SPDX-License-Identifier: Apache-2.0
// A single decision tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omen/learn/state.hpp"

namespace omen::learn {

struct DecisionTreeOptions {
  int depth = 5;
  int least_leaf = 5;  // rows
};

// Splits by entropy for classes, by variance for numbers; leaves answer with frequencies or means.
class DecisionTree {
 public:
  // classes 0: numbers.
  void fit(const Matrix& x, const Vector& y, int classes, const DecisionTreeOptions& options);
  // One number, or one probability for each class.
  Vector predict(const Vector& x) const;
  std::size_t leaves() const;

  void save(StateWriter& out, const std::string& name) const;
  void load(const StateReader& in, const std::string& name, Index features, int classes);

 private:
  struct Node {
    int feature = -1;  // -1: a leaf
    double threshold = 0;
    int below = -1, above = -1;  // at most the threshold; more
    Vector answer;
  };
  int grow(const Matrix& x, const Vector& y, std::vector<Index> rows, int depth,
           const DecisionTreeOptions& options);
  Index outputs() const { return classes_ == 0 ? 1 : classes_; }

  int classes_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace omen::learn
