// SPDX-License-Identifier: Apache-2.0
// `omen power estimate`: what a request mix costs before anything runs, and what would be cheaper.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::power {

struct EstimateOptions {
  std::string gpu, framework, precision, batching, vary = "nothing", model;
  double gpus = 1, batch = 1, input_tokens = 512, output_tokens = 256, requests_per_s = 0;
  double power_cap_w = 0, requests = 0;
  double price_per_kwh = 0, pue = 1, gco2_per_kwh = 0;
  double most_token_ms = 0, most_first_s = 0, node_cap_w = 0;
  int runs = 5;

  static auto spec() {
    using O = EstimateOptions;
    return options(
        opt(&O::gpu, "gpu", "name of the GPU, or several with commas between them").required(),
        opt(&O::gpus, "gpus", "GPUs that hold the model together").range(1, 1024),
        opt(&O::batch, "batch", "requests at once").range(1, 1e6),
        opt(&O::requests_per_s, "requests_per_s",
            "rate at which requests come; the batch then follows from it")
            .range(0, 1e9),
        opt(&O::batching, "batching", "static, or continuous as servers do it")
            .choices("", "static", "continuous"),
        opt(&O::input_tokens, "input_tokens", "tokens of a prompt").range(0, 1e8),
        opt(&O::output_tokens, "output_tokens", "tokens of an answer").range(0, 1e8),
        opt(&O::framework, "framework",
            "software that serves, as it was measured; others are taken for the best of these"),
        opt(&O::precision, "precision", "of the weights; that of the config where none is given"),
        opt(&O::power_cap_w, "power_cap_w", "power limit of each GPU; 0: none").range(0, 1e5),
        opt(&O::vary, "vary", "what to compare, the cheapest first")
            .choices("nothing", "cap", "batch", "gpus", "gpu", "precision", "input", "measure"),
        opt(&O::most_token_ms, "most_token_ms", "time between two tokens that is allowed; 0: any")
            .range(0, 1e9),
        opt(&O::most_first_s, "most_first_s", "time until the first token that is allowed; 0: any")
            .range(0, 1e9),
        opt(&O::node_cap_w, "node_cap_w", "watts that all replicas may draw together; 0: one")
            .range(0, 1e9),
        opt(&O::requests, "requests", "requests of the whole job; 0: one batch").range(0, 1e15),
        opt(&O::price_per_kwh, "price_per_kwh", "price of a kWh; 0: no cost is said").range(0, 1e6),
        opt(&O::pue, "pue", "what the building draws for each watt of the machine").range(1, 10),
        opt(&O::gco2_per_kwh, "gco2_per_kwh", "grams of CO2 for a kWh; 0: none are said")
            .range(0, 1e5),
        opt(&O::runs, "runs", "with vary=measure: how many runs to propose").range(1, 50),
        opt(&O::model, "model", "model file of power.llm; the bundled one by default").path());
  }
};

class EstimateCommand final : public Command {
 public:
  explicit EstimateCommand(EstimateOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  EstimateOptions options_;
};

Component estimate_component();

}  // namespace omen::power
