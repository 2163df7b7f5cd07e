// SPDX-License-Identifier: Apache-2.0
// Completion of the matrix of speeds: what each job suffers, what each inflicts, and their
// products.
#pragma once

#include "pair/pair_model.hpp"

namespace omen::interference {

// log rho = m + a(victim) + b(partner) + u(victim) . w(partner), all shrunk towards 0. Rank 0 is
// the additive model. A job that was never seen has the features of its family, or nothing of its
// own.
class FactorModel final : public PairModel {
 public:
  FactorModel(int rank, double ridge) : rank_(rank), ridge_(ridge) {}
  void fit(const Cells& cells, const learn::Vector& rho, const std::vector<std::int32_t>& group,
           const learn::Context& context) override;
  Estimates estimate(const Cells& cells) const override;
  void save(learn::StateWriter& out) const override;
  void load(const learn::StateReader& in) override;

 private:
  learn::Vector factors_of(const Cells& cells, std::size_t job, const learn::Matrix& of) const;

  int rank_;
  double ridge_;
  double mean_ = 0;
  std::vector<std::string> names_, families_;
  // One row a job: its own share of log rho first, then the factors.
  learn::Matrix suffers_, inflicts_;
};

}  // namespace omen::interference
