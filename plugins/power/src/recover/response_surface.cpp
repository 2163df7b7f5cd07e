// SPDX-License-Identifier: Apache-2.0
// Costs are products of powers of the parameters to first order, so logarithms are fitted.
#include "recover/response_surface.hpp"

#include <cmath>
#include <omen/learn/ridge.hpp>

namespace omen::power {
namespace {

constexpr double kPenalty = 0.05;

// Place on the axis of a parameter, from -1 to 1.
double centred(const Parameter& parameter, std::size_t value) {
  return parameter.values.size() < 2
             ? 0
             : 2 * static_cast<double>(value) / static_cast<double>(parameter.values.size() - 1) -
                   1;
}

std::vector<double> surface_terms(const Design& design) {
  const std::vector<Parameter>& space = design_space();
  std::vector<double> terms, places;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].kind == ParameterKind::choice && !space[i].logarithmic) {
      for (std::size_t value = 0; value < space[i].values.size(); ++value)
        terms.push_back(design[i] == value ? 1 : 0);
      continue;
    }
    places.push_back(centred(space[i], design[i]));
    terms.push_back(places.back());
    terms.push_back(places.back() * places.back());
  }
  // Rows, columns, bandwidth and clock decide together which of them is the bottleneck.
  for (const std::size_t a : {0U, 1U, 6U})
    for (const std::size_t b : {1U, 6U, 7U})
      if (a < b) terms.push_back(places[a] * places[b]);
  return terms;
}

Eigen::VectorXd solved(const learn::Matrix& x, const learn::Vector& y) {
  return learn::ridge_path(x, y, {kPenalty}, learn::Context()).col(0);
}

double value_at(const Eigen::VectorXd& weights, const std::vector<double>& terms) {
  double sum = weights[weights.size() - 1];
  for (std::size_t i = 0; i < terms.size(); ++i)
    sum += weights[static_cast<Eigen::Index>(i)] * terms[i];
  return sum;
}

}  // namespace

void ResponseSurface::fit(const std::vector<Judged>& designs) {
  const std::size_t width = surface_terms(nearest_design(Hardware())).size();
  learn::Matrix x(static_cast<Eigen::Index>(designs.size()), static_cast<Eigen::Index>(width));
  learn::Vector power(x.rows()), latency(x.rows());
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const Judged& one = designs[static_cast<std::size_t>(row)];
    const std::vector<double> terms = surface_terms(one.design);
    for (std::size_t c = 0; c < width; ++c) x(row, static_cast<Eigen::Index>(c)) = terms[c];
    power[row] = std::log(one.power_w);
    latency[row] = std::log(one.latency_s);
  }
  power_ = solved(x, power);
  latency_ = solved(x, latency);
}

ResponseSurface::Expected ResponseSurface::at(const Design& design) const {
  const std::vector<double> terms = surface_terms(design);
  return {std::exp(value_at(power_, terms)), std::exp(value_at(latency_, terms))};
}

}  // namespace omen::power
