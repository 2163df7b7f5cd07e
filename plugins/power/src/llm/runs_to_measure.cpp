// SPDX-License-Identifier: Apache-2.0
// Chooses greedily by the variance that an observation leaves at the asked run.
#include "llm/runs_to_measure.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <vector>

#include "llm/llm_model.hpp"

namespace omen::power {
namespace {

struct ProposedRun {
  double batch, input, output;
};

double covariance(const ProposedRun& a, const ProposedRun& b) {
  const learn::CorrectionScales scales = correction_scales();
  const double x = (std::log(a.batch) - std::log(b.batch)) / 2,
               y = (std::log(a.input + a.output + 1) - std::log(b.input + b.output + 1)) / 2;
  return scales.shared + scales.near * std::exp(-std::hypot(x, y) / scales.bandwidth);
}

// Variance at `asked` once `seen` were measured.
double variance_left(const ProposedRun& asked, const std::vector<ProposedRun>& seen) {
  const auto n = static_cast<Eigen::Index>(seen.size());
  Eigen::MatrixXd k(n, n);
  Eigen::VectorXd to(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    to[i] = covariance(asked, seen[static_cast<std::size_t>(i)]);
    for (Eigen::Index j = 0; j < n; ++j)
      k(i, j) = covariance(seen[static_cast<std::size_t>(i)], seen[static_cast<std::size_t>(j)]);
    k(i, i) += correction_scales().noise;
  }
  return covariance(asked, asked) - to.dot(k.ldlt().solve(to));
}

}  // namespace

Table runs_to_measure(double batch, double input_tokens, double output_tokens, int count) {
  const ProposedRun asked{batch, input_tokens, output_tokens};
  std::vector<ProposedRun> grid, chosen;
  // The asked run itself may be out of reach, so only smaller and shorter ones are proposed.
  for (double part = 1; part >= 1.0 / 64; part /= 4)
    for (const double shorter : {1.0, 0.5, 0.25})
      if (batch * part >= 1)
        grid.push_back({std::floor(batch * part), std::ceil(input_tokens * shorter),
                        std::ceil(output_tokens * shorter)});
  const double before = covariance(asked, asked);
  std::vector<double> batches, inputs, outputs, width;
  for (int i = 0; i < count; ++i) {
    const ProposedRun* best = nullptr;
    double least = INFINITY;
    for (const ProposedRun& run : grid) {
      std::vector<ProposedRun> with = chosen;
      with.push_back(run);
      const double left = variance_left(asked, with);
      if (left < least) least = left, best = &run;
    }
    chosen.push_back(*best);
    batches.push_back(best->batch);
    inputs.push_back(best->input);
    outputs.push_back(best->output);
    width.push_back(std::sqrt(std::max(least, 0.0) / before));
  }
  return TableBuilder()
      .add("batch", std::move(batches))
      .add("input_tokens", std::move(inputs))
      .add("output_tokens", std::move(outputs))
      .add("width_left", std::move(width), {{"omen.unit", "1"}})
      .finish();
}

}  // namespace omen::power
