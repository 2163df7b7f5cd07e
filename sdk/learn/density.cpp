// SPDX-License-Identifier: Apache-2.0
// Sums of weights over all rows that were kept.
#include "omen/learn/density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace omen::learn {

namespace {

// The same groups, numbered from 0 in the order of their first rows.
std::vector<std::int64_t> from_zero(const std::vector<std::int64_t>& groups) {
  std::map<std::int64_t, std::int64_t> number;
  std::vector<std::int64_t> numbers;
  for (const std::int64_t group : groups)
    numbers.push_back(
        number.try_emplace(group, static_cast<std::int64_t>(number.size())).first->second);
  return numbers;
}

std::int64_t number_of_groups(const std::vector<std::int64_t>& numbers) {
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end()) + 1;
}

}  // namespace

void Density::fit(const Matrix& rows, std::vector<std::int64_t> groups) {
  rows_ = rows.cast<float>().cast<double>();
  if (groups.empty()) {
    groups.resize(static_cast<std::size_t>(rows.rows()));
    std::iota(groups.begin(), groups.end(), std::int64_t{0});
  }
  groups_ = from_zero(groups);
}

void Density::add(const Matrix& rows) {
  if (rows_.rows() == 0) return fit(rows);
  Matrix all(rows_.rows() + rows.rows(), rows_.cols());
  all << rows_, rows.cast<float>().cast<double>();
  rows_ = std::move(all);
  for (std::int64_t next = number_of_groups(groups_);
       groups_.size() < static_cast<std::size_t>(rows_.rows()); ++next)
    groups_.push_back(next);
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

Vector Density::groups_near(const Matrix& rows, double bandwidth) const {
  if (rows_.rows() == 0)
    return Vector::Constant(rows.rows(), std::numeric_limits<double>::infinity());
  Vector sums(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    const Vector distance = (rows_.rowwise() - rows.row(i)).rowwise().norm();
    Vector nearest = Vector::Constant(static_cast<Index>(number_of_groups(groups_)),
                                      std::numeric_limits<double>::infinity());
    for (Index row = 0; row < distance.size(); ++row) {
      double& own = nearest[static_cast<Index>(groups_[static_cast<std::size_t>(row)])];
      own = std::min(own, distance[row]);
    }
    sums[i] = (-nearest / bandwidth).array().exp().sum();
  }
  return sums;
}

void Density::save(StateWriter& out, const std::string& name) const {
  out.put_integers(name + ".groups", groups_);
  out.put_floats(name + ".rows", rows_);
}

void Density::load(const StateReader& in, const std::string& name, Index columns) {
  const std::vector<std::int64_t> groups = in.integers(name + ".groups");
  rows_ = in.floats(name + ".rows", static_cast<Index>(groups.size()), columns);
  groups_ = from_zero(groups);
}

}  // namespace omen::learn
