// SPDX-License-Identifier: Apache-2.0
// Settings for XGBoost, and the answers back on the scale of the target.
#include "omen/boosting/boosted_head.hpp"

#include <cmath>
#include <cstdio>

namespace omen::learn {
namespace {

std::string digits(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

Booster::Parameters parameters_of(const BoostedSettings& settings, int classes,
                                  std::uint64_t seed) {
  Booster::Parameters p = {{"verbosity", "0"},
                           {"nthread", "1"},
                           {"tree_method", "hist"},
                           {"grow_policy", "lossguide"},
                           {"max_bin", "64"},
                           {"max_depth", "0"},
                           {"max_leaves", std::to_string(settings.leaves)},
                           {"eta", digits(settings.eta)},
                           {"subsample", digits(settings.subsample)},
                           {"colsample_bytree", digits(settings.columns)},
                           {"lambda", "1"},
                           {"seed", std::to_string(seed % 2147483647U)},
                           // Draws then depend on the round, not on the thread.
                           {"seed_per_iteration", "true"}};
  // The hessian of a class is at most a quarter a row.
  const double least = classes == 0 ? settings.least_leaf : settings.least_leaf / 8;
  p.emplace_back("min_child_weight", digits(least));
  if (classes == 0) {
    p.emplace_back("objective", "reg:squarederror");
    p.emplace_back("base_score", "0");
  } else if (classes == 2) {
    p.emplace_back("objective", "binary:logistic");
    p.emplace_back("base_score", "0.5");
  } else {
    p.emplace_back("objective", "multi:softprob");
    p.emplace_back("base_score", "0.5");
    p.emplace_back("num_class", std::to_string(classes));
  }
  return p;
}

}  // namespace

void BoostedHead::fit(const Matrix& x, const Vector& y, const Vector& weights, int classes,
                      const BoostedSettings& settings, std::uint64_t seed, const Run& run) {
  classes_ = classes;
  mean_ = 0;
  scale_ = 1;
  booster_.reset();
  Vector target = y;
  if (classes == 0) {
    mean_ = y.mean();
    const double deviation = std::sqrt((y.array() - mean_).square().mean());
    if (deviation > 0) scale_ = deviation;
    target = ((y.array() - mean_) / scale_).matrix();
  }
  BoosterData data(x, target);
  data.set_weights(weights);
  Booster booster({&data}, parameters_of(settings, classes, seed));
  for (int round = 0; round < settings.rounds; ++round) {
    if (round % 16 == 0) run.step(-1, "trees");
    booster.update(round, data);
  }
  // A booster keeps pointers to the data it was made with, so a copy without them stays.
  booster_.emplace(booster.save(), x.cols());
}

Matrix BoostedHead::predict(const Matrix& x) const {
  const Matrix raw = booster_->predict(BoosterData(x), 0, classes_ > 2 ? classes_ : 1);
  if (classes_ == 0) return (raw.array() * scale_ + mean_).matrix();
  if (classes_ > 2) return raw;
  Matrix both(raw.rows(), 2);
  both << (1 - raw.array()).matrix(), raw;
  return both;
}

void BoostedHead::save(StateWriter& out, const std::string& name) const {
  const std::string trees = booster_->save();
  out.put_bytes(name + ".ubj", trees);
  out.put_integers(name + ".checksum", {tree_checksum(trees)});
  out.put_numbers(name + ".scale", Eigen::Vector2d(mean_, scale_));
}

void BoostedHead::load(const StateReader& in, const std::string& name, Index features,
                       int classes) {
  const std::string trees = in.bytes(name + ".ubj");
  const std::vector<std::int64_t> checksum = in.integers(name + ".checksum");
  const Vector scale = in.numbers(name + ".scale");
  if (checksum.size() != 1 || checksum[0] != tree_checksum(trees) || scale.size() != 2 ||
      !scale.allFinite())
    throw Error(OMEN_INVALID_DATA, "the model's trees '" + name + "' are damaged",
                "Train the model again.");
  booster_.emplace(trees, features);
  classes_ = classes;
  mean_ = scale[0];
  scale_ = scale[1];
}

}  // namespace omen::learn
