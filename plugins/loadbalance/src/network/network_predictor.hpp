// SPDX-License-Identifier: Apache-2.0
// The predictor loadbalance.network: the family of graph networks behind one set of options.
#pragma once

#include <omen/plugin.hpp>
#include <optional>
#include <string>

#include "network/model.hpp"
#include "omen/torch/nn/fit.hpp"

namespace omen::loadbalance {

struct NetworkPredictorOptions {
  std::string body = "programl";
  std::string pooling = "skips";
  std::string readout = "extended";
  std::int64_t width = 64;
  std::int64_t steps = 6;
  std::int64_t hidden = 192;
  bool backward_edges = true;
  bool gates = true;
  bool bytes = true;
  double dropout = 0;
  double readout_dropout = 0.1;
  std::int64_t epochs = 4;
  std::int64_t readout_epochs = 100;
  std::int64_t batch = 16;
  double rate = 5e-4;
  double readout_rate = 3e-3;
  double decay = 1e-2;
  std::string loss = "absolute";
  std::string validation = "learn";
  std::int64_t patience = 0;
  std::string vocabulary;
  std::string precision = "single";

  static std::vector<Option<NetworkPredictorOptions>> spec();
};

class NetworkPredictor final : public Predictor {
 public:
  explicit NetworkPredictor(NetworkPredictorOptions options);

  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  const NetworkModel& model() const;

  NetworkPredictorOptions options_;
  std::optional<NetworkModel> model_;
};

inline constexpr const char* kNetworkId = "loadbalance.network";

}  // namespace omen::loadbalance
