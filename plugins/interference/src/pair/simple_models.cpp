// SPDX-License-Identifier: Apache-2.0
// Means, of everything or of pairs of clusters.
#include "pair/simple_models.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>
#include <omen/learn/kmeans.hpp>

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

double load_mean(const learn::StateReader& in) {
  const double mean = in.numbers("mean", 1)[0];
  if (!std::isfinite(mean))
    learn::throw_bad_data("the model's mean is damaged", "Train the model again.");
  return mean;
}

constexpr double kLeastShare = 0.01;  // below, the logarithm says more than the measurement

// Logarithms of the shares of both jobs, and the speed that was measured.
struct LawPoint {
  double victim, partner, rho;
  bool is_known() const { return std::isfinite(victim) && std::isfinite(partner); }
};
LawPoint law_point(const Cells& cells, const Cell& cell) {
  const auto log_share = [&](std::int32_t job) {
    const double share = cells.shares[static_cast<std::size_t>(job)];
    return std::isfinite(share) ? std::log(std::max(share, kLeastShare)) : share;
  };
  return {log_share(cell.victim), log_share(cell.partner), learn::kUnknown};
}
double delay_at(const Vector& law, const LawPoint& at) {
  return std::exp(std::clamp(law[0] + law[1] * at.victim + law[2] * at.partner, -50.0, 50.0));
}

// Least squares of the speeds with a weak pull to k = a = b = 1 by Levenberg's method
// (doi:10.1090/qam/10666); exponents below 0 would let a busier job run faster.
Vector fit_law(const std::vector<LawPoint>& points) {
  constexpr double kLawPull = 1e-3;
  constexpr int kLawSteps = 100;
  Vector start(3);
  start << 0, 1, 1;
  const auto misses = [&](const Vector& law) {
    double sum = kLawPull * (law - start).squaredNorm();
    for (const LawPoint& at : points) sum += std::pow(at.rho - 1 / (1 + delay_at(law, at)), 2);
    return sum;
  };
  Vector law = start;
  double best = misses(law), damping = 0.01;
  for (int step = 0; step < kLawSteps; ++step) {
    Matrix normal = (kLawPull + damping) * Matrix::Identity(3, 3);
    Vector slope = kLawPull * (start - law);
    for (const LawPoint& at : points) {
      const double delay = delay_at(law, at), speed = 1 / (1 + delay);
      Vector along(3);
      along << 1, at.victim, at.partner;
      along *= -delay * speed * speed;
      normal += along * along.transpose();
      slope += along * (at.rho - speed);
    }
    Vector next = law + Vector(normal.ldlt().solve(slope));
    next.tail(2) = next.tail(2).cwiseMax(0.0);
    const double found = misses(next);
    damping = std::clamp(found < best ? damping / 3 : damping * 4, 1e-9, 1e9);
    if (found >= best) continue;
    best = found;
    law = next;
  }
  return law;
}

}  // namespace

double utilisation_prior(double victim_share, double partner_share) {
  const double wanted = victim_share + partner_share;
  return wanted > 1 ? 1 / wanted : 1;
}

Estimates ConstantModel::estimate(const Cells& cells) const {
  return {Vector::Constant(static_cast<Index>(cells.cells.size()), mean_), {}};
}
void ConstantModel::save(learn::StateWriter& out) const {
  out.put_numbers("mean", Vector::Constant(1, mean_));
}
void ConstantModel::load(const learn::StateReader& in) {
  mean_ = load_mean(in);
}

void UtilsumModel::fit(const Cells& cells, const Vector& rho, const std::vector<std::int32_t>&,
                       const learn::Context&) {
  mean_ = rho.mean();
  for (const Cell& cell : cells.cells)
    if (std::isfinite(cell.prior)) return;
  learn::throw_bad_data("utilsum needs how busy each job keeps the GPU",
                        "Give columns util_pct and partner_util_pct, or use another --method.");
}
Estimates UtilsumModel::estimate(const Cells& cells) const {
  Vector mean(static_cast<Index>(cells.cells.size()));
  for (Index i = 0; i < mean.size(); ++i) {
    const double prior = cells.cells[static_cast<std::size_t>(i)].prior;
    mean[i] = std::isfinite(prior) ? prior : mean_;
  }
  return {mean, {}};
}
void UtilsumModel::save(learn::StateWriter& out) const {
  out.put_numbers("mean", Vector::Constant(1, mean_));
}
void UtilsumModel::load(const learn::StateReader& in) {
  mean_ = load_mean(in);
}

