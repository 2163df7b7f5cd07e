// SPDX-License-Identifier: Apache-2.0
// Models that know little: a constant, shares of the GPU with and without fitted numbers, and the
// table of clusters of the original.
#pragma once

#include "pair/pair_model.hpp"

namespace omen::interference {

class ConstantModel final : public PairModel {
 public:
  void fit(const Cells&, const learn::Vector& rho, const std::vector<std::int32_t>&,
           const learn::Context&) override {
    mean_ = rho.mean();
  }
  Estimates estimate(const Cells& cells) const override;
  void save(learn::StateWriter& out) const override;
  void load(const learn::StateReader& in) override;

 private:
  double mean_ = 1;
};

// utilisation_prior() as it is; the mean of training where a share is not known.
class UtilsumModel final : public PairModel {
 public:
  void fit(const Cells& cells, const learn::Vector& rho, const std::vector<std::int32_t>& group,
           const learn::Context& context) override;
  Estimates estimate(const Cells& cells) const override;
  void save(learn::StateWriter& out) const override;
  void load(const learn::StateReader& in) override;

 private:
  double mean_ = 1;
};

// A partner delays each step by k u^a v^b of its time, where u is the share of the GPU that the job
// alone keeps busy and v that of the partner: an idle partner costs nothing, and more of either
// never makes a job faster. Three numbers are fitted; the mean of training where a share is not
// known.
class DelayLawModel final : public PairModel {
 public:
  void fit(const Cells& cells, const learn::Vector& rho, const std::vector<std::int32_t>& group,
           const learn::Context& context) override;
  Estimates estimate(const Cells& cells) const override;
  void save(learn::StateWriter& out) const override;
  void load(const learn::StateReader& in) override;

 private:
  learn::Vector law_;  // logarithm of k, a, b
  double mean_ = 1;
};

// Jobs fall into clusters by k-means, and a pair of clusters has the mean speed of its cells.
class ClusterTableModel final : public PairModel {
 public:
  explicit ClusterTableModel(const PairSettings& settings) : clusters_(settings.clusters) {}
  void fit(const Cells& cells, const learn::Vector& rho, const std::vector<std::int32_t>& group,
           const learn::Context& context) override;
  Estimates estimate(const Cells& cells) const override;
  void save(learn::StateWriter& out) const override;
  void load(const learn::StateReader& in) override;

 private:
  int clusters_;
  learn::Matrix centres_, table_;
};

}  // namespace omen::interference
