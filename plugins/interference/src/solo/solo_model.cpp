// SPDX-License-Identifier: Apache-2.0
// Finds the most likely kernel, and answers with it.
#include "solo/solo_model.hpp"

#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>
#include <omen/learn/random.hpp>
#include <set>

namespace omen::interference {
namespace {

using learn::Index;
using learn::Kernel;
using learn::Matrix;
using learn::Vector;

constexpr Index kMostKeptRows = 1500;     // that are kept
constexpr std::size_t kSearchRows = 150;  // that the kernel is chosen on
constexpr int kChoiceSweeps = 4;
constexpr std::size_t kMostHeldCurves = 40;
constexpr double kChoicePull = 0.1;  // of the start, on the scale of log likelihood
constexpr double kReachStart = 2;
constexpr double kApart = 0.05;  // so near that jobs of other names have nothing to say
const std::vector<double> kReaches = {0.5, 1, 2, 4, 8, 16};

// What a kernel is made of: factors, reaches and the noise.
enum Scale : Index {
  kCounterLine,
  kCounterShare,
  kCurveLevel,
  kCurveShape,
  kBatchReach,
  kBatchShare,
  kNoiseShare,
  kScales
};
struct Choice {
  Scale scale;
  double start;
  std::vector<double> values;
};
const std::vector<Choice>& choices() {
  static const std::vector<Choice> all = {
      {kCounterLine, 1, {0.01, 0.1, 1, 10}},
      {kCounterShare, 0.3, {0.01, 0.1, 0.3, 1, 3}},
      {kCurveLevel, 0.3, {0.01, 0.1, 0.3, 1, 3}},
      {kCurveShape, 0.3, {0.01, 0.1, 0.3, 1}},
      {kBatchReach, 2, {0.7, 1.4, 2, 3, 5}},
      {kBatchShare, 0.3, {0.01, 0.1, 0.3, 1}},
      {kNoiseShare, 0.01, {3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1}}};
  return all;
}

// The counters reach as far as the numbers behind the scales say, each for itself.
Kernel over_counters(const Vector& scales) {
  Kernel product = Kernel::constant(scales[kCounterShare]);
  for (Index i = kScales; i < scales.size(); ++i)
    product = product * Kernel::matern("counter" + std::to_string(i - kScales), scales[i]);
  return product;
}

Kernel kernel_of(const Vector& scales) {
  const Kernel over_batch =
      Kernel::matern("batch", scales[kBatchReach], learn::Matern::kFiveHalves) +
      Kernel::linear("batch");
  return Kernel::constant(1) + scales[kCounterLine] * Kernel::linear("counters") +
         over_counters(scales) +
         Kernel::matern("words", kApart) *
             (Kernel::constant(scales[kCurveLevel]) + scales[kCurveShape] * over_batch) +
         scales[kBatchShare] * over_batch;
}

learn::Blocks rows_of(const learn::Blocks& all, const std::vector<Index>& rows) {
  learn::Blocks some;
  for (const learn::Block& block : all)
    some.push_back({block.name, block.values(rows, Eigen::all)});
  return some;
}

}  // namespace

double SoloModel::worked(double value) const {
  return ((logarithmic_ ? std::log(value) : value) - mean_) / deviation_;
}

double SoloModel::unworked(double value) const {
  const double plain = mean_ + deviation_ * value;
  if (logarithmic_) return std::exp(std::clamp(plain, -700.0, 700.0));
  return percent_ ? std::clamp(plain, 0.0, 100.0) : plain;
}

Vector SoloModel::starts() const {
  const Index counters = points_[0].values.cols();
  Vector scales = Vector::Constant(static_cast<Index>(kScales) + counters, kReachStart);
  for (const Choice& choice : choices()) scales[choice.scale] = choice.start;
  return scales;
}

double SoloModel::likelihood(const std::vector<Index>& rows) const {
  learn::GaussianProcess process(kernel_of(scales_), scales_[kNoiseShare]);
  const Vector y = values_(rows);
  process.fit(rows_of(points_, rows), y, Vector::Ones(y.size()));
  double pull = 0;
  for (Index i = 0; i < scales_.size(); ++i)
    pull += std::pow(std::log(scales_[i] / starts()[i]), 2);
  return process.log_likelihood() - kChoicePull * pull;
}

void SoloModel::fit(const SoloEncoder& encoder, const SoloRows& rows,
                    const std::vector<double>& values, const learn::Context& context) {
  std::vector<double> known;
  for (const double value : values)
    if (std::isfinite(value)) known.push_back(value);
  std::size_t real = 0;
  for (std::size_t row = 0; row < values.size(); ++row)
    real += std::isfinite(values[row]) && !rows.synthetic[row] ? 1 : 0;
  if (real < 2)
    learn::throw_bad_data("fewer than two measured rows have a value of " + target_,
                          "Give rows of jobs alone with their batch size and " + target_ + ".");
  const auto [least, most] = std::minmax_element(known.begin(), known.end());
  logarithmic_ = !percent_ && *least > 0;
  mean_ = 0;
  deviation_ = 1;
  double sum = 0, squares = 0;
  for (const double value : known) sum += worked(value);
  mean_ = sum / static_cast<double>(known.size());
  for (const double value : known) squares += std::pow(worked(value), 2);
  deviation_ = std::max(std::sqrt(squares / static_cast<double>(known.size())), 1e-9);
  points_.clear();
  batch_.clear();
  measured_.clear();
  values_.resize(0);
  curves_.clear();
  observe(encoder, rows, values);
  scales_ = starts();

  std::vector<Index> searched;
  for (const std::ptrdiff_t row : learn::Random(context.seed, 33).permutation(values_.size()))
    if (searched.size() < kSearchRows) searched.push_back(row);
  double best = likelihood(searched);
  const auto choose = [&](Index scale, const std::vector<double>& offered) {
    double kept = scales_[scale];
    for (const double value : offered) {
      scales_[scale] = value;
      const double found = likelihood(searched);
      if (found <= best) continue;
      best = found;
      kept = value;
    }
    scales_[scale] = kept;
  };
  for (int sweep = 0; sweep < kChoiceSweeps; ++sweep) {
    for (const Choice& choice : choices()) {
      context.step(static_cast<double>(sweep) / kChoiceSweeps, target_.c_str());
      choose(choice.scale, choice.values);
    }
    for (Index i = kScales; i < scales_.size(); ++i) {
      context.step(static_cast<double>(sweep) / kChoiceSweeps, target_.c_str());
      choose(i, kReaches);
    }
  }
  solve();
  calibrate();
}

void SoloModel::observe(const SoloEncoder& encoder, const SoloRows& rows,
                        const std::vector<double>& values) {
  std::vector<Index> known;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!std::isfinite(values[row])) continue;
    if (!takes(values[row]))
      learn::throw_bad_data(target_ + " is " + std::to_string(values[row]),
                            "Rates and times are above 0.");
    known.push_back(static_cast<Index>(row));
  }
  const learn::Blocks added = rows_of(encoder.blocks(rows), known);
  if (points_.empty())
    for (const learn::Block& block : added)
      points_.push_back({block.name, Matrix(0, block.values.cols())});
  const Index before = values_.size(), all = before + static_cast<Index>(known.size());
  // The newest rows stay where there are too many.
  const Index dropped = std::max<Index>(all - kMostKeptRows, 0);
  Vector joined(all);
  joined << values_, Vector(static_cast<Index>(known.size()));
  for (std::size_t i = 0; i < known.size(); ++i) {
    joined[before + static_cast<Index>(i)] = worked(values[static_cast<std::size_t>(known[i])]);
    curves_.push_back(rows.curve(static_cast<std::size_t>(known[i])));
    batch_.push_back(rows.batch[static_cast<std::size_t>(known[i])]);
    measured_.push_back(!rows.synthetic[static_cast<std::size_t>(known[i])]);
  }
  values_ = joined.tail(all - dropped);
  curves_.erase(curves_.begin(), curves_.begin() + dropped);
  batch_.erase(batch_.begin(), batch_.begin() + dropped);
  measured_.erase(measured_.begin(), measured_.begin() + dropped);
  for (std::size_t b = 0; b < points_.size(); ++b) {
    Matrix both(all, points_[b].values.cols());
    both << points_[b].values, added[b].values;
    points_[b].values = both.bottomRows(all - dropped);
  }
  if (process_) solve();
}

