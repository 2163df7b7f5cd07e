// SPDX-License-Identifier: Apache-2.0
// Near limits and like powers answer alike.
#include "energy/cap_response.hpp"

#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>

namespace omen::power {
namespace {

using learn::Index;
using learn::Kernel;
using learn::Matrix;

constexpr std::size_t kFewestCaps = 10;
constexpr double kLimitLength = 0.2, kPowerLength = 0.5, kCapNoise = 0.02;

Kernel cap_kernel() {
  const Kernel curve = Kernel::matern("limit", kLimitLength, learn::Matern::kFiveHalves) *
                       Kernel::matern("power", kPowerLength, learn::Matern::kFiveHalves);
  // Half of a curve belongs to the GPU, half to all of them.
  return (0.5 * Kernel::constant(1) + 0.5 * Kernel::matern("gpu", 0.1)) *
         (curve + Kernel::constant(0.1));
}

}  // namespace

learn::Blocks CapResponse::blocks_of(const std::vector<const CappedJob*>& jobs) const {
  const auto rows = static_cast<Index>(jobs.size());
  Matrix limit(rows, 1), power(rows, 1),
      gpu = Matrix::Zero(rows, static_cast<Index>(gpus_.size()) + 1);
  for (Index r = 0; r < rows; ++r) {
    const CappedJob& job = *jobs[static_cast<std::size_t>(r)];
    limit(r, 0) = job.limit_w / job.most_w;
    power(r, 0) = job.free_w / job.most_w;
    const auto at = std::find(gpus_.begin(), gpus_.end(), job.gpu);
    gpu(r, static_cast<Index>(at - gpus_.begin())) = 1;
  }
  return {{"limit", limit}, {"power", power}, {"gpu", gpu}};
}

void CapResponse::fit(const std::vector<MeasuredCap>& rows) {
  std::vector<const CappedJob*> jobs;
  std::vector<const MeasuredCap*> used;
  CapResponse next;
  for (const MeasuredCap& row : rows) {
    if (!(row.job.free_w > 0 && row.job.free_s > 0 && row.cost.watts > 0 && row.cost.seconds > 0))
      continue;
    jobs.push_back(&row.job);
    used.push_back(&row);
    next.least_part_ = std::min(next.least_part_, row.job.limit_w / row.job.most_w);
    if (std::find(next.gpus_.begin(), next.gpus_.end(), row.job.gpu) == next.gpus_.end())
      next.gpus_.push_back(row.job.gpu);
  }
  if (used.size() < kFewestCaps)
    learn::throw_bad_data(
        "power limits need at least 10 measured rows, and there are " + std::to_string(used.size()),
        "Give power and time with their values without a limit.");
  Matrix ratios(static_cast<Index>(used.size()), 2);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto at = static_cast<Index>(i);
    ratios(at, 0) = std::log(used[i]->cost.watts / used[i]->job.free_w);
    ratios(at, 1) = std::log(used[i]->cost.seconds / used[i]->job.free_s);
  }
  next.process_ = std::make_unique<learn::GaussianProcess>(cap_kernel(), kCapNoise);
  next.process_->fit(next.blocks_of(jobs), ratios,
                     learn::Vector::Ones(static_cast<Index>(used.size())));
  *this = std::move(next);
}

CappedCost CapResponse::ask(const CappedJob& job) const {
  if (!process_) learn::throw_no_model("power.caps");
  if (job.limit_w >= job.most_w) return {job.free_w, job.free_s};
  const Matrix said = process_->predict(blocks_of({&job})).mean;
  return {job.free_w * std::exp(std::min(said(0, 0), 0.0)),
          job.free_s * std::exp(std::max(said(0, 1), 0.0))};
}

bool CapResponse::knows(const CappedJob& job) const {
  return std::find(gpus_.begin(), gpus_.end(), job.gpu) != gpus_.end() &&
         job.limit_w / job.most_w >= least_part_ - 0.01 && job.free_w <= 1.1 * job.most_w;
}

}  // namespace omen::power
