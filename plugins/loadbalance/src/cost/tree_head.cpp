// SPDX-License-Identifier: Apache-2.0
// Settings for XGBoost, and the answers back on the scale of the target.
#include "cost/tree_head.hpp"

#include <cmath>
#include <cstdio>

namespace omen::loadbalance::cost {
namespace {

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

learn::Booster::Parameters parameters_of(const TreeSettings& settings, int classes,
                                         std::uint64_t seed) {
  learn::Booster::Parameters p = {{"verbosity", "0"},
                                  {"nthread", "1"},
                                  {"tree_method", "hist"},
                                  {"grow_policy", "lossguide"},
                                  {"max_bin", "64"},
                                  {"max_depth", "0"},
                                  {"max_leaves", std::to_string(settings.leaves)},
                                  {"eta", text(settings.eta)},
                                  {"subsample", text(settings.subsample)},
                                  {"colsample_bytree", text(settings.columns)},
                                  {"lambda", "1"},
                                  {"seed", std::to_string(seed % 2147483647U)},
                                  // Draws then depend on the round, not on the thread.
                                  {"seed_per_iteration", "true"}};
  // The hessian of a class is at most a quarter a row.
  const double least = classes == 0 ? settings.least_leaf : settings.least_leaf / 8;
  p.emplace_back("min_child_weight", text(least));
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

void TreeHead::fit(const Matrix& x, const Vector& y, const Vector& weights, int classes,
                   const TreeSettings& settings, std::uint64_t seed, const Run& run) {
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
  learn::BoosterData data(x, target);
  data.set_weights(weights);
  learn::Booster booster({&data}, parameters_of(settings, classes, seed));
  for (int round = 0; round < settings.rounds; ++round) {
    if (round % 16 == 0) run.step(-1, "trees");
    booster.update(round, data);
  }
  // A booster keeps pointers to the data it was made with, so a copy without them stays.
  booster_.emplace(booster.save(), x.cols());
}

Matrix TreeHead::predict(const Matrix& x) const {
  const Matrix raw = booster_->predict(learn::BoosterData(x), 0, classes_ > 2 ? classes_ : 1);
  if (classes_ == 0) return (raw.array() * scale_ + mean_).matrix();
  if (classes_ > 2) return raw;
  Matrix both(raw.rows(), 2);
  both << (1 - raw.array()).matrix(), raw;
  return both;
}

void TreeHead::save(ArtifactWriter& out, const std::string& name) const {
  const std::string trees = booster_->save();
  out.put_text(name + ".ubj", trees);
  out.put(name + ".checksum", std::vector<std::int64_t>{learn::tree_checksum(trees)});
  out.put(name + ".scale", std::vector<double>{mean_, scale_});
}

void TreeHead::load(const ArtifactReader& in, const std::string& name, Index features,
                    int classes) {
  const std::string trees = in.text(name + ".ubj");
  const std::vector<std::int64_t> checksum = in.get<std::int64_t>(name + ".checksum");
  const std::vector<double> scale = in.get<double>(name + ".scale");
  if (checksum.size() != 1 || checksum[0] != learn::tree_checksum(trees) || scale.size() != 2)
    throw Error(OMEN_INVALID_DATA, "the model's trees '" + name + "' are damaged",
                "Train the model again.");
  booster_.emplace(trees, features);
  classes_ = classes;
  mean_ = scale[0];
  scale_ = scale[1];
}

}  // namespace omen::loadbalance::cost
