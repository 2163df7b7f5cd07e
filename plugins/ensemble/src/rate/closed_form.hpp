// SPDX-License-Identifier: Apache-2.0
// Rate, CPU seconds and power of an ensemble that trains, in closed form.
#pragma once

#include <vector>

#include "rate/design.hpp"

namespace omen::ensemble {

// Bytes of a preprocessed image where nobody says: 224 x 224 x 3 floats and a label.
inline constexpr double kUsualSampleBytes = 224 * 224 * 3 * 4 + 8;
// Images of an epoch where nobody says.
inline constexpr double kUsualImages = 1.28e6;

// What a machine is described by; fit() finds them.
struct RateConstants {
  double core_rate = 25;        // images/s that one core preprocesses
  double sigma = 0.05;          // cores c yield c / (1 + sigma (c - 1)) times that
  double gather_bw = 350e6;     // bytes/s of an all-gather
  double broadcast_bw = 1.5e9;  // bytes/s of each level of a broadcast
  double wasteful_bw = 2.5e9;   // the same where p broadcasts run at once
  double sharpness = 4;         // how sharply the slower of two stages sets the pace
};

// Core seconds of an image are prepare / (models that share it) + host / rate + exchange + train.
struct CpuConstants {
  double prepare = 0;   // core seconds to preprocess an image
  double host = 0;      // cores that a training keeps busy, whether it advances or waits
  double exchange = 0;  // core seconds to receive a shared image
  double train = 0;     // core seconds to train on an image, where the processor does that
};

// Watts of a node above idle are running + core x busy cores + accelerator x busy share.
struct PowerConstants {
  double running = 0, core = 0, accelerator = 0;
};

// One ensemble on one machine.
struct Setting {
  Design design = Design::kNone;
  double ranks = 1;          // one model each
  double preprocessors = 1;  // of the broadcasts and the ring
  double cores = 1;          // of a node
  double ranks_per_node = 1;
  double sample_bytes = kUsualSampleBytes;
  double images = kUsualImages;     // of an epoch
  int groups = 1;                   // that share among themselves
  bool coupled = false;             // one pace for all models of a group
  std::vector<double> train_rates;  // images/s of each model alone; empty: trainers take anything
};

// Stages that work at rates a and b in a row: the slower one, rounded off by `sharpness`.
double soft_min(double a, double b, double sharpness);

// Images/s that a rank is delivered when training takes no time. `overlap` in 0..1 is the part of
// the shorter of preprocessing and exchange that hides behind the longer.
double peak_rate(const Setting& setting, const RateConstants& constants, double overlap);

// What one model of an ensemble reaches.
struct Pace {
  double rate = 0;   // images/s
  double alone = 0;  // images/s of the training without waiting; infinite without trainers
  double sharers = 1;
};

struct Forecast {
  std::vector<Pace> paces;  // of each model, ascending by its rate alone
  double peak = 0;          // images/s delivered with the trainers removed
  double rate = 0;          // mean of the models
  double slowest = 0;
  double idle_share = 0;  // of the accelerators' time
};

// `cpu`: host cores bound a training's rate, and so does the work of trainings on the processor.
Forecast forecast(const Setting& setting, const RateConstants& constants, const CpuConstants& cpu,
                  double overlap);

// Terms that the CPU constants multiply, averaged over the models.
struct CpuTerms {
  double prepare = 0, host = 0, exchange = 0, train = 0;
};
CpuTerms cpu_terms(const Setting& setting, const Forecast& forecast);
double cpu_per_image(const CpuTerms& terms, const CpuConstants& constants);

// Terms that the power constants multiply, of a node.
struct PowerTerms {
  double running = 1, busy_cores = 0, busy_accelerators = 0;
};
PowerTerms power_terms(const Setting& setting, const Forecast& forecast,
                       const CpuConstants& constants);
double watts(const PowerTerms& terms, const PowerConstants& constants);

}  // namespace omen::ensemble
