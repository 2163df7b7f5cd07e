// SPDX-License-Identifier: Apache-2.0
// Time, power and energy of prefill and decoding in closed form, given efficiencies.
#pragma once

#include "llm/serving.hpp"

namespace omen::power {

// What software makes of the hardware.
struct Efficiency {
  double compute = 0.5, memory = 0.85;  // of the peaks
  double attention = 0.05;              // of the compute peak, while one token looks back
  double sharpness = 4;     // 1: the parts of a roofline add up; large: the longer one counts
  double step_us = 50;      // of each layer in a step
  double exchange_us = 40;  // of each layer and doubling of GPUs
  double prefill_us = 60;   // of each layer
  double sequence_us = 5;   // of each sequence in a step
};

// How many watts follow from what is kept busy, as parts of what lies between idle and TDP.
struct PowerShape {
  double base = 0.15, compute = 1, weights = 0.6, cache = 1.2;
  double factor = 1;  // of all but the base
};

// What one pass moves and computes on all GPUs, and how long it takes.
struct Pass {
  double flops = 0, weight_bytes = 0, cache_bytes = 0;
  double seconds = 0;
  double compute_s = 0, memory_s = 0, overhead_s = 0;  // what the seconds are made of
};

enum class Bound { kCompute, kMemory, kOverhead };
const char* bound_name(Bound bound);
Bound bound_of(const Pass& pass);

// One phase of a run with its share of time and energy; watts are of one GPU.
struct PhaseCost {
  double seconds = 0, watts = 0, joules = 0;
  Bound bound = Bound::kMemory;
};

struct Forecast {
  PhaseCost prefill, decode;
  double seconds = 0;  // until all requests of the batch are answered
  double watts = 0;    // mean of one GPU
  double joules = 0;   // of all GPUs: watts * GPUs * seconds
  double token_s = 0;  // between two tokens of one request
  double first_s = 0;  // until the first token
  double at_once = 0;  // requests that run together
  double stretch = 1;  // by the power cap
  bool capped = false;

  double joules_per_token(const Serving& serving) const;
  double tokens_per_s(const Serving& serving) const;
};

// The passes of a batch that runs at once.
struct Passes {
  Pass prefill, step;
  double at_once = 0, waves = 1;
};
Passes passes_of(const Serving& serving, const Efficiency& efficiency);

// Of a pass that takes `seconds` on the serving's GPUs.
double watts_of(const Serving& serving, const Pass& pass, double seconds, const PowerShape& shape);

// Factors on seconds and watts that measurements of this machine taught.
struct Corrections {
  double time = 1, power = 1;
};
Forecast forecast_of(const Serving& serving, const Efficiency& efficiency, const PowerShape& shape,
                     const Corrections& corrections = {});

}  // namespace omen::power
