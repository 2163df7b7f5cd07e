// SPDX-License-Identifier: Apache-2.0
// Means, of everything or of pairs of clusters.
#include "pair/simple_models.hpp"

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
