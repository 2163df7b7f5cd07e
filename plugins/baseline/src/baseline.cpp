// SPDX-License-Identifier: Apache-2.0
// The baselines' options and the plugin's entry.
#include <omen/learn/knn.hpp>
#include <omen/learn/mean.hpp>
#include <omen/learn/ridge.hpp>
#include <omen/learn/tabular_predictor.hpp>
#include <omen/plugin.hpp>

#include "column.hpp"
#include "nodelink.hpp"
#if OMEN_BASELINE_XGBOOST
#include <omen/boosting/gbt.hpp>
#endif

namespace omen::baseline {
namespace {

using learn::LogMode;
using learn::TabularPredictor;

constexpr std::uint64_t kCaps =
    OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY;
constexpr const char* kLogTargetHelp =
    "learn the logarithm of a target; auto: when it is positive and spans over two decades";
constexpr const char* kLogFeaturesHelp =
    "use logarithms of features that span over two decades; auto: by cross-validation";
constexpr const char* kColumnsHelp = "learn from this column alone, and from no graph";
constexpr const char* kFoldsHelp = "inner folds that choose the knobs; groups stay together";

LogMode log_mode(const std::string& text) {
  if (text == "on") return LogMode::kOn;
  return text == "off" ? LogMode::kOff : LogMode::kAuto;
}

struct MeanOptions {
  std::string log_target = "auto";
  int folds = 5;

  static auto spec() {
    using O = MeanOptions;
    return options(
        opt(&O::log_target, "log_target", kLogTargetHelp).choices("auto", "on", "off"),
        opt(&O::folds, "folds", "folds that the intervals are measured on").range(2, 50));
  }
};

class Mean final : public TabularPredictor {
 public:
  explicit Mean(const MeanOptions& o)
      : TabularPredictor("baseline.mean", [] { return std::make_unique<learn::MeanLearner>(); },
                         {log_mode(o.log_target), LogMode::kOff, o.folds}) {}
};

struct RidgeOptions {
  double alpha = 0;
  std::string log_target = "auto";
  std::string log_features = "auto";
  int folds = 5;
  std::vector<std::string> columns;

  static auto spec() {
    using O = RidgeOptions;
    return options(
        opt(&O::alpha, "alpha", "L2 penalty; 0: chosen by cross-validation").range(0, 1e12),
        opt(&O::log_target, "log_target", kLogTargetHelp).choices("auto", "on", "off"),
        opt(&O::log_features, "log_features", kLogFeaturesHelp).choices("auto", "on", "off"),
        opt(&O::folds, "folds", kFoldsHelp).range(2, 50),
        opt(&O::columns, "columns", kColumnsHelp));
  }
};

class Ridge final : public TabularPredictor {
 public:
  explicit Ridge(const RidgeOptions& o)
      : TabularPredictor("baseline.ridge",
                         [alpha = o.alpha] { return std::make_unique<learn::RidgeLearner>(alpha); },
                         {log_mode(o.log_target), log_mode(o.log_features), o.folds, o.columns}) {}
};

struct NeighbourOptions {
  int k = 0;
  std::string weights = "auto";
  int max_rows = 20000;
  std::string log_target = "auto";
  std::string log_features = "auto";
  int folds = 5;
  std::vector<std::string> columns;

  static auto spec() {
    using O = NeighbourOptions;
    return options(
        opt(&O::k, "k", "neighbours that vote; 0: chosen by cross-validation").range(0, 10000),
        opt(&O::weights, "weights", "votes count alike or by inverse distance; auto: chosen")
            .choices("auto", "uniform", "distance"),
        opt(&O::max_rows, "max_rows", "training rows kept at most, a seeded choice").range(1, 1e7),
        opt(&O::log_target, "log_target", kLogTargetHelp).choices("auto", "on", "off"),
        opt(&O::log_features, "log_features", kLogFeaturesHelp).choices("auto", "on", "off"),
        opt(&O::folds, "folds", kFoldsHelp).range(2, 50),
        opt(&O::columns, "columns", kColumnsHelp));
  }

