// SPDX-License-Identifier: Apache-2.0
// loadbalance.tree and loadbalance.linear: the baselines of the literature, on four ratios of
// counts.
#pragma once

#include <omen/learn/decision_tree.hpp>
#include <omen/plugin.hpp>
#include <optional>

#include "cost/cost_model.hpp"

namespace omen::loadbalance::cost {

// F1 bytes over operations, F2 coalesced accesses, F3 use of local memory, F4 operations an access;
// nothing where the counts are unknown.
std::optional<Vector> grewe_features(const KernelRow& row);

struct TreeOptions {
  int depth = 5, least_leaf = 5;

  static auto spec() {
    using O = TreeOptions;
    return options(opt(&O::depth, "depth", "depth of the tree").range(1, 20),
                   opt(&O::least_leaf, "least_leaf", "rows of a leaf").range(1, 10000));
  }
};

// Both read the same rows and answer with the same columns.
class GrewePredictor : public Predictor {
 public:
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 protected:
  struct Sample {
    Matrix x;
    Vector share;
  };
  virtual const char* id() const = 0;
  virtual void learn(const Sample& sample) = 0;
  virtual CostRow answer(const Vector& x) const = 0;
  virtual void save_state(ArtifactWriter& out) const = 0;
  virtual void load_state(const ArtifactReader& in) = 0;

 private:
  bool fitted_ = false;
};

class TreePredictor final : public GrewePredictor {
 public:
  explicit TreePredictor(TreeOptions options) : options_(options) {}

 protected:
  const char* id() const override { return "loadbalance.tree"; }
  void learn(const Sample& sample) override;
  CostRow answer(const Vector& x) const override;
  void save_state(ArtifactWriter& out) const override;
  void load_state(const ArtifactReader& in) override;

 private:
  TreeOptions options_;
  learn::DecisionTree share_, class_, device_;
};

class LinearPredictor final : public GrewePredictor {
 protected:
  const char* id() const override { return "loadbalance.linear"; }
  void learn(const Sample& sample) override;
  CostRow answer(const Vector& x) const override;
  void save_state(ArtifactWriter& out) const override;
  void load_state(const ArtifactReader& in) override;

 private:
  Vector weights_ = Vector::Zero(5);  // the constant last
};

}  // namespace omen::loadbalance::cost
