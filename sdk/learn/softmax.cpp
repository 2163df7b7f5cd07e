// SPDX-License-Identifier: Apache-2.0
// Limited-memory BFGS on the penalised likelihood.
#include "omen/learn/softmax.hpp"

#include <cmath>
#include <deque>

namespace omen::learn {
namespace {

constexpr int kMaxIterations = 300;
constexpr std::size_t kMemory = 10;
constexpr double kTolerance = 1e-6;         // of the gradient per row
constexpr double kInterceptPenalty = 1e-3;  // keeps a class without rows finite

struct Objective {
  const Matrix& x;
  const Vector& codes;
  int classes;
  double alpha;

  double operator()(const Matrix& w, Matrix& gradient) const {
    const Index features = x.cols();
    Matrix p = softmax_rows((x * w.topRows(features)).rowwise() + w.row(features));
    double value = 0;
    for (Index row = 0; row < x.rows(); ++row) {
      double& own = p(row, static_cast<Index>(codes[row]));
      value -= std::log(std::max(own, 1e-300));
      own -= 1;
    }
    gradient.resize(features + 1, classes);
    gradient.topRows(features).noalias() = x.transpose() * p;
    gradient.row(features) = p.colwise().sum();
    gradient.topRows(features) += alpha * w.topRows(features);
    gradient.row(features) += kInterceptPenalty * w.row(features);
    return value + 0.5 * alpha * w.topRows(features).squaredNorm() +
           0.5 * kInterceptPenalty * w.row(features).squaredNorm();
  }
};

double dot(const Matrix& a, const Matrix& b) {
  return a.cwiseProduct(b).sum();
}

struct Step {
  Matrix s, y;
  double rho;
};

// The two-loop recursion, Algorithm 7.4 of doi:10.1007/978-0-387-40065-5.
Matrix direction(const Matrix& gradient, const std::deque<Step>& steps) {
  Matrix q = gradient;
  std::vector<double> a(steps.size());
  for (std::size_t i = steps.size(); i-- > 0;) {
    a[i] = steps[i].rho * dot(steps[i].s, q);
    q -= a[i] * steps[i].y;
  }
  if (!steps.empty()) q *= dot(steps.back().s, steps.back().y) / steps.back().y.squaredNorm();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    q += (a[i] - steps[i].rho * dot(steps[i].y, q)) * steps[i].s;
  }
  return -q;
}

void minimise(const Objective& objective, Matrix& w, const Context& context) {
  Matrix gradient, next_gradient;
  double value = objective(w, gradient);
  std::deque<Step> steps;
  const double enough = kTolerance * static_cast<double>(objective.x.rows());
  for (int i = 0; i < kMaxIterations && gradient.cwiseAbs().maxCoeff() > enough; ++i) {
    context.step(0, "softmax");
    Matrix d = direction(gradient, steps);
    double slope = dot(d, gradient);
    if (slope >= 0) {  // rounding spoilt the curvature: start again from steepest descent
      steps.clear();
      d = -gradient;
      slope = -gradient.squaredNorm();
    }
    double length = steps.empty() ? 1.0 / std::max(1.0, gradient.norm()) : 1.0;
    Matrix next = w + length * d;
    double next_value = objective(next, next_gradient);
    while (!(next_value <= value + 1e-4 * length * slope)) {
      length *= 0.5;
      if (length < 1e-12) return;
      next = w + length * d;
      next_value = objective(next, next_gradient);
    }
    Step step{next - w, next_gradient - gradient, 0};
    const double curvature = dot(step.s, step.y);
    if (curvature > 1e-12 * step.y.squaredNorm()) {
      step.rho = 1 / curvature;
      steps.push_back(std::move(step));
      if (steps.size() > kMemory) steps.pop_front();
    }
    w = std::move(next);
    value = next_value;
    gradient.swap(next_gradient);
  }
}

}  // namespace

Matrix softmax_rows(const Matrix& scores) {
  Matrix p(scores.rows(), scores.cols());
  for (Index row = 0; row < scores.rows(); ++row) {
    p.row(row) = (scores.row(row).array() - scores.row(row).maxCoeff()).exp();
    p.row(row) /= p.row(row).sum();
  }
  return p;
}

std::vector<Matrix> softmax_path(const Matrix& x, const Vector& codes, int classes,
                                 const std::vector<double>& alphas, const Context& context) {
  std::vector<Matrix> path;
  Matrix w = Matrix::Zero(x.cols() + 1, classes);
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    minimise({x, codes, classes, alphas[i]}, w, context.part(i, alphas.size()));
    path.push_back(w);
  }
  return path;
}

}  // namespace omen::learn