void SoloModel::solve() {
  process_ = std::make_unique<learn::GaussianProcess>(kernel_of(scales_), scales_[kNoiseShare]);
  process_->fit(points_, values_, Vector::Ones(values_.size()));
  drawn_ = drawn_curves(false);
  drawn_misses_ = learn::ResidualQuantiles(drawn_curves(true).left_out());
}

SoloCurves SoloModel::drawn_curves(bool measured_only) const {
  SoloCurves drawn(percent_       ? CurveScale::kPercent
                   : logarithmic_ ? CurveScale::kPositive
                                  : CurveScale::kPlain);
  for (std::size_t row = 0; row < curves_.size(); ++row)
    if (measured_[row] || !measured_only)
      drawn.add(curves_[row], batch_[row], unworked(values_[static_cast<Index>(row)]));
  return drawn;
}

// How many deviations measured rows are missed by that the process has not seen: one at a time for
// jobs that are known, whole curves for others. Filled rows follow from measured ones, so a process
// that knows them has seen those too.
void SoloModel::calibrate() {
  std::vector<double> known, foreign;
  const auto score = [&](const learn::Opinions& said, const Vector& truth,
                         std::vector<double>& scores) {
    for (Index i = 0; i < truth.size(); ++i)
      scores.push_back(std::abs(truth[i] - said.mean(i, 0)) /
                       std::sqrt(said.variance[i] + scales_[kNoiseShare]));
  };
  std::vector<Index> real;
  std::set<std::string> unique;
  for (std::size_t row = 0; row < curves_.size(); ++row)
    if (measured_[row]) {
      real.push_back(static_cast<Index>(row));
      unique.insert(curves_[row]);
    }
  learn::GaussianProcess process(kernel_of(scales_), scales_[kNoiseShare]);
  const Vector values = values_(real);
  score(process.fit(rows_of(points_, real), values, Vector::Ones(values.size())), values, known);
  std::size_t held = 0;
  for (const std::string& curve : unique) {
    if (unique.size() < 3 || ++held > kMostHeldCurves) break;
    std::vector<Index> in, out;
    for (const Index row : real)
      (curves_[static_cast<std::size_t>(row)] == curve ? out : in).push_back(row);
    learn::GaussianProcess without(kernel_of(scales_), scales_[kNoiseShare]);
    const Vector rest = values_(in);
    without.fit(rows_of(points_, in), rest, Vector::Ones(rest.size()));
    score(without.predict(rows_of(points_, out)), values_(out), foreign);
  }
  intervals_ = SpeedIntervals(std::move(known), std::move(foreign));
}

