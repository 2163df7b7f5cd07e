// SPDX-License-Identifier: Apache-2.0
// Kernel, factor and the rows that are added to it.
#include "measured/board_model.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>

namespace omen::power {
namespace {

constexpr std::size_t kFewestBoardRows = 5;
constexpr Eigen::Index kRowsTogether = 100;
constexpr double kBoardNoise = 0.002, kNetLength = 4, kOtherFamily = 0.9, kOtherPrecision = 0.3;

double matern(double squared, double length) {
  const double scaled = std::sqrt(3 * squared) / length;
  return (1 + scaled) * std::exp(-scaled);
}

double alike(const BoardRow& a, const BoardRow& b) {
  const MobileName &one = a.net.name, &other = b.net.name;
  const double pixels = 2 * std::log(static_cast<double>(one.pixels) /
                                     static_cast<double>(other.pixels)),
               widths = std::log(one.width / other.width);
  double squared = pixels * pixels + widths * widths, product = 0;
  for (std::size_t i = 0; i < a.net.sizes.size(); ++i) {
    squared += std::pow(a.net.sizes[i] - b.net.sizes[i], 2);
    product += a.net.sizes[i] * b.net.sizes[i];
  }
  const double nets = matern(squared, kNetLength) * (one.family == other.family ? 1 : kOtherFamily);
  const double line = 1 + 0.1 * product;
  const double precision = one.whole == other.whole ? 1 : kOtherPrecision;
  const double runtime = a.runtime == b.runtime ? precision : 0,
               board = a.board == b.board ? precision : 0,
               system = a.system == b.system ? precision : 0;
  return line * (0.5 + 0.7 * runtime + 0.7 * board + system) +
         nets * (0.05 + 0.1 * runtime + 0.1 * board + 0.15 * system);
}

Eigen::MatrixXd between(const std::vector<MeasuredBoard>& a, const std::vector<MeasuredBoard>& b) {
  Eigen::MatrixXd k(static_cast<Eigen::Index>(a.size()), static_cast<Eigen::Index>(b.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      k(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = alike(a[i].row, b[j].row);
  return k;
}

Eigen::MatrixXd logarithms_of(const std::vector<MeasuredBoard>& rows) {
  Eigen::MatrixXd y(static_cast<Eigen::Index>(rows.size()), 2);
  for (std::size_t i = 0; i < rows.size(); ++i)
    y.row(static_cast<Eigen::Index>(i)) << std::log(rows[i].watts), std::log(rows[i].seconds);
  return y;
}

std::vector<MeasuredBoard> usable(const std::vector<MeasuredBoard>& rows) {
  std::vector<MeasuredBoard> kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), [](const MeasuredBoard& row) {
    return row.watts > 0 && row.seconds > 0 && std::isfinite(row.watts * row.seconds);
  });
  return kept;
}

}  // namespace

void BoardModel::append(const std::vector<MeasuredBoard>& rows,
                        const std::function<void(double)>& step) {
  const auto old = static_cast<Eigen::Index>(rows_.size()),
             more = static_cast<Eigen::Index>(rows.size());
  factor_.conservativeResizeLike(Eigen::MatrixXd::Zero(old + more, old + more));
  for (Eigen::Index done = 0; done < more; done += kRowsTogether) {
    step(static_cast<double>(done) / static_cast<double>(more));
    append_block({rows.begin() + done, rows.begin() + std::min(more, done + kRowsTogether)});
  }
  weights_ = logarithms_of(rows_).rowwise() - mean_;
  factor_.triangularView<Eigen::Lower>().solveInPlace(weights_);
  factor_.triangularView<Eigen::Lower>().transpose().solveInPlace(weights_);
}

// The factor has room for the block already.
void BoardModel::append_block(const std::vector<MeasuredBoard>& block) {
  const auto old = static_cast<Eigen::Index>(rows_.size()),
             more = static_cast<Eigen::Index>(block.size());
  Eigen::MatrixXd corner = between(block, block);
  corner.diagonal().array() += kBoardNoise;
  if (old > 0) {
    Eigen::MatrixXd side = between(rows_, block);
    factor_.topLeftCorner(old, old).triangularView<Eigen::Lower>().solveInPlace(side);
    corner.noalias() -= side.transpose() * side;
    factor_.block(old, 0, more, old) = side.transpose();
  }
  factor_.block(old, old, more, more) = corner.llt().matrixL();
  rows_.insert(rows_.end(), block.begin(), block.end());
}

void BoardModel::fit(const std::vector<MeasuredBoard>& rows,
                     const std::function<void(double)>& step) {
  const std::vector<MeasuredBoard> kept = usable(rows);
  if (kept.size() < kFewestBoardRows)
    learn::throw_bad_data(
        "boards need at least 5 measured rows, and there are " + std::to_string(kept.size()),
        "Give power_w and time_s of networks whose names are known.");
  BoardModel next;
  next.mean_ = logarithms_of(kept).colwise().mean();
  next.append(kept, step);
  *this = std::move(next);
}

void BoardModel::restore(const std::vector<MeasuredBoard>& rows, double mean_watts,
                         double mean_seconds) {
  BoardModel next;
  next.mean_ << mean_watts, mean_seconds;
  next.append(rows);
  *this = std::move(next);
}

void BoardModel::observe(const std::vector<MeasuredBoard>& rows) {
  const std::vector<MeasuredBoard> kept = usable(rows);
  if (kept.empty())
    learn::throw_bad_data("no row says what was measured", "Give power_w and time_s.");
  append(kept);
}

BoardCost BoardModel::ask(const BoardRow& row) const {
  if (empty()) learn::throw_no_model("the model of boards");
  Eigen::VectorXd k = between(rows_, {{row, 1, 1}}).col(0);
  const Eigen::RowVector2d said = mean_ + k.transpose() * weights_;
  factor_.triangularView<Eigen::Lower>().solveInPlace(k);
  const double variance = std::max(alike(row, row) - k.squaredNorm(), 0.0);
  return {std::exp(said[0]), std::exp(said[1]), std::sqrt(variance + kBoardNoise)};
}

bool BoardModel::knows(const BoardRow& row) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [&](const MeasuredBoard& one) { return one.row.system == row.system; });
}

}  // namespace omen::power
