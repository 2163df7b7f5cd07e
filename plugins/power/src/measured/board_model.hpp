// SPDX-License-Identifier: Apache-2.0
// Energy and power of networks on many systems at once, where systems of one board are alike.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "measured/net_name.hpp"

namespace omen::power {

struct BoardRow {
  NamedNet net;
  std::string system, board, runtime;
};

struct MeasuredBoard {
  BoardRow row;
  double watts = 0, seconds = 0;
};

struct BoardCost {
  double watts = 0, seconds = 0;
  double spread = 0;  // deviation of the energy's logarithm
  double joules() const { return watts * seconds; }
};

// A Gaussian process over the logarithms of power and time: lines over the size of a network, bent
// by width and resolution, for all systems, for those of one software or board, and for each alone
// (doi:10.7551/mitpress/3206.001.0001, chapter 2). Rows can be added without starting again.
class BoardModel {
 public:
  // OMEN_INVALID_DATA for fewer than five rows.
  // `step` hears of the part that is done, and may throw.
  void fit(
      const std::vector<MeasuredBoard>& rows,
      const std::function<void(double)>& step = [](double) {});
  void observe(const std::vector<MeasuredBoard>& rows);
  BoardCost ask(const BoardRow& row) const;
  bool knows(const BoardRow& row) const;
  bool empty() const { return rows_.empty(); }
  // What was learnt from, which is the model.
  const std::vector<MeasuredBoard>& rows() const { return rows_; }
  const Eigen::RowVector2d& mean() const { return mean_; }
  // Rows and means of logarithms that a model had.
  void restore(const std::vector<MeasuredBoard>& rows, double mean_watts, double mean_seconds);

 private:
  void append(
      const std::vector<MeasuredBoard>& rows,
      const std::function<void(double)>& step = [](double) {});
  void append_block(const std::vector<MeasuredBoard>& block);

  std::vector<MeasuredBoard> rows_;
  Eigen::MatrixXd factor_;   // lower triangle of the kernel's Cholesky factor
  Eigen::MatrixXd weights_;  // one column for power, one for time
  Eigen::RowVector2d mean_ = Eigen::RowVector2d::Zero();
};

}  // namespace omen::power
