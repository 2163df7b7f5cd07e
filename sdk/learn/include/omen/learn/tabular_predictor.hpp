// SPDX-License-Identifier: Apache-2.0
// Binds a tabular model to the SDK: reads datasets, writes prediction tables, saves and loads.
#pragma once

#include <memory>
#include <omen/plugin.hpp>
#include <string>

#include "omen/learn/tabular_model.hpp"

namespace omen::learn {

class TabularPredictor : public Predictor {
 public:
  TabularPredictor(std::string id, TabularModel::LearnerFactory factory, ModelOptions options);

  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  struct Fitted {
    TabularModel model;
    std::vector<Metadata> metadata;  ///< per target, as its column came: unit, direction, classes
    bool with_graphs = false;
    std::vector<TargetReport> reports;
  };

  const Fitted& fitted() const;
  std::unique_ptr<Fitted> blank() const;

  std::string id_;
  TabularModel::LearnerFactory factory_;
  ModelOptions options_;
  std::unique_ptr<Fitted> fitted_;
};

}  // namespace omen::learn