void DelayLawModel::fit(const Cells& cells, const Vector& rho, const std::vector<std::int32_t>&,
                        const learn::Context&) {
  mean_ = rho.mean();
  std::vector<LawPoint> points;
  for (std::size_t i = 0; i < cells.cells.size(); ++i)
    if (const LawPoint at = law_point(cells, cells.cells[i]); at.is_known())
      points.push_back({at.victim, at.partner, rho[static_cast<Index>(i)]});
  if (points.empty())
    learn::throw_bad_data("delay_law needs how busy each job keeps the GPU",
                          "Give columns util_pct and partner_util_pct, or use another --method.");
  law_ = fit_law(points);
}
Estimates DelayLawModel::estimate(const Cells& cells) const {
  Vector mean(static_cast<Index>(cells.cells.size()));
  for (Index i = 0; i < mean.size(); ++i) {
    const LawPoint at = law_point(cells, cells.cells[static_cast<std::size_t>(i)]);
    mean[i] = at.is_known() ? 1 / (1 + delay_at(law_, at)) : mean_;
  }
  return {mean, {}};
}
void DelayLawModel::save(learn::StateWriter& out) const {
  out.put_numbers("mean", Vector::Constant(1, mean_));
  out.put_numbers("law", law_);
}
void DelayLawModel::load(const learn::StateReader& in) {
  mean_ = load_mean(in);
  law_ = in.numbers("law", 3);
  if (!law_.allFinite() || law_.cwiseAbs().maxCoeff() > 50)
    learn::throw_bad_data("the model's law is damaged", "Train the model again.");
}

void ClusterTableModel::fit(const Cells& cells, const Vector& rho, const std::vector<std::int32_t>&,
                            const learn::Context& context) {
  learn::KMeansOptions options;
  options.clusters = std::min<int>(clusters_, static_cast<int>(cells.jobs.rows()));
  options.seed = context.seed;
  const learn::KMeans found = learn::kmeans(cells.jobs, options);
  centres_ = found.centres;
  Matrix count = Matrix::Zero(centres_.rows(), centres_.rows());
  table_ = count;
  for (Index row = 0; row < rho.size(); ++row) {
    const Cell& cell = cells.cells[static_cast<std::size_t>(row)];
    const Index v = found.of_row[static_cast<std::size_t>(cell.victim)];
    const Index p = found.of_row[static_cast<std::size_t>(cell.partner)];
    table_(v, p) += rho[row];
    count(v, p) += 1;
  }
  for (Index i = 0; i < table_.size(); ++i)
    table_.data()[i] = count.data()[i] > 0 ? table_.data()[i] / count.data()[i] : rho.mean();
}

Estimates ClusterTableModel::estimate(const Cells& cells) const {
  learn::KMeans nearest;
  nearest.centres = centres_;
  const std::vector<Index> of_job = nearest.assign(cells.jobs);
  Vector mean(static_cast<Index>(cells.cells.size()));
  for (Index i = 0; i < mean.size(); ++i) {
    const Cell& cell = cells.cells[static_cast<std::size_t>(i)];
    mean[i] = table_(of_job[static_cast<std::size_t>(cell.victim)],
                     of_job[static_cast<std::size_t>(cell.partner)]);
  }
  return {mean, {}};
}

void ClusterTableModel::save(learn::StateWriter& out) const {
  out.put_matrix("clusters.centres", centres_);
  out.put_matrix("clusters.table", table_);
}
void ClusterTableModel::load(const learn::StateReader& in) {
  centres_ = in.matrix("clusters.centres");
  table_ = in.matrix("clusters.table", centres_.rows(), centres_.rows());
  if (centres_.rows() == 0 || !centres_.allFinite() || !table_.allFinite())
    learn::throw_bad_data("the model's clusters are damaged", "Train the model again.");
}

}  // namespace omen::interference
