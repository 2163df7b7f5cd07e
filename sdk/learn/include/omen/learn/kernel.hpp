// SPDX-License-Identifier: Apache-2.0
// How alike two rows are: sums and products of kernels over named blocks of columns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

/// Columns that are compared together, such as the counts of a kernel or the size of its launch.
struct Block {
  std::string name;
  Matrix values;  ///< one row per row of data, whatever the number of columns
};
using Blocks = std::vector<Block>;

/// OMEN_INVALID_ARGUMENT where no block has that name.
const Matrix& values_of(const Blocks& blocks, const std::string& name);

enum class Matern { kOneHalf, kThreeHalves, kFiveHalves };

/// An expression, such as `(1.5 * Kernel::matern("code", 0.7) + Kernel::constant(0.3)) *
/// Kernel::matern("launch", 2)`. Copies are cheap.
class Kernel {
 public:
  static Kernel constant(double variance);
  /// Matern's kernels (doi:10.7551/mitpress/3206.001.0001, eq. 4.14 to 4.17) of the root mean
  /// squared difference over the block's columns; 1 everywhere for a block without columns.
  static Kernel matern(std::string block, double length, Matern smoothness = Matern::kThreeHalves);
  /// The mean product over the block's columns; 0 for a block without columns.
  static Kernel linear(std::string block);

  friend Kernel operator+(const Kernel& a, const Kernel& b);
  friend Kernel operator*(const Kernel& a, const Kernel& b);
  friend Kernel operator*(double factor, const Kernel& kernel);

  /// Entry (i, j): how alike row i of `a` and row j of `b` are.
  Matrix between(const Blocks& a, const Blocks& b) const;
  /// How alike each row is to itself: the variance before anything was seen.
  Vector own(const Blocks& a) const;

  class Term;

 private:
  explicit Kernel(std::shared_ptr<const Term> term) : term_(std::move(term)) {}
  std::shared_ptr<const Term> term_;  ///< shared, as an expression's parts are its copies' too
};

}  // namespace omen::learn
