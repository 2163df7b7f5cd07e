// SPDX-License-Identifier: Apache-2.0
// The constant predictor.
#include "omen/learn/mean.hpp"

namespace omen::learn {
namespace {

// One count is added to every class, so that a class missing from a fold keeps a finite loss.
Matrix constant_answer(const Vector& y, int classes) {
  if (classes == 0) return Matrix::Constant(1, 1, y.mean());
  Matrix frequency = Matrix::Ones(1, classes);
  for (const double code : y) frequency(0, static_cast<Index>(code)) += 1;
  return frequency / frequency.sum();
}

}  // namespace

std::vector<HeadReport> MeanLearner::fit(const Matrix& x, const std::vector<Head>& heads,
                                         const Folds& folds, const Context& context) {
  answers_.clear();
  std::vector<HeadReport> reports;
  for (const Head& head : heads) {
    context.part(reports.size(), heads.size()).step(0, "mean");
    const Sample sample(x, head, folds);
    const Matrix held_out =
        cross_validate(sample.x, sample.y, sample.folds, head.outputs(),
                       [&](const Matrix&, const Vector& y, const Matrix& rest) -> Matrix {
                         return constant_answer(y, head.classes).replicate(rest.rows(), 1);
                       });
    reports.push_back(sample.report(held_out, head, "none"));
    answers_.push_back(constant_answer(sample.y, head.classes));
  }
  return reports;
}

std::vector<Matrix> MeanLearner::predict(const Matrix& x, const Context&) const {
  std::vector<Matrix> predictions;
  for (const Matrix& answer : answers_) predictions.push_back(answer.replicate(x.rows(), 1));
  return predictions;
}

void MeanLearner::save(StateWriter& out) const {
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    out.put_matrix("mean." + std::to_string(i), answers_[i]);
  }
}

void MeanLearner::load(const StateReader& in, const Shape& shape) {
  answers_.clear();
  for (std::size_t i = 0; i < shape.classes.size(); ++i) {
    answers_.push_back(in.matrix("mean." + std::to_string(i), 1, shape.outputs(i)));
  }
}

}  // namespace omen::learn
