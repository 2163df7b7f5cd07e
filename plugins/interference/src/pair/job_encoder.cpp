// SPDX-License-Identifier: Apache-2.0
// Scales what describes jobs, and remembers which values there were.
#include "pair/job_encoder.hpp"

#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;

constexpr double kDecades = 8;  // largest over smallest from which a logarithm is taken
constexpr double kSlack = 0.5;  // deviations beyond the fitted range that are still known ground
constexpr const char* kGap = "\x1f";

bool spans_decades(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return !values.empty() && *low > 0 && *high / *low > kDecades;
}

void add_label(std::vector<std::string>& labels, const std::string& label) {
  if (!label.empty() && std::find(labels.begin(), labels.end(), label) == labels.end())
    labels.push_back(label);
}

void put_label(Matrix& to, Index row, Index first, const std::vector<std::string>& labels,
               const std::string& label) {
  const auto at = std::find(labels.begin(), labels.end(), label);
  if (at != labels.end()) to(row, first + (at - labels.begin())) = M_SQRT1_2;
}

bool is_new(const std::vector<std::string>& labels, const std::string& label) {
  return std::find(labels.begin(), labels.end(), label) == labels.end();
}

}  // namespace

std::string family_of(const JobProfile& job) {
  for (const std::string& text : job.texts)
    if (!text.empty()) return text;
  return job.name;
}

double JobEncoder::scaled(const Number& how, double value) const {
  if (!std::isfinite(value) || (how.logarithmic && value <= 0)) return 0;
  return ((how.logarithmic ? std::log(value) : value) - how.mean) / how.deviation;
}

void JobEncoder::fit(const PairRows& rows) {
  columns_ = {rows.numbers, rows.texts, rows.shared};
  numbers_.clear();
  for (std::size_t c = 0; c < rows.numbers.size(); ++c) {
    std::vector<double> values;
    for (const JobProfile& job : rows.jobs)
      if (std::isfinite(job.numbers[c])) values.push_back(job.numbers[c]);
    Number how{spans_decades(values), 0, 1, 0, 0};
    if (how.logarithmic)
      for (double& value : values) value = std::log(value);
    for (const double value : values) how.mean += value / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - how.mean) * (value - how.mean);
    if (squares > 0) how.deviation = std::sqrt(squares / static_cast<double>(values.size()));
    for (const double value : values) {
      how.low = std::min(how.low, (value - how.mean) / how.deviation);
      how.high = std::max(how.high, (value - how.mean) / how.deviation);
    }
    numbers_.push_back(how);
  }
  labels_.assign(rows.texts.size(), {});
  shared_labels_.assign(rows.shared.size(), {});
  for (const JobProfile& job : rows.jobs)
    for (std::size_t c = 0; c < labels_.size(); ++c) add_label(labels_[c], job.texts[c]);
  for (const std::vector<std::string>& context : rows.contexts)
    for (std::size_t c = 0; c < context.size(); ++c) add_label(shared_labels_[c], context[c]);
  make_spans();
}

void JobEncoder::make_spans() {
  job_spans_.clear();
  context_spans_.clear();
  Index next = 0;
  for (std::size_t c = 0; c < numbers_.size(); ++c) job_spans_.push_back({next++, 1});
  for (const std::vector<std::string>& labels : labels_) {
    const auto count = static_cast<Index>(labels.size());
    job_spans_.push_back({next, count});
    next += count;
  }
  next = 0;
  for (const std::vector<std::string>& labels : shared_labels_) {
    const auto count = static_cast<Index>(labels.size());
    context_spans_.push_back({next, count});
    next += count;
  }
}

Matrix JobEncoder::jobs(const PairRows& rows) const {
  const Index width = job_spans_.empty() ? 0 : job_spans_.back().first + job_spans_.back().count;
  Matrix points = Matrix::Zero(static_cast<Index>(rows.jobs.size()), width);
  for (Index row = 0; row < points.rows(); ++row) {
    const JobProfile& job = rows.jobs[static_cast<std::size_t>(row)];
    for (std::size_t c = 0; c < numbers_.size(); ++c)
      points(row, static_cast<Index>(c)) = scaled(numbers_[c], job.numbers[c]);
    for (std::size_t c = 0; c < labels_.size(); ++c)
      put_label(points, row, job_spans_[numbers_.size() + c].first, labels_[c], job.texts[c]);
  }
  return points;
}

