// SPDX-License-Identifier: Apache-2.0
// Seeded fold assignment that keeps groups together and folds even.
#include "omen/learn/folds.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "omen/learn/random.hpp"

namespace omen::learn {
namespace {

constexpr double kSmallestProbability = 1e-15;

// Rows of each group, groups in order of first appearance.
std::vector<std::vector<Index>> rows_by_group(Index rows, const std::vector<std::int32_t>& groups) {
  std::vector<std::vector<Index>> members;
  std::map<std::int32_t, std::size_t> place;
  for (Index row = 0; row < rows; ++row) {
    const auto [found, fresh] =
        place.emplace(groups[static_cast<std::size_t>(row)], members.size());
    if (fresh) members.emplace_back();
    members[found->second].push_back(row);
  }
  return members;
}

std::vector<std::vector<Index>> single_rows(Index rows) {
  std::vector<std::vector<Index>> members;
  for (Index row = 0; row < rows; ++row) members.push_back({row});
  return members;
}

}  // namespace

std::vector<Index> Folds::training_rows(int fold) const {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < of_row.size(); ++i) {
    if (of_row[i] != fold) rows.push_back(static_cast<Index>(i));
  }
  return rows;
}

std::vector<Index> Folds::held_out_rows(int fold) const {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < of_row.size(); ++i) {
    if (of_row[i] == fold) rows.push_back(static_cast<Index>(i));
  }
  return rows;
}

Folds Folds::subset(const std::vector<Index>& rows) const {
  Folds folds;
  std::map<int, int> renumbered;
  for (const Index row : rows) {
    if (of_row.empty()) break;
    const int fold = of_row[static_cast<std::size_t>(row)];
    const auto found = renumbered.emplace(fold, static_cast<int>(renumbered.size())).first;
    folds.of_row.push_back(found->second);
  }
  folds.count = static_cast<int>(renumbered.size());
  if (folds.count < 2) return {};
  return folds;
}

Folds make_folds(Index rows, const std::vector<std::int32_t>& groups, int count,
                 std::uint64_t seed) {
  std::vector<std::vector<Index>> members =
      groups.empty() ? single_rows(rows) : rows_by_group(rows, groups);
  if (members.size() < 2) members = single_rows(rows);
  const int used = std::min(count, static_cast<int>(members.size()));
  if (used < 2) return {};

  std::vector<Index> order = Random(seed).permutation(static_cast<Index>(members.size()));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return members[static_cast<std::size_t>(a)].size() >
           members[static_cast<std::size_t>(b)].size();
  });
  Folds folds{used, std::vector<int>(static_cast<std::size_t>(rows), 0)};
  std::vector<std::size_t> sizes(static_cast<std::size_t>(used), 0);
  for (const Index group : order) {
    const auto smallest = std::min_element(sizes.begin(), sizes.end()) - sizes.begin();
    for (const Index row : members[static_cast<std::size_t>(group)]) {
      folds.of_row[static_cast<std::size_t>(row)] = static_cast<int>(smallest);
      ++sizes[static_cast<std::size_t>(smallest)];
    }
  }
  return folds;
}

double mean_loss(const Matrix& predicted, const Vector& y, int classes) {
  if (y.size() == 0) return 0;
  if (classes == 0) return (predicted.col(0) - y).squaredNorm() / static_cast<double>(y.size());
  double sum = 0;
  for (Index row = 0; row < y.size(); ++row) {
    const double p = predicted(row, static_cast<Index>(y[row]));
    sum -= std::log(std::max(p, kSmallestProbability));
  }
  return sum / static_cast<double>(y.size());
}

Matrix take_rows(const Matrix& x, const std::vector<Index>& rows) {
  Matrix taken(static_cast<Index>(rows.size()), x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) taken.row(static_cast<Index>(i)) = x.row(rows[i]);
  return taken;
}

Vector take_rows(const Vector& y, const std::vector<Index>& rows) {
  Vector taken(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) taken[static_cast<Index>(i)] = y[rows[i]];
  return taken;
}

void put_rows(const Matrix& values, const std::vector<Index>& rows, Matrix& all) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    all.row(rows[i]) = values.row(static_cast<Index>(i));
}

}  // namespace omen::learn
