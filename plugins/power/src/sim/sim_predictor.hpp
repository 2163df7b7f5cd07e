// SPDX-License-Identifier: Apache-2.0
// Predictor `power.sim`: the analytic accelerator as a predictor; its models are energy profiles.
#pragma once

#include <memory>
#include <omen/plugin.hpp>

#include "sim/energy_profile.hpp"
#include "sim/simulate.hpp"

namespace omen::power {

struct SimPredictorOptions {
  std::string profile, voltage_law = "node-curves";
  bool fuse_layers = false, fuse_other_layers = true;
  double buffer_kb = 128, buffer_word_bits = 64;

  static auto spec() {
    using O = SimPredictorOptions;
    return options(
        opt(&O::profile, "profile",
            "energies: tetris-65, eyeriss-norm, horowitz-45 or an ERT file of Accelergy with its "
            "ART "
            "beside it; empty: that of the model"),
        opt(&O::voltage_law, "voltage_law", "how energy follows the supply")
            .choices("node-curves", "square"),
        opt(&O::fuse_layers, "fuse_layers", "keep outputs on chip where they fit"),
        opt(&O::fuse_other_layers, "fuse_other_layers",
            "layers without multiplications take neither time nor traffic"),
        opt(&O::buffer_kb, "buffer_kb", "size of the shared buffer that an ERT file is for")
            .range(0.25, 1 << 20)
            .unit("KB"),
        opt(&O::buffer_word_bits, "buffer_word_bits", "width of its words").range(1, 4096));
  }
};

// The profile that a name or a file stands for.
EnergyProfile chosen_profile(const SimPredictorOptions& options);

class SimPredictor final : public Predictor {
 public:
  explicit SimPredictor(SimPredictorOptions options) : options_(std::move(options)) {}
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;
  void observe(const Dataset& measured, const Run& run) override;

 private:
  EnergyProfile profile() const;
  void require_profile() const;

  SimPredictorOptions options_;
  std::unique_ptr<EnergyProfile> model_;
};

Component sim_component();

}  // namespace omen::power
