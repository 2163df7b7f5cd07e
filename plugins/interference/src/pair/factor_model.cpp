// SPDX-License-Identifier: Apache-2.0
// Alternating least squares over the cells that were seen.
#include "pair/factor_model.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>
#include <omen/learn/random.hpp>

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

constexpr int kSweeps = 60;
constexpr double kLeastRho = 0.03;

struct Seen {
  Index job, other;
  double log_rho;
};

// The factors of every job given those of the others: y = own + u.w + other's own.
void solve_side(const std::vector<Seen>& seen, double mean, const Matrix& others, double ridge,
                Matrix& own) {
  const Index width = own.cols();
  std::vector<Matrix> left(static_cast<std::size_t>(own.rows()),
                           Matrix::Identity(width, width) * ridge);
  Matrix right = Matrix::Zero(own.rows(), width);
  for (const Seen& cell : seen) {
    Vector x = others.row(cell.other);
    const double rest = cell.log_rho - mean - x[0];
    x[0] = 1;
    left[static_cast<std::size_t>(cell.job)] += x * x.transpose();
    right.row(cell.job) += rest * x.transpose();
  }
  for (Index job = 0; job < own.rows(); ++job)
    own.row(job) = left[static_cast<std::size_t>(job)].ldlt().solve(right.row(job).transpose());
}

}  // namespace

void FactorModel::fit(const Cells& cells, const Vector& rho, const std::vector<std::int32_t>&,
                      const learn::Context& context) {
  names_ = cells.names;
  families_ = cells.families;
  std::vector<Seen> forward, backward;
  double sum = 0;
  for (Index row = 0; row < rho.size(); ++row) {
    const Cell& cell = cells.cells[static_cast<std::size_t>(row)];
    const double log_rho = std::log(std::max(rho[row], kLeastRho));
    forward.push_back({cell.victim, cell.partner, log_rho});
    backward.push_back({cell.partner, cell.victim, log_rho});
    sum += log_rho;
  }
  mean_ = sum / static_cast<double>(rho.size());
  learn::Random random(context.seed, 3);
  suffers_ = inflicts_ = Matrix::Zero(cells.jobs.rows(), 1 + rank_);
  for (Index job = 0; job < inflicts_.rows(); ++job)
    for (int f = 1; f <= rank_; ++f) inflicts_(job, f) = 0.3 * random.normal();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    solve_side(forward, mean_, inflicts_, ridge_, suffers_);
    solve_side(backward, mean_, suffers_, ridge_, inflicts_);
  }
}

Vector FactorModel::factors_of(const Cells& cells, std::size_t job, const Matrix& of) const {
  const auto at = std::find(names_.begin(), names_.end(), cells.names[job]);
  if (at != names_.end()) return of.row(at - names_.begin());
  Vector sum = Vector::Zero(of.cols());
  double relatives = 0;
  for (std::size_t known = 0; known < names_.size(); ++known) {
    if (families_[known] != cells.families[job]) continue;
    sum += of.row(static_cast<Index>(known)).transpose();
    ++relatives;
  }
  return relatives > 0 ? Vector(sum / relatives) : sum;
}

Estimates FactorModel::estimate(const Cells& cells) const {
  const auto jobs = static_cast<Index>(cells.names.size());
  Matrix suffers(jobs, 1 + rank_), inflicts(jobs, 1 + rank_);
  for (Index job = 0; job < jobs; ++job) {
    suffers.row(job) = factors_of(cells, static_cast<std::size_t>(job), suffers_);
    inflicts.row(job) = factors_of(cells, static_cast<std::size_t>(job), inflicts_);
  }
  Vector mean(static_cast<Index>(cells.cells.size()));
  for (Index i = 0; i < mean.size(); ++i) {
    const Cell& cell = cells.cells[static_cast<std::size_t>(i)];
    const auto v = suffers.row(cell.victim), p = inflicts.row(cell.partner);
    mean[i] = std::exp(mean_ + v[0] + p[0] + v.tail(rank_).dot(p.tail(rank_)));
  }
  return {mean, {}};
}

void FactorModel::save(learn::StateWriter& out) const {
  out.put_strings("factors.names", names_);
  out.put_strings("factors.families", families_);
  out.put_matrix("factors.suffers", suffers_);
  out.put_matrix("factors.inflicts", inflicts_);
  out.put_numbers("factors.mean", Vector::Constant(1, mean_));
}

void FactorModel::load(const learn::StateReader& in) {
  names_ = in.strings("factors.names");
  families_ = in.strings("factors.families");
  const auto jobs = static_cast<Index>(names_.size());
  suffers_ = in.matrix("factors.suffers", jobs, -1);
  inflicts_ = in.matrix("factors.inflicts", jobs, suffers_.cols());
  mean_ = in.numbers("factors.mean", 1)[0];
  rank_ = static_cast<int>(suffers_.cols()) - 1;
  if (families_.size() != names_.size() || rank_ < 0 || !suffers_.allFinite() ||
      !inflicts_.allFinite() || !std::isfinite(mean_))
    learn::throw_bad_data("the model's factors are damaged", "Train the model again.");
}

}  // namespace omen::interference
