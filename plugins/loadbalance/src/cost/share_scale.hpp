// SPDX-License-Identifier: Apache-2.0
// The share of the CPU as percent, logit, class and device.
#pragma once

#include <array>

#include "cost/encoder.hpp"

namespace omen::loadbalance::cost {

// Marks of the classes of the share.
inline constexpr std::array<const char*, 5> kShareClasses = {"0", "25", "50", "75", "100"};
inline constexpr std::array<const char*, 2> kDevices = {"CPU", "GPU"};

// Labels of 0 and 100 % have finite logits too.
double logit_of_share(double percent);
double share_of_logit(double logit);

int class_of_share(double share);
// How much shares speak for each of kShareClasses and of kDevices; rows add up to 1.
Matrix class_likeness(const Vector& share);
Matrix device_likeness(const Vector& share);

}  // namespace omen::loadbalance::cost
