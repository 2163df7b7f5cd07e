// SPDX-License-Identifier: Apache-2.0
// The predictors driple.gcn, driple.gat, driple.gin and driple.pna.
#pragma once

#include <omen/plugin.hpp>
#include <optional>
#include <string>

#include "nets/net_model.hpp"

namespace omen::driple {

struct NetOptions {
  std::int64_t groups = 100;
  std::int64_t grouping_seed = 42;
  std::int64_t hidden = 64;
  std::int64_t epochs = 200;
  std::int64_t patience = 50;
  std::int64_t batch = 32;
  double rate = 3e-3;
  double decay = 1e-6;
  double clip = 0;
  bool log_features = false;
  bool identity_start = false;
  std::string pretrained;

  static std::vector<Option<NetOptions>> spec();
};

struct PnaOptions : NetOptions {
  std::string aggregators = "sum";
  std::string scalers = "identity";

  static std::vector<Option<PnaOptions>> spec();
};

class NetPredictor : public Predictor {
 public:
  NetPredictor(LayerOptions layer, NetOptions options);

  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  const NetModel& model() const;
  std::string id() const;

  LayerOptions layer_;
  NetOptions options_;
  std::optional<NetModel> model_;
};

struct GcnPredictor final : NetPredictor {
  explicit GcnPredictor(NetOptions options);
};
struct GatPredictor final : NetPredictor {
  explicit GatPredictor(NetOptions options);
};
struct GinPredictor final : NetPredictor {
  explicit GinPredictor(NetOptions options);
};
struct PnaPredictor final : NetPredictor {
  explicit PnaPredictor(const PnaOptions& options);
};

}  // namespace omen::driple
