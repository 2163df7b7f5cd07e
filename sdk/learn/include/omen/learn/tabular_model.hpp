// SPDX-License-Identifier: Apache-2.0
// Everything around a learner: features, working scale of the targets, classes and intervals.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "omen/learn/intervals.hpp"
#include "omen/learn/learner.hpp"

namespace omen::learn {

enum class LogMode { kAuto, kOn, kOff };

struct ModelOptions {
  LogMode log_target = LogMode::kAuto;
  LogMode log_features = LogMode::kAuto;
  int folds = 5;
  std::vector<std::string> columns =
      {};  ///< learn from these alone; empty: from all, and from graphs
};

/// What a fit decided for one target.
struct TargetReport {
  std::string target;
  std::string knobs;
  std::string loss_name;  ///< cv_rmse, cv_rmse_log or cv_log_loss
  double loss = 0;        ///< NaN where there were too few rows for folds
};

struct TargetPrediction {
  std::string name;
  std::vector<std::string> classes;  ///< empty for a number
  Vector value, lo, hi;              ///< numbers; lo and hi are NaN without residuals
  std::vector<std::int32_t> codes;   ///< classes: the most probable one
  Matrix probability;                ///< classes: one column each
};

struct Prediction {
  std::vector<TargetPrediction> targets;
  std::vector<bool> extrapolating;
};

class TabularModel {
 public:
  using LearnerFactory = std::function<std::unique_ptr<Learner>()>;

  TabularModel(LearnerFactory factory, ModelOptions options);

  /// `groups` may be empty; rows of one group are never split by the inner folds.
  std::vector<TargetReport> fit(const Frame& frame, const std::vector<Target>& targets,
                                const std::vector<std::int32_t>& groups, const Context& context);
  Prediction predict(const Frame& frame, double level, const Context& context) const;
  void save(StateWriter& out) const;
  void load(const StateReader& in);
  std::size_t targets() const { return mappings_.size(); }

 private:
  /// How a target maps to a head of the learner and back.
  struct Mapping {
    std::string name;
    std::vector<std::string> classes;  ///< as given
    std::vector<std::int64_t> seen;    ///< codes that occur in training, in order
    bool log = false;
    double min = 0, max = 0;  ///< working scale
    ResidualQuantiles residuals;

    bool is_class() const { return !classes.empty(); }
    /// With a single class there is nothing to learn.
    bool has_head() const { return !is_class() || seen.size() > 1; }
  };
  struct Candidate {
    FeatureEncoder encoder;
    std::unique_ptr<Learner> learner;
    std::vector<HeadReport> reports;
  };

  Mapping make_mapping(const Target& target) const;
  static Head make_head(const Target& target, const Mapping& mapping);
  Candidate fit_candidate(const Frame& frame, const std::vector<Head>& heads, const Folds& folds,
                          bool log_wide, const Context& context) const;
  Candidate choose_features(const Frame& frame, const std::vector<Head>& heads, const Folds& folds,
                            const Context& context) const;
  static TargetPrediction finish_number(const Mapping& mapping, const Matrix& raw, double level);
  static TargetPrediction finish_class(const Mapping& mapping, const Matrix* raw, Index rows);

  LearnerFactory factory_;
  ModelOptions options_;
  FeatureEncoder encoder_;
  std::unique_ptr<Learner> learner_;
  std::vector<Mapping> mappings_;
};

}  // namespace omen::learn
