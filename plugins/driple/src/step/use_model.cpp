// SPDX-License-Identifier: Apache-2.0
// Least absolute deviations for the start of a job, a logistic curve for what follows.
#include "step/use_model.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <omen/learn/errors.hpp>

namespace omen::driple {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

constexpr int kRounds = 50;
constexpr double kLeastSeconds = 1;  // s; what is off by less counts alike
constexpr double kRidge = 1e-3;      // keeps the logits of rows that can be told apart finite
constexpr double kLargestMove = 3;   // of a weight in one round
constexpr double kLeastBusy = 1e-3;  // share of a job
constexpr std::size_t kRanks = 101;
constexpr Index kStartTerms = 2, kBusyTerms = 3;

// Of the second and third: microseconds for each kernel, and how many there are.
Vector busy_terms(const UseRow& row) {
  Vector terms(kBusyTerms);
  const double kernels = std::max(row.kernels, 1.0);
  terms << 1, std::log(std::max(1e6 * row.step / kernels, 1e-3)), std::log(kernels);
  return terms;
}

std::string plain_framework(const std::string& named) {
  std::string plain = named.substr(0, named.find(' '));
  for (char& letter : plain)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return plain;
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

// Jobs whose plateau was cut in two instead say nothing of their start, so outliers count little.
Vector fitted_start(const std::vector<UseRow>& rows) {
  Vector found = Vector::Zero(kStartTerms);
  for (int round = 0; round < kRounds; ++round) {
    Matrix squares = kRidge * Matrix::Identity(kStartTerms, kStartTerms);
    Vector sums = Vector::Zero(kStartTerms);
    for (const UseRow& row : rows) {
      const Eigen::Vector2d terms(1, row.kernels);
      const double seconds = row.idle / std::max(1 - row.idle, kLeastBusy) * row.steps * row.step;
      const double off = round == 0 ? 0 : std::abs(seconds - terms.dot(found));
      const double weight =
          1 / std::max(off, round == 0 ? std::max(seconds, kLeastSeconds) : kLeastSeconds);
      squares += weight * terms * terms.transpose();
      sums += weight * seconds * terms;
    }
    found = Eigen::LDLT<Eigen::MatrixXd>(squares).solve(sums).cwiseMax(0);
  }
  return found;
}

// Newton's method; shares between 0 and 1 are answers too.
Vector fitted_busy(const std::vector<UseRow>& rows) {
  Vector found = Vector::Zero(kBusyTerms);
  for (int round = 0; round < kRounds; ++round) {
    Vector slope = -kRidge * found;
    Matrix curve = kRidge * Matrix::Identity(kBusyTerms, kBusyTerms);
    for (const UseRow& row : rows) {
      const Vector terms = busy_terms(row);
      const double said = logistic(terms.dot(found));
      const double steady = std::clamp(row.peak / std::max(1 - row.idle, kLeastBusy), 0.0, 1.0);
      slope += (steady - said) * terms;
      curve += std::max(said * (1 - said), 1e-6) * terms * terms.transpose();
    }
    Vector move = Eigen::LDLT<Eigen::MatrixXd>(curve).solve(slope);
    const double largest = move.cwiseAbs().maxCoeff();
    if (largest > kLargestMove) move *= kLargestMove / largest;
    found += move;
  }
  return found;
}

// A residual for each percent says as much as one for each row.
learn::ResidualQuantiles thinned(const learn::ResidualQuantiles& all) {
  const std::vector<double>& sorted = all.sorted();
  if (sorted.size() <= kRanks) return all;
  std::vector<double> kept(kRanks);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    kept[rank] = sorted[rank * (sorted.size() - 1) / (kRanks - 1)];
  return learn::ResidualQuantiles(std::move(kept));
}

}  // namespace

void UseModel::fit_weights(const std::vector<UseRow>& rows) {
  start_ = fitted_start(rows);
  busy_ = fitted_busy(rows);
}

void UseModel::measure_intervals(const std::vector<UseRow>& rows) {
  const auto count = static_cast<Index>(rows.size());
  Vector idle = Vector::Constant(count, learn::kUnknown), peak = idle;
  Vector true_idle(count), true_peak(count);
  std::set<std::int32_t> groups;
  for (const UseRow& row : rows) groups.insert(row.group);
  for (const std::int32_t held : groups) {
    std::vector<UseRow> others;
    for (const UseRow& row : rows)
      if (row.group != held) others.push_back(row);
    if (others.empty()) continue;
    UseModel without;
    without.fit_weights(others);
    for (Index r = 0; r < count; ++r) {
      const UseRow& row = rows[static_cast<std::size_t>(r)];
      true_idle[r] = row.idle, true_peak[r] = row.peak;
      if (row.group != held) continue;
      const UseShares said = without.shares_of(row);
      idle[r] = said.idle, peak[r] = said.peak;
    }
  }
  idle_off_ = thinned(learn::ResidualQuantiles(idle, true_idle));
  peak_off_ = thinned(learn::ResidualQuantiles(peak, true_peak));
}

void UseModel::fit(const std::vector<UseRow>& rows) {
  measure_intervals(rows);
  fit_weights(rows);
  frameworks_.clear();
  for (const UseRow& row : rows)
    if (!row.framework.empty()) frameworks_.insert(plain_framework(row.framework));
}

UseShares UseModel::shares_of(const UseRow& row) const {
  UseShares shares;
  const double start = start_[0] + start_[1] * row.kernels, work = row.steps * row.step;
  shares.idle = start + work > 0 ? start / (start + work) : 0;
  shares.burst = 1 - shares.idle;
  shares.peak = shares.burst * logistic(busy_terms(row).dot(busy_));
  return shares;
}

std::optional<UseShares> UseModel::ask(const UseRow& row, double level) const {
  const bool told = !row.framework.empty() && !frameworks_.empty();
  if (told && !frameworks_.count(plain_framework(row.framework))) return std::nullopt;
  UseShares shares = shares_of(row);
  const auto half = [&](const learn::ResidualQuantiles& off) {
    const double width = off.half_width(level);
    return std::isfinite(width) ? width : 1;
  };
  shares.idle_off = half(idle_off_);
  shares.peak_off = half(peak_off_);
  return shares;
}

void UseModel::save(learn::StateWriter& out) const {
  out.put_numbers("use.start", start_);
  out.put_numbers("use.busy", busy_);
  const auto put_residuals = [&](const char* name, const learn::ResidualQuantiles& off) {
    const std::vector<double>& sorted = off.sorted();
    out.put_numbers(name,
                    Eigen::Map<const Vector>(sorted.data(), static_cast<Index>(sorted.size())));
  };
  put_residuals("use.idle_off", idle_off_);
  put_residuals("use.peak_off", peak_off_);
  out.put_strings("use.frameworks", {frameworks_.begin(), frameworks_.end()});
}

void UseModel::load(const learn::StateReader& in) {
  start_ = in.numbers("use.start", kStartTerms);
  busy_ = in.numbers("use.busy", kBusyTerms);
  if (!start_.allFinite() || !busy_.allFinite() || start_.minCoeff() < 0)
    learn::throw_bad_data("the model holds a bad weight of a GPU's use", "Train it again.");
  const auto read_residuals = [&](const char* name) {
    const Vector sorted = in.numbers(name);
    return learn::ResidualQuantiles(
        std::vector<double>(sorted.data(), sorted.data() + sorted.size()));
  };
  idle_off_ = read_residuals("use.idle_off");
  peak_off_ = read_residuals("use.peak_off");
  const std::vector<std::string> names = in.strings("use.frameworks");
  frameworks_ = {names.begin(), names.end()};
}

}  // namespace omen::driple
