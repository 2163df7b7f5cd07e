// SPDX-License-Identifier: Apache-2.0
// Step times of whole jobs: the sum of operators, what frameworks make of it, and how sure that is.
#pragma once

#include <map>
#include <memory>
#include <omen/learn/correction.hpp>
#include <omen/learn/gaussian_process.hpp>
#include <omen/learn/intervals.hpp>
#include <string>
#include <vector>

#include "step/job_costs.hpp"

namespace omen::driple {

struct JobRow {
  JobCosts costs;
  Device device;
  std::string framework;  // empty: not told
  double seconds = 0;     // measured; 0 where it is asked for
  std::int32_t group = 0;
};

struct StepAnswer {
  double seconds = 0;
  double half_width = 0;  // of the logarithm
  double launch = 0;      // seconds that kernels wait for their launches
  bool extrapolates = false;
};

struct StepOptions {
  int folds = 10;
  std::uint64_t seed = 1;
};

class StepModel {
 public:
  // Rows of one group are held out together where intervals are measured.
  void fit(const std::vector<JobRow>& rows, const StepOptions& options);
  std::vector<StepAnswer> ask(const std::vector<JobRow>& rows, double level) const;
  // Keeps what was measured on a device, for each framework apart.
  void observe(const std::vector<JobRow>& rows);

  void save(learn::StateWriter& out) const;
  void load(const learn::StateReader& in);

 private:
  // Parts, launches and passes of a scheduler; frameworks that launch one by one and servers that
  // launch together are two kinds. A process over what servers leave makes shapes that were left
  // out worse, so they have none.
  static constexpr std::size_t kBaseTerms = kPartCount + 2;
  using Weights = std::array<double, kBaseTerms>;

  const Weights& weights_for(const JobRow& row) const;
  double launch_seconds(const JobRow& row) const;
  learn::Vector base(const std::vector<JobRow>& rows) const;
  learn::Blocks blocks(const std::vector<JobRow>& rows) const;
  void fit_base(const std::vector<JobRow>& rows);
  void measure_intervals(const std::vector<JobRow>& rows, const StepOptions& options);
  void keep_devices(const std::vector<JobRow>& rows);
  void fit_residuals(const std::vector<JobRow>& rows);
  learn::Opinions residuals(const std::vector<JobRow>& rows) const;
  std::string correction_key(const JobRow& row) const;

  Weights stepwise_{}, served_{};
  std::unique_ptr<learn::GaussianProcess> process_;
  learn::ConditionalQuantiles quantiles_;
  learn::ResidualQuantiles served_quantiles_;
  std::map<std::string, learn::Correction> corrections_;  // by device and framework
  learn::Matrix devices_;                                 // that were measured, a row each
};

}  // namespace omen::driple