  learn::KnnOptions learner_options() const {
    learn::KnnOptions result;
    result.k = k;
    result.max_rows = max_rows;
    if (weights == "uniform") result.weights = learn::KnnOptions::Weights::kUniform;
    if (weights == "distance") result.weights = learn::KnnOptions::Weights::kDistance;
    return result;
  }
};

class Knn final : public TabularPredictor {
 public:
  explicit Knn(const NeighbourOptions& o)
      : TabularPredictor("baseline.knn",
                         [options = o.learner_options()] {
                           return std::make_unique<learn::KnnLearner>(options);
                         },
                         {log_mode(o.log_target), log_mode(o.log_features), o.folds, o.columns}) {}
};

#if OMEN_BASELINE_XGBOOST
struct TreeOptions : learn::GbtOptions {
  std::string log_target = "auto";
  int folds = 5;
  std::vector<std::string> columns;

  static auto spec() {
    using O = TreeOptions;
    const auto whole = [](int learn::GbtOptions::*member, const char* key, const char* help) {
      return opt(static_cast<int O::*>(member), key, help);
    };
    const auto real = [](double learn::GbtOptions::*member, const char* key, const char* help) {
      return opt(static_cast<double O::*>(member), key, help);
    };
    return options(
        whole(&O::rounds, "rounds", "trees; 0: chosen by cross-validation").range(0, 100000),
        whole(&O::depth, "depth", "depth of a tree; 0: chosen by cross-validation").range(0, 20),
        real(&O::eta, "eta", "learning rate; 0: chosen by cross-validation").range(0, 1),
        whole(&O::max_rounds, "max_rounds", "most trees that the search tries").range(1, 100000),
        real(&O::subsample, "subsample", "share of the rows that a tree sees").range(0.01, 1),
        real(&O::min_child_weight, "min_child_weight", "least weight of a leaf").range(0, 1e6),
        real(&O::l2, "l2", "L2 penalty on the leaves").range(0, 1e6),
        opt(&O::log_target, "log_target", kLogTargetHelp).choices("auto", "on", "off"),
        opt(&O::folds, "folds", kFoldsHelp).range(2, 50),
        opt(&O::columns, "columns", kColumnsHelp));
  }
};

class Gbt final : public TabularPredictor {
 public:
  explicit Gbt(const TreeOptions& o)
      : TabularPredictor("baseline.gbt",
                         [options = static_cast<learn::GbtOptions>(o)] {
                           return std::make_unique<learn::GbtLearner>(options);
                         },
                         {log_mode(o.log_target), LogMode::kOff, o.folds, o.columns}) {}
};
#endif

template <class Impl, class Options>
Component tabular(const char* id, const char* summary, std::uint64_t caps = kCaps) {
  return predictor<Impl, Options>(id, summary)
      .reads("workloads.*", "nodes:optional", "edges:optional")
      .writes("*")
      .caps(caps);
}

Component mean() {
  return tabular<Mean, MeanOptions>("baseline.mean",
                                    "mean, or class frequencies, of the training rows");
}
Component ridge() {
  // Where there are no trees, a line is what a table is predicted with.
  constexpr std::uint64_t caps = OMEN_BASELINE_XGBOOST ? kCaps : kCaps | OMEN_CAP_DEFAULT;
  return tabular<Ridge, RidgeOptions>(
      "baseline.ridge", "linear regression with an L2 penalty, softmax for classes", caps);
}
Component knn() {
  return tabular<Knn, NeighbourOptions>("baseline.knn",
                                        "nearest neighbours in standardised features");
}
Component column() {
  return predictor<ColumnPredictor, ColumnOptions>(
             "baseline.column", "what a column says, such as predictions that others published")
      .reads("workloads.*")
      .writes("*")
      .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE);
}
Component nodelink() {
  return frontend<NodeLinkFrontend>("baseline.nodelink",
                                    "graphs from node-link JSON, as networkx writes it")
      .reads(".json")
      .writes("workloads", "nodes@ops/1", "edges")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}
#if OMEN_BASELINE_XGBOOST
Component gbt() {
  return tabular<Gbt, TreeOptions>("baseline.gbt", "gradient-boosted trees by XGBoost",
                                   kCaps | OMEN_CAP_DEFAULT)
      .cite("doi:10.1145/2939672.2939785");
}
#endif

}  // namespace
}  // namespace omen::baseline

#if OMEN_BASELINE_XGBOOST
OMEN_PLUGIN("baseline", "0.1.0", "Apache-2.0", omen::baseline::mean(), omen::baseline::ridge(),
            omen::baseline::knn(), omen::baseline::gbt(), omen::baseline::column(),
            omen::baseline::nodelink())
#else
OMEN_PLUGIN("baseline", "0.1.0", "Apache-2.0", omen::baseline::mean(), omen::baseline::ridge(),
            omen::baseline::knn(), omen::baseline::column(), omen::baseline::nodelink())
#endif
