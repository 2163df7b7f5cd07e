// SPDX-License-Identifier: Apache-2.0
// Writes a fitted feature encoder to named tensors and reads it back.
#include <algorithm>
#include <cmath>

#include "omen/learn/errors.hpp"
#include "omen/learn/features.hpp"

namespace omen::learn {
namespace {

using Transform = NumericFeature::Transform;
constexpr Index kNumericFields = 6;

[[noreturn]] void damaged(const std::string& what) {
  throw_bad_data("the model's features are damaged: " + what, "train the model again");
}

void save_numerics(StateWriter& out, const std::string& prefix,
                   const std::vector<NumericFeature>& features) {
  std::vector<std::string> names;
  Matrix values(static_cast<Index>(features.size()), kNumericFields);
  for (std::size_t i = 0; i < features.size(); ++i) {
    const NumericFeature& f = features[i];
    names.push_back(f.name);
    values.row(static_cast<Index>(i)) << static_cast<double>(f.transform), f.has_nulls ? 1.0 : 0.0,
        f.min, f.max, f.mean, f.deviation;
  }
  out.put_strings(prefix + ".names", names);
  out.put_matrix(prefix + ".values", values);
}

std::vector<NumericFeature> load_numerics(const StateReader& in, const std::string& prefix) {
  const std::vector<std::string> names = in.strings(prefix + ".names");
  const Matrix values =
      in.matrix(prefix + ".values", static_cast<Index>(names.size()), kNumericFields);
  if (!values.allFinite()) damaged("a number is not finite");
  std::vector<NumericFeature> features;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto row = values.row(static_cast<Index>(i));
    if (row[0] != 0 && row[0] != 1 && row[0] != 2) damaged("unknown transform");
    NumericFeature feature;
    feature.name = names[i];
    feature.transform = static_cast<Transform>(static_cast<int>(row[0]));
    feature.has_nulls = row[1] != 0;
    feature.min = row[2];
    feature.max = row[3];
    feature.mean = row[4];
    feature.deviation = row[5];
    features.push_back(std::move(feature));
  }
  return features;
}

void save_vocabulary(StateWriter& out, const std::string& prefix, const Vocabulary& vocabulary) {
  out.put_strings(prefix + ".labels", vocabulary.labels());
  out.put_integers(prefix + ".kept", {vocabulary.kept()});
}

Vocabulary load_vocabulary(const StateReader& in, const std::string& prefix) {
  std::vector<std::string> labels = in.strings(prefix + ".labels");
  const std::vector<std::int64_t> kept = in.integers(prefix + ".kept");
  if (kept.size() != 1 || kept[0] < 0 || kept[0] > static_cast<std::int64_t>(labels.size())) {
    damaged("a vocabulary keeps more labels than it has");
  }
  return Vocabulary(std::move(labels), kept[0]);
}

}  // namespace

void FeatureEncoder::save(StateWriter& out) const {
  out.put_integers("features.scaling", {scaling_ == Scaling::kStandardised ? 1 : 0});
  save_numerics(out, "features.numeric", numerics_);
  std::vector<std::string> names;
  std::vector<std::int64_t> nulls;
  for (std::size_t i = 0; i < categories_.size(); ++i) {
    names.push_back(categories_[i].name);
    nulls.push_back(categories_[i].has_nulls ? 1 : 0);
    save_vocabulary(out, "features.category." + std::to_string(i), categories_[i].vocabulary);
  }
  out.put_strings("features.category.names", names);
  out.put_integers("features.category.nulls", nulls);
  names.clear();
  for (std::size_t i = 0; i < bags_.size(); ++i) {
    names.push_back(bags_[i].name);
    const std::string prefix = "features.bag." + std::to_string(i);
    save_vocabulary(out, prefix, bags_[i].vocabulary);
    save_numerics(out, prefix + ".counts", bags_[i].counts);
  }
  out.put_strings("features.bag.names", names);
}

void FeatureEncoder::load(const StateReader& in) {
  const std::vector<std::int64_t> scaling = in.integers("features.scaling");
  if (scaling.size() != 1) damaged("no scaling");
  scaling_ = scaling[0] != 0 ? Scaling::kStandardised : Scaling::kRaw;
  numerics_ = load_numerics(in, "features.numeric");
  categories_.clear();
  bags_.clear();
  const std::vector<std::string> names = in.strings("features.category.names");
  const std::vector<std::int64_t> nulls = in.integers("features.category.nulls");
  if (nulls.size() != names.size()) damaged("categories disagree in number");
  for (std::size_t i = 0; i < names.size(); ++i) {
    categories_.push_back(
        {names[i], load_vocabulary(in, "features.category." + std::to_string(i)), nulls[i] != 0});
  }
  for (const std::string& name : in.strings("features.bag.names")) {
    const std::string prefix = "features.bag." + std::to_string(bags_.size());
    BagFeature bag{name, load_vocabulary(in, prefix), load_numerics(in, prefix + ".counts")};
    if (static_cast<Index>(bag.counts.size()) != bag.vocabulary.kept() + 1) {
      damaged("a bag has the wrong number of columns");
    }
    bags_.push_back(std::move(bag));
  }
}

}  // namespace omen::learn
