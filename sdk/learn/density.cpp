// SPDX-License-Identifier: Apache-2.0
// Sums of weights over all rows that were kept.
#include "omen/learn/density.hpp"

#include <cmath>
#include <limits>

#include "omen/learn/errors.hpp"

namespace omen::learn {

void Density::fit(const Matrix& rows) {
  rows_ = rows.cast<float>().cast<double>();
}

void Density::add(const Matrix& rows) {
  if (rows_.rows() == 0) return fit(rows);
  Matrix all(rows_.rows() + rows.rows(), rows_.cols());
  all << rows_, rows.cast<float>().cast<double>();
  rows_ = std::move(all);
}

Vector Density::neighbours(const Matrix& rows) const {
  if (rows_.rows() == 0)
    return Vector::Constant(rows.rows(), std::numeric_limits<double>::infinity());
  Vector sums(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    const Vector distance = (rows_.rowwise() - rows.row(i)).rowwise().norm();
    sums[i] = (-distance / bandwidth_).array().exp().sum();
  }
  return sums;
}

void Density::save(StateWriter& out, const std::string& name) const {
  out.put_integers(name + ".count", {rows_.rows()});
  out.put_floats(name + ".rows", rows_);
}

void Density::load(const StateReader& in, const std::string& name, Index columns) {
  const std::vector<std::int64_t> count = in.integers(name + ".count");
  if (count.size() != 1 || count[0] < 0)
    throw_bad_data("the model's '" + name + "' has no number of rows", "train the model again");
  rows_ = in.floats(name + ".rows", count[0], columns);
}

}  // namespace omen::learn
