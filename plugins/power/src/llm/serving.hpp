// SPDX-License-Identifier: Apache-2.0
// What is asked: a transformer, the GPUs it runs on, and how it is served.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace omen::power {

struct ModelShape {
  double parameters = 0, active = 0;  // active: that one token passes
  double layers = 0, hidden = 0;
  double cache_bytes = 0;                     // keys and values of one token, at 16 bits
  double experts = 0, experts_per_token = 0;  // 0: dense

  bool has_experts() const { return experts > experts_per_token && active < parameters; }
};

// Published figures of one GPU, in SI units.
struct Gpu {
  std::string name;
  double flops = 0, bandwidth = 0, memory = 0, link = 0;
  double tdp = 0, idle = 0;
};

enum class Batching {
  kStatic,      // a batch is prefilled, then decoded until all are done
  kContinuous,  // a request that ends makes room for the next
};

struct Serving {
  ModelShape model;
  Gpu gpu;
  std::string framework;
  double gpus = 1, batch = 1;
  double input = 0, output = 0;  // tokens of a request
  double weight_bytes = 2;       // of one parameter
  double cache_scale = 1;        // of the cache, against 16 bits
  double cap = 0;                // watts of one GPU; 0: none
  Batching batching = Batching::kStatic;
};

// Requests whose cache fits beside the weights; less than 1 where not even one does.
double sequences_that_fit(const Serving& serving);

// Shapes that were published, by the name of the model in any case; nothing for others.
std::optional<ModelShape> published_shape(const std::string& model);
std::vector<std::string> published_models();

}  // namespace omen::power
