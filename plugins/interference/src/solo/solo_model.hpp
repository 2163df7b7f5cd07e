// SPDX-License-Identifier: Apache-2.0
// A cost of a job alone over its batch size: what its own curve says, and what its counters say.
#pragma once

#include <memory>
#include <omen/learn/gaussian_process.hpp>
#include <omen/learn/intervals.hpp>
#include <omen/learn/learner.hpp>

#include "pair/pair_forecast.hpp"
#include "solo/solo_curves.hpp"
#include "solo/solo_rows.hpp"

namespace omen::interference {

struct SoloAnswer {
  double value = 0, low = 0, high = 0;
  bool is_extrapolating = false;
};

// Scales of rows as points: learnt once, shared by all targets.
class SoloEncoder {
 public:
  void fit(const SoloRows& rows);
  learn::Blocks blocks(const SoloRows& rows) const;
  // Its texts were never seen together, or a number lies outside of what was.
  bool is_foreign(const SoloRows& rows, std::size_t row) const;
  std::vector<learn::GaussianProcess::BlockShape> layout() const;
  void save(learn::StateWriter& out) const;
  void load(const learn::StateReader& in, const SoloColumns& columns);

 private:
  enum class Bend { kNone = 0, kLogarithm = 1, kRoot = 2 };
  struct Number {
    Bend bend = Bend::kNone;
    double mean = 0, deviation = 1, low = 0, high = 0;
    double at(double value) const;
    bool fits(double value) const;
    double bent(double value) const;
  };
  static Number scale_of(std::vector<double> values, bool always_logarithmic);

  std::vector<Number> counters_;
  Number batch_;
  std::vector<std::string> curves_;              // seen, sorted
  std::vector<std::vector<std::string>> words_;  // by text column
};

// One target. A job that was measured at two batch sizes and brings no counters is answered by its
// own curve. All others by a Gaussian process whose kernel adds a curve over log2 of the batch for
// jobs that are called alike to a function of the counters; the shares of both, and how far each
// counter reaches, are those under which the rows are most likely.
class SoloModel {
 public:
  // `percent`: answers stay within 0 and 100.
  SoloModel(std::string target, bool percent) : target_(std::move(target)), percent_(percent) {}
  // OMEN_INVALID_DATA with fewer than two rows that have a value.
  void fit(const SoloEncoder& encoder, const SoloRows& rows, const std::vector<double>& values,
           const learn::Context& context);
  std::vector<SoloAnswer> ask(const SoloEncoder& encoder, const SoloRows& rows, double level) const;
  // Rows that were measured after the training join those of it; what was learnt about shares and
  // reach stays.
  void observe(const SoloEncoder& encoder, const SoloRows& rows, const std::vector<double>& values);

  // Logarithms need values above 0; what is not known is taken.
  bool takes(double value) const { return !logarithmic_ || !(value <= 0); }
  const std::string& target() const { return target_; }
  bool is_percent() const { return percent_; }
  void save(learn::StateWriter& out, const std::string& prefix) const;
  void load(const learn::StateReader& in, const std::string& prefix, const SoloEncoder& encoder);

 private:
  double worked(double value) const;
  double unworked(double value) const;
  void solve();
  SoloCurves drawn_curves(bool measured_only) const;
  void calibrate();
  learn::Vector starts() const;
  SoloAnswer from_curve(double value, double level, bool outside) const;
  double likelihood(const std::vector<learn::Index>& rows) const;

  std::string target_;
  bool percent_;
  bool logarithmic_ = false;
  double mean_ = 0, deviation_ = 1;
  learn::Vector scales_;
  learn::Blocks points_;
  learn::Vector values_;             // worked
  std::vector<std::string> curves_;  // of the rows
  std::vector<double> batch_;        // of the rows
  std::vector<bool> measured_;       // of the rows; the others train but are never left out
  std::unique_ptr<learn::GaussianProcess> process_;
  SpeedIntervals intervals_;
  SoloCurves drawn_;
  learn::ResidualQuantiles drawn_misses_;
};

}  // namespace omen::interference
