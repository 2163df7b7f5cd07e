// SPDX-License-Identifier: Apache-2.0
// Turns a frame into a design matrix; everything it knows is learnt in fit.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "omen/learn/frame.hpp"
#include "omen/learn/state.hpp"

namespace omen::learn {

enum class Scaling {
  kRaw,          ///< for trees: values as they are, NaN where null
  kStandardised  ///< for distances and penalties: zero mean, unit deviation, nulls imputed
};

/// Largest over smallest value from which a column or a target is better seen as its logarithm.
inline constexpr double kWideSpan = 100.0;

/// How one number becomes one matrix entry, and the range it was seen in.
struct NumericFeature {
  enum class Transform { kNone, kLog, kLog1p };

  std::string name;
  Transform transform = Transform::kNone;
  bool has_nulls = false;
  double min = 0;
  double max = 0;
  double mean = 0;
  double deviation = 0;

  /// `log_wide`: a non-negative column that spans more than two decades becomes its logarithm.
  static NumericFeature fit(std::string name, const Vector& values, bool log_wide);
  double encode(double value, Scaling scaling) const;
  /// Outside [min, max] widened by 10 % of its length, or without a logarithm where one is needed.
  bool outside(double value) const;

 private:
  double transformed(double value) const;
};

/// Labels seen in fit: the frequent ones have a column each, the others share a bucket.
class Vocabulary {
 public:
  Vocabulary() = default;
  /// `rows[i]` is the number of rows that hold `labels[i]`; labels in no row are not learnt.
  Vocabulary(const std::vector<std::string>& labels, const std::vector<Index>& rows, Index limit);
  Vocabulary(std::vector<std::string> labels, Index kept);

  Index kept() const { return kept_; }
  /// Kept labels first, then the rare ones.
  const std::vector<std::string>& labels() const { return labels_; }
  /// Column of each of `labels`: 0..kept-1, kept for a rare one, kept + 1 for one never seen.
  std::vector<Index> slots(const std::vector<std::string>& labels) const;

 private:
  std::vector<std::string> labels_;
  Index kept_ = 0;
  std::unordered_map<std::string, Index> index_;
};

struct Encoded {
  Matrix x;
  std::vector<bool> extrapolating;  ///< outside a numeric range, or with a label never seen
};

/// Numeric columns are scaled (nulls take the mean and gain an indicator), categories become
/// one-hot columns plus one for rare and unseen labels, labels of a bag become columns of counts.
class FeatureEncoder {
 public:
  void fit(const Frame& frame, Scaling scaling, bool log_wide);
  /// Throws when a fitted column is missing from `frame` or has changed its type.
  Encoded encode(const Frame& frame) const;

  bool uses_logarithms() const;
  Index width() const { return static_cast<Index>(names().size()); }
  /// Names of the matrix columns, in order.
  std::vector<std::string> names() const;

  void save(StateWriter& out) const;
  void load(const StateReader& in);

 private:
  struct Category {
    std::string name;
    Vocabulary vocabulary;
    bool has_nulls = false;
  };
  struct BagFeature {
    std::string name;
    Vocabulary vocabulary;
    std::vector<NumericFeature> counts;  ///< one per kept label, then the bucket
  };

  Index encode_numeric(const NumericFeature& feature, const Column& column, Index at,
                       Encoded& out) const;
  Index encode_category(const Category& category, const Column& column, Index at,
                        Encoded& out) const;
  Index encode_bag(const BagFeature& feature, const Bag& bag, Index at, Encoded& out) const;

  Scaling scaling_ = Scaling::kStandardised;
  std::vector<NumericFeature> numerics_;
  std::vector<Category> categories_;
  std::vector<BagFeature> bags_;
};

}  // namespace omen::learn
