// SPDX-License-Identifier: Apache-2.0
// Random changes of brightness, saturation, hue and contrast.
#pragma once

#include "data/counter_random.hpp"
#include "data/resize.hpp"

namespace omen::ensemble {

// In one of four orders; fast: brightness and saturation alone, in one of two.
void distort_colours(Planes& planes, CounterRandom& random, bool fast);

}  // namespace omen::ensemble
