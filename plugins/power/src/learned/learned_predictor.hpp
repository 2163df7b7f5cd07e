// SPDX-License-Identifier: Apache-2.0
// Predictors `power.seq` and `power.flat`.
#pragma once

#include <memory>
#include <omen/plugin.hpp>

#include "learned/error_scale.hpp"
#include "learned/power_network.hpp"

namespace omen::power {

struct LearnedOptions {
  int epochs = 60, encoder = 128, width = 96, depth = 1, batch_nets = 8, chunk_rows = 32;
  int calibration_nets = 200;
  double rate = 2e-3, decay = 1e-4;
  std::string loss = "huber", outputs = "pair";
  bool slopes = false;

  static std::vector<Option<LearnedOptions>> spec();
};

// A trained network with what it needs to know about itself.
struct LearnedModel {
  std::unique_ptr<PowerNetwork> network;
  std::vector<ErrorScale> scales;  // by cost
  std::vector<float> low, high;    // of the hardware vector in training
  std::vector<float> block_low, block_high;
  std::vector<double> offsets;  // of the logarithms, learnt from observed rows
};

class LearnedPredictor : public Predictor {
 public:
  LearnedPredictor(const char* id, NetworkKind kind, LearnedOptions options)
      : id_(id), kind_(kind), options_(std::move(options)) {}
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void observe(const Dataset& measured, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  const char* id_;
  NetworkKind kind_;
  LearnedOptions options_;
  std::unique_ptr<LearnedModel> model_;
};

class SeqPredictor final : public LearnedPredictor {
 public:
  explicit SeqPredictor(LearnedOptions options);
};
class FlatPredictor final : public LearnedPredictor {
 public:
  explicit FlatPredictor(LearnedOptions options);
};

Component seq_component();
Component flat_component();

}  // namespace omen::power
