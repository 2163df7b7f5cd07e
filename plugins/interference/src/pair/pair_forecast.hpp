// SPDX-License-Identifier: Apache-2.0
// A fitted model of co-located speed with its encoder, its intervals and what was observed since.
#pragma once

#include <memory>
#include <omen/learn/correction.hpp>

#include "pair/pair_model.hpp"

namespace omen::interference {

// How fast a job is beside others, relative to alone.
struct Speed {
  double mean = 1, low = 1, high = 1;
  bool is_extrapolating = false;
};

// Half widths of intervals in deviations, from rows that a model had not seen.
class SpeedIntervals {
 public:
  SpeedIntervals() = default;
  // `known`: of pairs whose families were seen; `foreign`: of families that were not.
  SpeedIntervals(std::vector<double> known, std::vector<double> foreign);
  double half_width(double level, bool is_foreign) const;
  void save(learn::StateWriter& out, const std::string& prefix = "") const;
  void load(const learn::StateReader& in, const std::string& prefix = "");

 private:
  std::vector<double> known_, foreign_;  // sorted absolute scores
};

class PairForecast {
 public:
  // OMEN_INVALID_DATA where no row has a partner and a speed.
  static PairForecast fit(const PairRows& rows, const std::vector<double>& rho, Method method,
                          PairSettings settings, const learn::Context& context);

  std::vector<Speed> ask(const PairRows& rows, double level) const;
  // Means of single cells, without intervals: for queues with many pairs.
  learn::Vector means(const Cells& cells) const;
  Cells cells_of(const PairRows& rows) const;
  // Rows with one partner that were measured after the training.
  void observe(const PairRows& rows, const std::vector<double>& rho);

  const JobEncoder& encoder() const { return encoder_; }
  Method method() const { return method_; }
  // The speeds of the unordered pairs of training rows that are nearest to a cell, nearest first.
  void save(learn::StateWriter& out) const;
  static PairForecast load(const learn::StateReader& in);

 private:
  learn::Matrix correction_rows(const Cells& cells) const;

  Method method_ = Method::kProcess;
  PairSettings settings_;
  JobEncoder encoder_;
  std::unique_ptr<PairModel> model_;
  SpeedIntervals intervals_;
  learn::Correction correction_;
};

// Several partners: the delays that each alone would cause add up. The order does not matter, one
// partner is the pair itself, and a further one never makes a job faster.
double combined_speed(const std::vector<double>& beside_each);

}  // namespace omen::interference
