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

constexpr std::size_t kFewestCaps = 10, kMostCaps = 1000;
constexpr Index kCapAnswers = 2;  // ratios of power and of time
constexpr const char* kCapsId = "power.caps";
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

void CapResponse::fit(const std::vector<MeasuredCap>& rows, CapAnswers answers) {
  std::vector<const MeasuredCap*> usable, used;
  for (const MeasuredCap& row : rows)
    if (row.job.free_w > 0 && row.job.free_s > 0 && row.cost.watts > 0 && row.cost.seconds > 0)
      usable.push_back(&row);
  if (usable.size() < kFewestCaps)
    learn::throw_bad_data("power limits need at least 10 measured rows, and there are " +
                              std::to_string(usable.size()),
                          "Give power and time, or energy, with those without a limit.");
  const std::size_t stride = (usable.size() + kMostCaps - 1) / kMostCaps;
  for (std::size_t i = 0; i < usable.size(); i += stride) used.push_back(usable[i]);
  CapResponse next;
  next.answers_ = answers;
  std::vector<const CappedJob*> jobs;
  for (const MeasuredCap* row : used) {
    jobs.push_back(&row->job);
    next.least_part_ = std::min(next.least_part_, row->job.limit_w / row->job.most_w);
    if (std::find(next.gpus_.begin(), next.gpus_.end(), row->job.gpu) == next.gpus_.end())
      next.gpus_.push_back(row->job.gpu);
  }
  Matrix ratios(static_cast<Index>(used.size()), kCapAnswers);
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
  if (!process_) learn::throw_no_model(kCapsId);
  if (job.limit_w >= job.most_w) return {job.free_w, job.free_s};
  const Matrix said = process_->predict(blocks_of({&job})).mean;
  if (answers_ == CapAnswers::energy) return {job.free_w * std::exp(said(0, 0)), job.free_s};
  return {job.free_w * std::exp(std::min(said(0, 0), 0.0)),
          job.free_s * std::exp(std::max(said(0, 1), 0.0))};
}

void CapResponse::save(learn::StateWriter& out) const {
  if (!process_) learn::throw_no_model(kCapsId);
  out.put_strings("gpus", gpus_);
  out.put_numbers("least_part", learn::Vector::Constant(1, least_part_));
  out.put_integers("answers", {static_cast<std::int64_t>(answers_)});
  process_->save(out, "caps");
}

void CapResponse::load(const learn::StateReader& in) {
  CapResponse next;
  next.gpus_ = in.strings("gpus");
  next.least_part_ = in.numbers("least_part", 1)[0];
  const std::vector<std::int64_t> answers = in.integers("answers");
  if (next.gpus_.empty() || answers.size() != 1 || answers[0] < 0 || answers[0] > 1)
    learn::throw_bad_data("the model of power limits is damaged", "Train it again.");
  next.answers_ = static_cast<CapAnswers>(answers[0]);
  next.process_ = std::make_unique<learn::GaussianProcess>(cap_kernel(), kCapNoise);
  next.process_->load(
      in, "caps", {{"limit", 1}, {"power", 1}, {"gpu", static_cast<Index>(next.gpus_.size()) + 1}},
      kCapAnswers);
  *this = std::move(next);
}

bool CapResponse::knows(const CappedJob& job) const {
  return std::find(gpus_.begin(), gpus_.end(), job.gpu) != gpus_.end() &&
         job.limit_w / job.most_w >= least_part_ - 0.01 && job.free_w <= 1.1 * job.most_w;
}

}  // namespace omen::power
