// SPDX-License-Identifier: Apache-2.0
// Ridge by Cholesky factors of whichever Gram matrix is smaller, and the search for its penalty.
#include "omen/learn/ridge.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <cstdio>

#include "omen/learn/softmax.hpp"

namespace omen::learn {
namespace {

constexpr double kDefaultAlpha = 1.0;    // without folds to choose by
constexpr Index kRowsPerProduct = 1024;  // between two looks at the cancel flag

// X'X in blocks of rows, so that a long product can be cancelled.
Eigen::MatrixXd inner_products(const Matrix& x, const Context& context) {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(x.cols(), x.cols());
  for (Index row = 0; row < x.rows(); row += kRowsPerProduct) {
    context.step(0, "ridge");
    const Index count = std::min(kRowsPerProduct, x.rows() - row);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(x.middleRows(row, count).transpose());
  }
  return gram.selfadjointView<Eigen::Lower>();
}

Vector solve_penalised(const Eigen::MatrixXd& gram, const Vector& right, double alpha) {
  Eigen::MatrixXd penalised = gram;
  penalised.diagonal().array() += alpha;
  return penalised.llt().solve(right);
}

Matrix linear(const Matrix& x, const Matrix& coefficients) {
  const Index features = coefficients.rows() - 1;
  // Row by row, so that a row's answer does not depend on the rows around it.
  Matrix answers(x.rows(), coefficients.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    answers.row(row) = x.row(row) * coefficients.topRows(features) + coefficients.row(features);
  }
  return answers;
}

Matrix answers(const Matrix& x, const Matrix& coefficients, int classes) {
  return classes == 0 ? linear(x, coefficients) : softmax_rows(linear(x, coefficients));
}

// One matrix of coefficients per alpha.
std::vector<Matrix> fit_path(const Matrix& x, const Vector& y, int classes,
                             const std::vector<double>& alphas, const Context& context) {
  if (classes > 0) return softmax_path(x, y, classes, alphas, context);
  const Matrix path = ridge_path(x, y, alphas, context);
  std::vector<Matrix> coefficients;
  for (Index i = 0; i < path.cols(); ++i) coefficients.emplace_back(path.col(i));
  return coefficients;
}

struct Choice {
  double alpha = kDefaultAlpha;
  Matrix held_out;
};

// The folds and then the fit of all rows are equal parts of the work.
Context fold_part(const Context& context, const Sample& sample, int fold) {
  return context.part(static_cast<std::size_t>(fold),
                      static_cast<std::size_t>(sample.folds.count) + 1);
}

Choice choose_alpha(const Sample& sample, const Head& head, const std::vector<double>& alphas,
                    const Context& context) {
  const Index rows = sample.folds.count == 0 ? 0 : sample.x.rows();
  std::vector<Matrix> held_out(alphas.size(), Matrix(rows, head.outputs()));
  for (int fold = 0; fold < sample.folds.count; ++fold) {
    const std::vector<Index> training = sample.folds.training_rows(fold);
    const std::vector<Index> rest = sample.folds.held_out_rows(fold);
    const Matrix x_rest = take_rows(sample.x, rest);
    const std::vector<Matrix> path =
        fit_path(take_rows(sample.x, training), take_rows(sample.y, training), head.classes, alphas,
                 fold_part(context, sample, fold));
    for (std::size_t i = 0; i < alphas.size(); ++i) {
      put_rows(answers(x_rest, path[i], head.classes), rest, held_out[i]);
    }
  }
  if (rows == 0) return {alphas.size() == 1 ? alphas[0] : kDefaultAlpha, held_out[0]};
  std::size_t best = 0;
  double best_loss = mean_loss(held_out[0], sample.y, head.classes);
  for (std::size_t i = 1; i < alphas.size(); ++i) {
    const double loss = mean_loss(held_out[i], sample.y, head.classes);
    if (loss < best_loss) {
      best = i;
      best_loss = loss;
    }
  }
  return {alphas[best], held_out[best]};
}

std::string describe(double alpha) {
  char text[48];
  std::snprintf(text, sizeof text, "alpha %.3g", alpha);
  return text;
}

}  // namespace

std::vector<double> ridge_alphas() {
  std::vector<double> alphas;
  for (int half_decade = 10; half_decade >= -6; --half_decade) {
    alphas.push_back(std::pow(10.0, half_decade / 2.0));
  }
  return alphas;
}

Matrix ridge_path(const Matrix& x, const Vector& y, const std::vector<double>& alphas,
                  const Context& context) {
  if (x.cols() == 0) return Matrix::Constant(1, static_cast<Index>(alphas.size()), y.mean());
  const Vector center = x.colwise().mean().transpose();
  const Matrix centered = x.rowwise() - center.transpose();
  const double mean = y.mean();
  const Vector target = y.array() - mean;
  // With more features than rows, w = X' (X X' + alpha I)^-1 y is the cheaper of the two forms.
  const bool dual = x.cols() > x.rows();
  const Eigen::MatrixXd gram =
      inner_products(dual ? Matrix(centered.transpose()) : centered, context);
  const Vector right = dual ? target : Vector(centered.transpose() * target);
  Matrix path(x.cols() + 1, static_cast<Index>(alphas.size()));
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    context.part(i, alphas.size()).step(0, "ridge");
    const Vector solved = solve_penalised(gram, right, alphas[i]);
    const Vector weights = dual ? Vector(centered.transpose() * solved) : solved;
    path.col(static_cast<Index>(i)) << weights, mean - center.dot(weights);
  }
  return path;
}

std::vector<HeadReport> RidgeLearner::fit(const Matrix& x, const std::vector<Head>& heads,
                                          const Folds& folds, const Context& context) {
  coefficients_.clear();
  std::vector<HeadReport> reports;
  for (const Head& head : heads) {
    const Context own = context.part(reports.size(), heads.size());
    const Sample sample(x, head, folds);
    const std::vector<double> alphas = alpha_ > 0 ? std::vector<double>{alpha_} : ridge_alphas();
    const Choice choice = choose_alpha(sample, head, alphas, own);
    reports.push_back(sample.report(choice.held_out, head, describe(choice.alpha)));
    coefficients_.push_back(fit_path(sample.x, sample.y, head.classes, {choice.alpha},
                                     fold_part(own, sample, sample.folds.count))
                                .front());
  }
  return reports;
}

std::vector<Matrix> RidgeLearner::predict(const Matrix& x, const Context&) const {
  std::vector<Matrix> predictions;
  for (const Matrix& coefficients : coefficients_) {
    const int classes = coefficients.cols() == 1 ? 0 : static_cast<int>(coefficients.cols());
    predictions.push_back(answers(x, coefficients, classes));
  }
  return predictions;
}

void RidgeLearner::save(StateWriter& out) const {
  for (std::size_t i = 0; i < coefficients_.size(); ++i) {
    out.put_matrix("ridge." + std::to_string(i), coefficients_[i]);
  }
}

void RidgeLearner::load(const StateReader& in, const Shape& shape) {
  coefficients_.clear();
  for (std::size_t i = 0; i < shape.classes.size(); ++i) {
    coefficients_.push_back(
        in.matrix("ridge." + std::to_string(i), shape.features + 1, shape.outputs(i)));
  }
}

}  // namespace omen::learn