Matrix JobEncoder::contexts(const PairRows& rows) const {
  const Index width =
      context_spans_.empty() ? 0 : context_spans_.back().first + context_spans_.back().count;
  Matrix points = Matrix::Zero(static_cast<Index>(rows.contexts.size()), width);
  for (Index row = 0; row < points.rows(); ++row)
    for (std::size_t c = 0; c < shared_labels_.size(); ++c)
      put_label(points, row, context_spans_[c].first, shared_labels_[c],
                rows.contexts[static_cast<std::size_t>(row)][c]);
  return points;
}

bool JobEncoder::is_foreign(const JobProfile& job) const {
  if (job.is_blank()) return true;
  for (std::size_t c = 0; c < numbers_.size(); ++c) {
    if (!std::isfinite(job.numbers[c])) continue;
    if (numbers_[c].logarithmic && job.numbers[c] <= 0) return true;
    const double at = scaled(numbers_[c], job.numbers[c]);
    if (at < numbers_[c].low - kSlack || at > numbers_[c].high + kSlack) return true;
  }
  for (std::size_t c = 0; c < labels_.size(); ++c)
    if (is_new(labels_[c], job.texts[c])) return true;
  return false;
}

bool JobEncoder::is_foreign(const std::vector<std::string>& context) const {
  for (std::size_t c = 0; c < shared_labels_.size(); ++c)
    if (!shared_labels_[c].empty() && is_new(shared_labels_[c], context[c])) return true;
  return false;
}

void JobEncoder::save(learn::StateWriter& out) const {
  out.put_strings("jobs.numbers", columns_.numbers);
  out.put_strings("jobs.texts", columns_.texts);
  out.put_strings("jobs.shared", columns_.shared);
  Matrix how(static_cast<Index>(numbers_.size()), 5);
  for (Index c = 0; c < how.rows(); ++c) {
    const Number& number = numbers_[static_cast<std::size_t>(c)];
    how.row(c) << (number.logarithmic ? 1 : 0), number.mean, number.deviation, number.low,
        number.high;
  }
  out.put_matrix("jobs.scales", how);
  const auto flat = [](const std::vector<std::vector<std::string>>& labels) {
    std::vector<std::string> all;
    for (const std::vector<std::string>& one : labels) {
      all.insert(all.end(), one.begin(), one.end());
      all.emplace_back(kGap);
    }
    return all;
  };
  out.put_strings("jobs.labels", flat(labels_));
  out.put_strings("jobs.shared_labels", flat(shared_labels_));
}

void JobEncoder::load(const learn::StateReader& in) {
  columns_ = {in.strings("jobs.numbers"), in.strings("jobs.texts"), in.strings("jobs.shared")};
  const Matrix how = in.matrix("jobs.scales", static_cast<Index>(columns_.numbers.size()), 5);
  numbers_.clear();
  for (Index c = 0; c < how.rows(); ++c) {
    if (!how.row(c).allFinite() || !(how(c, 2) > 0))
      learn::throw_bad_data("the model's scales are damaged", "Train the model again.");
    numbers_.push_back({how(c, 0) > 0, how(c, 1), how(c, 2), how(c, 3), how(c, 4)});
  }
  const auto nested = [](const std::vector<std::string>& flat, std::size_t count) {
    std::vector<std::vector<std::string>> labels(1);
    for (const std::string& text : flat) {
      if (text == kGap)
        labels.emplace_back();
      else
        labels.back().push_back(text);
    }
    labels.pop_back();
    if (labels.size() != count)
      learn::throw_bad_data("the model's labels are damaged", "Train the model again.");
    return labels;
  };
  labels_ = nested(in.strings("jobs.labels"), columns_.texts.size());
  shared_labels_ = nested(in.strings("jobs.shared_labels"), columns_.shared.size());
  make_spans();
}

}  // namespace omen::interference