std::vector<SoloAnswer> SoloModel::ask(const SoloEncoder& encoder, const SoloRows& rows,
                                       double level) const {
  const learn::Opinions said = process_->predict(encoder.blocks(rows));
  std::vector<SoloAnswer> answers;
  for (std::size_t row = 0; row < rows.batch.size(); ++row) {
    const auto at = static_cast<Index>(row);
    const bool foreign = encoder.is_foreign(rows, row);
    const bool counted = rows.counters.row(at).array().isFinite().any();
    if (const std::optional<double> own = drawn_.at(rows.curve(row), rows.batch[row]);
        own && !counted) {
      answers.push_back(
          from_curve(*own, level, foreign || drawn_.is_outside(rows.curve(row), rows.batch[row])));
      continue;
    }
    const double half =
        intervals_.half_width(level, foreign) * std::sqrt(said.variance[at] + scales_[kNoiseShare]);
    const double middle = said.mean(at, 0);
    answers.push_back(
        {unworked(middle), unworked(middle - half), unworked(middle + half), foreign});
  }
  return answers;
}

// Twice as wide beyond what was measured; half of the value where nothing could be left out.
SoloAnswer SoloModel::from_curve(double value, double level, bool outside) const {
  double half = drawn_misses_.half_width(level);
  if (!std::isfinite(half)) half = logarithmic_ ? std::log(1.5) : 0.5 * std::abs(value);
  if (outside) half *= 2;
  SoloAnswer answer{value, value - half, value + half, outside};
  if (logarithmic_) {
    answer.low = value * std::exp(-half);
    answer.high = value * std::exp(half);
  } else if (percent_) {
    answer.low = std::max(answer.low, 0.0);
    answer.high = std::min(answer.high, 100.0);
  }
  return answer;
}

void SoloModel::save(learn::StateWriter& out, const std::string& prefix) const {
  Vector how(4);
  how << (logarithmic_ ? 1 : 0), (percent_ ? 1 : 0), mean_, deviation_;
  out.put_numbers(prefix + "how", how);
  out.put_numbers(prefix + "scales", scales_);
  out.put_numbers(prefix + "values", values_);
  out.put_strings(prefix + "curves", curves_);
  out.put_numbers(prefix + "sizes",
                  Eigen::Map<const Vector>(batch_.data(), static_cast<Index>(batch_.size())));
  for (const learn::Block& block : points_) out.put_matrix(prefix + block.name, block.values);
  out.put_integers(prefix + "measured", {measured_.begin(), measured_.end()});
  intervals_.save(out, prefix);
}

void SoloModel::load(const learn::StateReader& in, const std::string& prefix,
                     const SoloEncoder& encoder) {
  const Vector how = in.numbers(prefix + "how", 4);
  logarithmic_ = how[0] > 0;
  percent_ = how[1] > 0;
  mean_ = how[2];
  deviation_ = how[3];
  const std::vector<learn::GaussianProcess::BlockShape> layout = encoder.layout();
  scales_ = in.numbers(prefix + "scales", static_cast<Index>(kScales) + layout[0].columns);
  values_ = in.numbers(prefix + "values");
  curves_ = in.strings(prefix + "curves");
  const Vector sizes = in.numbers(prefix + "sizes", values_.size());
  batch_.assign(sizes.data(), sizes.data() + sizes.size());
  const std::vector<std::int64_t> measured = in.integers(prefix + "measured");
  measured_.assign(measured.begin(), measured.end());
  points_.clear();
  for (const learn::GaussianProcess::BlockShape& shape : layout)
    points_.push_back({shape.name, in.matrix(prefix + shape.name, values_.size(), shape.columns)});
  intervals_.load(in, prefix);
  bool sound = how.allFinite() && deviation_ > 0 && scales_.allFinite() && scales_.minCoeff() > 0 &&
               values_.allFinite() && values_.size() >= 2 && values_.size() <= kMostKeptRows &&
               curves_.size() == static_cast<std::size_t>(values_.size()) &&
               measured_.size() == curves_.size() &&
               std::none_of(batch_.begin(), batch_.end(), [](double b) { return b <= 0; });
  for (const learn::Block& block : points_) sound = sound && block.values.allFinite();
  if (!sound) learn::throw_bad_data("the model's rows are damaged", "Train the model again.");
  solve();
}

}  // namespace omen::interference
