// SPDX-License-Identifier: Apache-2.0
// Learns scales and vocabularies from a frame and applies them to others.
#include "omen/learn/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "omen/learn/errors.hpp"
#include "omen/learn/scaler.hpp"

namespace omen::learn {
namespace {

constexpr double kRangeMargin = 0.1;  // of the length of the fitted range
constexpr Index kMinRowsPerLabel = 2;
constexpr Index kMaxCategories = 128;
constexpr Index kMaxBagLabels = 512;

Vector as_vector(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

std::vector<Index> rows_per_label(const Column& column) {
  std::vector<Index> rows(column.labels.size(), 0);
  for (const std::int32_t code : column.codes) {
    if (code >= 0) ++rows[static_cast<std::size_t>(code)];
  }
  return rows;
}

std::vector<Index> rows_per_label(const Bag& bag) {
  std::vector<Index> rows(bag.labels.size(), 0);
  for (const Bag::Entry& entry : bag.entries) {
    if (entry.count > 0) ++rows[static_cast<std::size_t>(entry.label)];
  }
  return rows;
}

// Rare labels and unseen ones share the last column.
Matrix count_matrix(const Vocabulary& vocabulary, const Bag& bag, Index rows) {
  Matrix counts = Matrix::Zero(rows, vocabulary.kept() + 1);
  const std::vector<Index> slots = vocabulary.slots(bag.labels);
  for (const Bag::Entry& entry : bag.entries) {
    const Index slot = slots[static_cast<std::size_t>(entry.label)];
    counts(entry.row, std::min(slot, vocabulary.kept())) += entry.count;
  }
  return counts;
}

const Column& find_column(const Frame& frame, const std::string& name, bool categorical) {
  for (const Column& column : frame.columns) {
    if (column.name != name) continue;
    if (column.categorical == categorical) return column;
    throw_bad_data("column '" + name + "' holds " + (categorical ? "numbers" : "text") +
                       ", but the model was trained on " + (categorical ? "text" : "numbers"),
                   "give the column the type it had in training, or train again");
  }
  throw_bad_data("column '" + name + "' is missing, and the model was trained with it",
                 "add the column (empty values are allowed), or train without it");
}

const Bag& find_bag(const Frame& frame, const std::string& name) {
  for (const Bag& bag : frame.bags) {
    if (bag.name == name) return bag;
  }
  throw_bad_data("the model was trained on graphs, but the input has none (no '" + name + "')",
                 "give the graphs as nodes and edges tables, or use a model trained without them");
}

}  // namespace

void append_rows(Frame& frame, const Frame& more) {
  if (frame.columns.size() != more.columns.size() || frame.bags.size() != more.bags.size()) {
    throw_bad_data("training and validation tables have different columns",
                   "make both from the same dataset");
  }
  for (Column& column : frame.columns) {
    const Column& added = find_column(more, column.name, column.categorical);
    column.numbers.insert(column.numbers.end(), added.numbers.begin(), added.numbers.end());
    const auto shift = static_cast<std::int32_t>(column.labels.size());
    for (const std::int32_t code : added.codes)
      column.codes.push_back(code < 0 ? -1 : code + shift);
    column.labels.insert(column.labels.end(), added.labels.begin(), added.labels.end());
  }
  for (Bag& bag : frame.bags) {
    const Bag& added = find_bag(more, bag.name);
    const auto shift = static_cast<std::int32_t>(bag.labels.size());
    for (const Bag::Entry& entry : added.entries) {
      bag.entries.push_back({entry.row + frame.rows, entry.label + shift, entry.count});
    }
    bag.labels.insert(bag.labels.end(), added.labels.begin(), added.labels.end());
  }
  frame.rows += more.rows;
}

NumericFeature NumericFeature::fit(std::string name, const Vector& values, bool log_wide) {
  NumericFeature feature;
  feature.name = std::move(name);
  std::vector<double> present;
  for (const double value : values) {
    if (std::isfinite(value)) present.push_back(value);
  }
  feature.has_nulls = static_cast<Index>(present.size()) < values.size();
  if (present.empty()) return feature;

  const auto [min, max] = std::minmax_element(present.begin(), present.end());
  feature.min = *min;
  feature.max = *max;
  if (log_wide && feature.min > 0 && feature.max > kWideSpan * feature.min) {
    feature.transform = Transform::kLog;
  } else if (log_wide && feature.min >= 0 && feature.max + 1 > kWideSpan * (feature.min + 1)) {
    feature.transform = Transform::kLog1p;
  }
  for (double& value : present) value = feature.transformed(value);
  const Moments moments = moments_of(as_vector(present));
  feature.mean = moments.mean;
  feature.deviation = moments.deviation;
  return feature;
}

double NumericFeature::transformed(double value) const {
  if (transform == Transform::kLog) return std::log(std::max(value, min * 0.1));
  if (transform == Transform::kLog1p) return std::log1p(std::max(value, 0.0));
  return value;
}

double NumericFeature::encode(double value, Scaling scaling) const {
  if (scaling == Scaling::kRaw) return std::isfinite(value) ? value : kUnknown;
  if (!std::isfinite(value) || deviation == 0) return 0;
  return (transformed(value) - mean) / deviation;
}

bool NumericFeature::outside(double value) const {
  if (!std::isfinite(value)) return false;
  const double margin = kRangeMargin * (max - min);
  if (value < min - margin || value > max + margin) return true;
  return (transform == Transform::kLog && value <= 0) ||
         (transform == Transform::kLog1p && value < 0);
}

Vocabulary::Vocabulary(const std::vector<std::string>& labels, const std::vector<Index>& rows,
                       Index limit) {
  // The same label may appear under several codes after tables were joined.
  std::unordered_map<std::string, Index> total;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (rows[i] > 0) total[labels[i]] += rows[i];
  }
  std::vector<std::pair<std::string, Index>> order(total.begin(), total.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (const auto& [label, count] : order) {
    if (count >= kMinRowsPerLabel && kept_ < limit) ++kept_;
    index_.emplace(label, static_cast<Index>(labels_.size()));
    labels_.push_back(label);
  }
}

Vocabulary::Vocabulary(std::vector<std::string> labels, Index kept)
    : labels_(std::move(labels)), kept_(kept) {
  for (std::size_t i = 0; i < labels_.size(); ++i) index_.emplace(labels_[i], i);
}

std::vector<Index> Vocabulary::slots(const std::vector<std::string>& labels) const {
  std::vector<Index> slots;
  slots.reserve(labels.size());
  for (const std::string& label : labels) {
    const auto found = index_.find(label);
    slots.push_back(found == index_.end() ? kept_ + 1 : std::min(found->second, kept_));
  }
  return slots;
}

void FeatureEncoder::fit(const Frame& frame, Scaling scaling, bool log_wide) {
  scaling_ = scaling;
  numerics_.clear();
  categories_.clear();
  bags_.clear();
  for (const Column& column : frame.columns) {
    if (column.categorical) {
      const bool nulls = std::any_of(column.codes.begin(), column.codes.end(),
                                     [](std::int32_t code) { return code < 0; });
      categories_.push_back(
          {column.name, Vocabulary(column.labels, rows_per_label(column), kMaxCategories), nulls});
    } else {
      numerics_.push_back(NumericFeature::fit(column.name, as_vector(column.numbers), log_wide));
    }
  }
  for (const Bag& bag : frame.bags) {
    BagFeature feature{bag.name, Vocabulary(bag.labels, rows_per_label(bag), kMaxBagLabels), {}};
    const Matrix counts = count_matrix(feature.vocabulary, bag, frame.rows);
    for (Index c = 0; c < counts.cols(); ++c) {
      const bool bucket = c == feature.vocabulary.kept();
      const std::string label =
          bucket ? "(other)" : feature.vocabulary.labels()[static_cast<std::size_t>(c)];
      feature.counts.push_back(
          NumericFeature::fit(bag.name + "." + label, counts.col(c), log_wide));
    }
    bags_.push_back(std::move(feature));
  }
}

Encoded FeatureEncoder::encode(const Frame& frame) const {
  Encoded out;
  out.x = Matrix::Zero(frame.rows, width());
  out.extrapolating.assign(static_cast<std::size_t>(frame.rows), false);
  Index at = 0;
  for (const NumericFeature& feature : numerics_) {
    at = encode_numeric(feature, find_column(frame, feature.name, false), at, out);
  }
  for (const Category& category : categories_) {
    at = encode_category(category, find_column(frame, category.name, true), at, out);
  }
  for (const BagFeature& feature : bags_) {
    at = encode_bag(feature, find_bag(frame, feature.name), at, out);
  }
  return out;
}

Index FeatureEncoder::encode_numeric(const NumericFeature& feature, const Column& column, Index at,
                                     Encoded& out) const {
  const bool indicator = feature.has_nulls && scaling_ == Scaling::kStandardised;
  for (Index row = 0; row < out.x.rows(); ++row) {
    const double value = column.numbers[static_cast<std::size_t>(row)];
    out.x(row, at) = feature.encode(value, scaling_);
    if (indicator && !std::isfinite(value)) out.x(row, at + 1) = 1;
    if (feature.outside(value)) out.extrapolating[static_cast<std::size_t>(row)] = true;
  }
  return at + (indicator ? 2 : 1);
}

Index FeatureEncoder::encode_category(const Category& category, const Column& column, Index at,
                                      Encoded& out) const {
  const Vocabulary& vocabulary = category.vocabulary;
  const std::vector<Index> slots = vocabulary.slots(column.labels);
  for (Index row = 0; row < out.x.rows(); ++row) {
    const std::int32_t code = column.codes[static_cast<std::size_t>(row)];
    if (code < 0) {
      if (category.has_nulls) out.x(row, at + vocabulary.kept() + 1) = 1;
      continue;
    }
    const Index slot = slots[static_cast<std::size_t>(code)];
    out.x(row, at + std::min(slot, vocabulary.kept())) = 1;
    if (slot > vocabulary.kept()) out.extrapolating[static_cast<std::size_t>(row)] = true;
  }
  return at + vocabulary.kept() + (category.has_nulls ? 2 : 1);
}

Index FeatureEncoder::encode_bag(const BagFeature& feature, const Bag& bag, Index at,
                                 Encoded& out) const {
  const Matrix counts = count_matrix(feature.vocabulary, bag, out.x.rows());
  for (Index row = 0; row < counts.rows(); ++row) {
    for (Index c = 0; c < counts.cols(); ++c) {
      const NumericFeature& count = feature.counts[static_cast<std::size_t>(c)];
      out.x(row, at + c) = count.encode(counts(row, c), scaling_);
      if (count.outside(counts(row, c))) out.extrapolating[static_cast<std::size_t>(row)] = true;
    }
  }
  const std::vector<Index> slots = feature.vocabulary.slots(bag.labels);
  for (const Bag::Entry& entry : bag.entries) {
    const bool unseen = slots[static_cast<std::size_t>(entry.label)] > feature.vocabulary.kept();
    if (unseen && entry.count > 0) out.extrapolating[static_cast<std::size_t>(entry.row)] = true;
  }
  return at + counts.cols();
}

bool FeatureEncoder::uses_logarithms() const {
  const auto logged = [](const NumericFeature& feature) {
    return feature.transform != NumericFeature::Transform::kNone;
  };
  return std::any_of(numerics_.begin(), numerics_.end(), logged) ||
         std::any_of(bags_.begin(), bags_.end(), [&](const BagFeature& bag) {
           return std::any_of(bag.counts.begin(), bag.counts.end(), logged);
         });
}

std::vector<std::string> FeatureEncoder::names() const {
  std::vector<std::string> names;
  for (const NumericFeature& feature : numerics_) {
    names.push_back(feature.name);
    if (feature.has_nulls && scaling_ == Scaling::kStandardised) {
      names.push_back(feature.name + ".(null)");
    }
  }
  for (const Category& category : categories_) {
    for (Index i = 0; i < category.vocabulary.kept(); ++i) {
      names.push_back(category.name + "=" +
                      category.vocabulary.labels()[static_cast<std::size_t>(i)]);
    }
    names.push_back(category.name + "=(other)");
    if (category.has_nulls) names.push_back(category.name + "=(null)");
  }
  for (const BagFeature& bag : bags_) {
    for (const NumericFeature& count : bag.counts) names.push_back(count.name);
  }
  return names;
}

}  // namespace omen::learn
