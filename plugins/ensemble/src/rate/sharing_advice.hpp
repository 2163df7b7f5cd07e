// SPDX-License-Identifier: Apache-2.0
// Copies of one training, each on its own or on one preprocessing, by the closed form.
#pragma once

#include "rate/closed_form.hpp"

namespace omen::ensemble {

// Seconds of an image. A training that waits for its device counts by the clock.
struct CopyCosts {
  double own_prepare_cpu_s = 0;     // of the training's own preprocessing
  double served_prepare_cpu_s = 0;  // of what would serve all copies
  double train_cpu_s = 0, train_wall_s = 0;
  double alone_wall_s = 0;  // of the training as it is, with its own preprocessing
  double sample_bytes = 0;
};

// Of each copy.
struct CopyForecast {
  double alone_cpu_s = 0, shared_cpu_s = 0;  // of an image
  double alone_per_s = 0, shared_per_s = 0;  // images
  double saving() const { return alone_cpu_s / shared_cpu_s; }
};

CopyForecast forecast_copies(const CopyCosts& costs, double copies, double cores);

}  // namespace omen::ensemble
