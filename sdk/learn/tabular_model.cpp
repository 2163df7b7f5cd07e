// SPDX-License-Identifier: Apache-2.0
// Fits one learner to all targets of a frame and turns its answers back into predictions.
#include "omen/learn/tabular_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "omen/learn/errors.hpp"

namespace omen::learn {
namespace {

bool known(double value) {
  return std::isfinite(value);
}

bool wants_log(const Target& target, LogMode mode) {
  if (mode == LogMode::kOff) return false;
  double min = std::numeric_limits<double>::infinity(), max = 0;
  for (const double value : target.numbers) {
    if (!known(value)) continue;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  if (mode == LogMode::kAuto) return min > 0 && max > kWideSpan * min;
  if (min <= 0) {
    throw_bad_data("target '" + target.name + "' has values that are not positive",
                   "set log_target to auto or off");
  }
  return true;
}

// Losses of different targets become comparable by what the mean, or a guess, would lose.
double relative_loss(const std::vector<HeadReport>& reports, const std::vector<Head>& heads) {
  double sum = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    double scale = std::log(std::max(heads[i].classes, 2));
    if (heads[i].classes == 0) {
      const Sample sample(Matrix(heads[i].y.size(), 0), heads[i], {});
      scale = std::max((sample.y.array() - sample.y.mean()).square().mean(), 1e-300);
    }
    sum += reports[i].loss / scale;
  }
  return sum;
}

}  // namespace

TabularModel::TabularModel(LearnerFactory factory, ModelOptions options)
    : factory_(std::move(factory)), options_(options) {}

std::vector<TargetReport> TabularModel::fit(const Frame& frame, const std::vector<Target>& targets,
                                            const std::vector<std::int32_t>& groups,
                                            const Context& context) {
  if (frame.rows == 0) throw_bad_data("there are no training rows", "give a table with rows");
  if (targets.empty()) throw_bad_data("there is no target to learn", "name one with --target");
  mappings_.clear();
  std::vector<Head> heads;
  for (const Target& target : targets) {
    mappings_.push_back(make_mapping(target));
    if (mappings_.back().has_head()) heads.push_back(make_head(target, mappings_.back()));
  }
  const Folds folds = make_folds(frame.rows, groups, options_.folds, context.seed);
  Candidate chosen = choose_features(frame, heads, folds, context);
  encoder_ = std::move(chosen.encoder);
  learner_ = std::move(chosen.learner);

  std::vector<TargetReport> reports;
  std::size_t head = 0;
  for (Mapping& mapping : mappings_) {
    if (!mapping.has_head()) {
      reports.push_back({mapping.name, "one class only", "cv_log_loss", kUnknown});
      continue;
    }
    const HeadReport& report = chosen.reports[head];
    if (mapping.is_class()) {
      reports.push_back({mapping.name, report.knobs, "cv_log_loss", report.loss});
    } else {
      mapping.residuals = ResidualQuantiles(report.held_out.col(0), heads[head].y);
      reports.push_back({mapping.name, report.knobs, mapping.log ? "cv_rmse_log" : "cv_rmse",
                         std::sqrt(report.loss)});
    }
    if (encoder_.uses_logarithms()) reports.back().knobs += ", log features";
    ++head;
  }
  return reports;
}

TabularModel::Mapping TabularModel::make_mapping(const Target& target) const {
  Mapping mapping;
  mapping.name = target.name;
  mapping.classes = target.classes;
  if (mapping.is_class()) {
    std::vector<bool> occurs(target.classes.size(), false);
    for (const std::int32_t code : target.codes) {
      if (code >= 0) occurs[static_cast<std::size_t>(code)] = true;
    }
    for (std::size_t code = 0; code < occurs.size(); ++code) {
      if (occurs[code]) mapping.seen.push_back(static_cast<std::int64_t>(code));
    }
    if (!mapping.seen.empty()) return mapping;
  } else if (std::any_of(target.numbers.begin(), target.numbers.end(), known)) {
    mapping.log = wants_log(target, options_.log_target);
    const Head head = make_head(target, mapping);
    const Sample sample(Matrix(head.y.size(), 0), head, {});
    mapping.min = sample.y.minCoeff();
    mapping.max = sample.y.maxCoeff();
    return mapping;
  }
  throw_bad_data("target '" + target.name + "' has no known value in the training rows",
                 "leave the target out, or give rows where it was measured");
}

Head TabularModel::make_head(const Target& target, const Mapping& mapping) {
  Head head;
  if (!mapping.is_class()) {
    head.y =
        Eigen::Map<const Vector>(target.numbers.data(), static_cast<Index>(target.numbers.size()));
    if (mapping.log) head.y = head.y.array().log();
    return head;
  }
  head.classes = static_cast<int>(mapping.seen.size());
  head.y = Vector::Constant(static_cast<Index>(target.codes.size()), kUnknown);
  for (std::size_t row = 0; row < target.codes.size(); ++row) {
    if (target.codes[row] < 0) continue;
    const auto at = std::lower_bound(mapping.seen.begin(), mapping.seen.end(), target.codes[row]);
    head.y[static_cast<Index>(row)] = static_cast<double>(at - mapping.seen.begin());
  }
  return head;
}

TabularModel::Candidate TabularModel::fit_candidate(const Frame& frame,
                                                    const std::vector<Head>& heads,
                                                    const Folds& folds, bool log_wide,
                                                    const Context& context) const {
  Candidate candidate{{}, factory_(), {}};
  candidate.encoder.fit(frame, candidate.learner->scaling(), log_wide);
  candidate.reports =
      candidate.learner->fit(candidate.encoder.encode(frame).x, heads, folds, context);
  return candidate;
}

// Logarithms of wide features are one more knob: both forms are fitted and the better one stays.
TabularModel::Candidate TabularModel::choose_features(const Frame& frame,
                                                      const std::vector<Head>& heads,
                                                      const Folds& folds,
                                                      const Context& context) const {
  const bool scaled = factory_()->scaling() == Scaling::kStandardised;
  const LogMode mode = scaled ? options_.log_features : LogMode::kOff;
  FeatureEncoder logged;
  logged.fit(frame, Scaling::kStandardised, true);
  if (mode != LogMode::kAuto || folds.count == 0 || !logged.uses_logarithms()) {
    return fit_candidate(frame, heads, folds, mode == LogMode::kOn, context);
  }
  Candidate first = fit_candidate(frame, heads, folds, false, context.part(0, 2));
  Candidate second = fit_candidate(frame, heads, folds, true, context.part(1, 2));
  const bool better = relative_loss(second.reports, heads) < relative_loss(first.reports, heads);
  return better ? std::move(second) : std::move(first);
}

Prediction TabularModel::predict(const Frame& frame, double level, const Context& context) const {
  // Without rows there may be no graphs either, and nothing to complain about.
  Encoded encoded =
      frame.rows > 0 ? encoder_.encode(frame) : Encoded{Matrix(0, encoder_.width()), {}};
  std::vector<Matrix> raw = learner_->predict(encoded.x, context);
  Prediction prediction;
  prediction.extrapolating = std::move(encoded.extrapolating);
  std::size_t head = 0;
  for (const Mapping& mapping : mappings_) {
    const Matrix* own = mapping.has_head() ? &raw.at(head++) : nullptr;
    prediction.targets.push_back(mapping.is_class() ? finish_class(mapping, own, frame.rows)
                                                    : finish_number(mapping, *own, level));
  }
  return prediction;
}

TargetPrediction TabularModel::finish_number(const Mapping& mapping, const Matrix& raw,
                                             double level) {
  TargetPrediction out;
  out.name = mapping.name;
  out.value = raw.col(0);
  // A straight line in logarithms soon leaves the range of a double, so it may leave the range of
  // the training rows by no more than that range's length.
  const double reach = mapping.max - mapping.min;
  if (mapping.log)
    out.value = out.value.cwiseMax(mapping.min - reach).cwiseMin(mapping.max + reach);
  const double half = mapping.residuals.half_width(level);
  out.lo = out.value.array() - half;
  out.hi = out.value.array() + half;
  if (mapping.log) {
    for (Vector* values : {&out.value, &out.lo, &out.hi}) *values = values->array().exp();
  }
  return out;
}

TargetPrediction TabularModel::finish_class(const Mapping& mapping, const Matrix* raw, Index rows) {
  TargetPrediction out;
  out.name = mapping.name;
  out.classes = mapping.classes;
  out.probability = Matrix::Zero(rows, static_cast<Index>(mapping.classes.size()));
  for (std::size_t i = 0; i < mapping.seen.size(); ++i) {
    if (raw)
      out.probability.col(mapping.seen[i]) = raw->col(static_cast<Index>(i));
    else
      out.probability.col(mapping.seen[i]).setOnes();
  }
  for (Index row = 0; row < rows; ++row) {
    Index best = 0;
    out.probability.row(row).maxCoeff(&best);
    out.codes.push_back(static_cast<std::int32_t>(best));
  }
  return out;
}

void TabularModel::save(StateWriter& out) const {
  std::vector<std::string> names;
  Matrix ranges(static_cast<Index>(mappings_.size()), 3);
  for (std::size_t i = 0; i < mappings_.size(); ++i) {
    const Mapping& mapping = mappings_[i];
    const std::string prefix = "target." + std::to_string(i);
    names.push_back(mapping.name);
    ranges.row(static_cast<Index>(i)) << (mapping.log ? 1.0 : 0.0), mapping.min, mapping.max;
    out.put_strings(prefix + ".classes", mapping.classes);
    out.put_integers(prefix + ".seen", mapping.seen);
    const std::vector<double>& residuals = mapping.residuals.sorted();
    out.put_matrix(
        prefix + ".residuals",
        Eigen::Map<const Matrix>(residuals.data(), 1, static_cast<Index>(residuals.size())));
  }
  out.put_strings("target.names", names);
  out.put_matrix("target.ranges", ranges);
  encoder_.save(out);
  learner_->save(out);
}

void TabularModel::load(const StateReader& in) {
  const std::vector<std::string> names = in.strings("target.names");
  const Matrix ranges = in.matrix("target.ranges", static_cast<Index>(names.size()), 3);
  mappings_.clear();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string prefix = "target." + std::to_string(i);
    const auto row = ranges.row(static_cast<Index>(i));
    Mapping mapping;
    mapping.name = names[i];
    mapping.classes = in.strings(prefix + ".classes");
    mapping.seen = in.integers(prefix + ".seen");
    mapping.log = row[0] != 0;
    mapping.min = row[1];
    mapping.max = row[2];
    const Matrix residuals = in.matrix(prefix + ".residuals", 1, -1);
    mapping.residuals = ResidualQuantiles(
        std::vector<double>(residuals.data(), residuals.data() + residuals.size()));
    const auto classes = static_cast<std::int64_t>(mapping.classes.size());
    const bool codes_fit =
        std::all_of(mapping.seen.begin(), mapping.seen.end(),
                    [&](std::int64_t code) { return code >= 0 && code < classes; });
    if (!codes_fit || (mapping.is_class() && mapping.seen.empty())) {
      throw_bad_data("the model's classes of '" + names[i] + "' are damaged", "train it again");
    }
    mappings_.push_back(std::move(mapping));
  }
  encoder_.load(in);
  Shape shape{encoder_.width(), {}};
  for (const Mapping& mapping : mappings_) {
    if (mapping.has_head()) shape.classes.push_back(static_cast<int>(mapping.seen.size()));
  }
  learner_ = factory_();
  learner_->load(in, shape);
}

}  // namespace omen::learn
