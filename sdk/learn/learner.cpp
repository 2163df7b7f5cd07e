// SPDX-License-Identifier: Apache-2.0
// Row selection and fold loops that the learners share.
#include "omen/learn/learner.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace omen::learn {
namespace {

std::vector<Index> known_rows(const Vector& y) {
  std::vector<Index> rows;
  for (Index row = 0; row < y.size(); ++row) {
    if (std::isfinite(y[row])) rows.push_back(row);
  }
  return rows;
}

}  // namespace

Context Context::part(std::size_t index, std::size_t count) const {
  Context inner = *this;
  inner.step = [outer = step, index, count](double fraction, const char* stage) {
    outer((static_cast<double>(index) + fraction) / static_cast<double>(count), stage);
  };
  return inner;
}

Sample::Sample(const Matrix& all, const Head& head, const Folds& all_folds)
    : rows(known_rows(head.y)),
      x(take_rows(all, rows)),
      y(take_rows(head.y, rows)),
      folds(all_folds.subset(rows)) {}

HeadReport Sample::report(const Matrix& held_out, const Head& head, std::string knobs) const {
  HeadReport report;
  report.knobs = std::move(knobs);
  report.held_out = Matrix::Constant(head.y.size(), head.outputs(), kUnknown);
  report.loss = kUnknown;
  if (held_out.rows() == 0) return report;
  put_rows(held_out, rows, report.held_out);
  report.loss = mean_loss(held_out, y, head.classes);
  return report;
}

Matrix cross_validate(
    const Matrix& x, const Vector& y, const Folds& folds, Index outputs,
    const std::function<Matrix(const Matrix&, const Vector&, const Matrix&)>& predict_fold) {
  if (folds.count == 0) return Matrix(0, outputs);
  Matrix held_out(x.rows(), outputs);
  for (int fold = 0; fold < folds.count; ++fold) {
    const std::vector<Index> training = folds.training_rows(fold);
    const std::vector<Index> rest = folds.held_out_rows(fold);
    put_rows(predict_fold(take_rows(x, training), take_rows(y, training), take_rows(x, rest)), rest,
             held_out);
  }
  return held_out;
}

}  // namespace omen::learn
