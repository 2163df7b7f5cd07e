// SPDX-License-Identifier: Apache-2.0
// `omen power finetune`: hours, joules and money of a training job before it starts.
#pragma once

#include <omen/plugin.hpp>

namespace omen::power {

struct FinetuneOptions {
  std::string gpu, method = "full";
  double gpus = 1, tokens = 0, mfu = 0.4;
  double price_per_kwh = 0, pue = 1, gco2_per_kwh = 0;

  static auto spec() {
    using O = FinetuneOptions;
    return options(
        opt(&O::gpu, "gpu", "name of the GPU, or several with commas between them").required(),
        opt(&O::gpus, "gpus", "GPUs that train together").range(1, 1e6),
        opt(&O::tokens, "tokens", "tokens of all epochs together").range(1, 1e18).required(),
        opt(&O::method, "method", "what is trained").choices("full", "recompute", "lora"),
        opt(&O::mfu, "mfu",
            "part of the peak that is reached; measure some steps, nothing here knows it")
            .range(0.01, 1),
        opt(&O::price_per_kwh, "price_per_kwh", "price of a kWh; 0: no cost is said").range(0, 1e6),
        opt(&O::pue, "pue", "what the building draws for each watt of the machine").range(1, 10),
        opt(&O::gco2_per_kwh, "gco2_per_kwh", "grams of CO2 for a kWh; 0: none are said")
            .range(0, 1e5));
  }
};

class FinetuneCommand final : public Command {
 public:
  explicit FinetuneCommand(FinetuneOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  FinetuneOptions options_;
};

Component finetune_component();

}  // namespace omen::power
