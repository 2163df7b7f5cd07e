// SPDX-License-Identifier: Apache-2.0
// Changes of colour on planes in [0, 1].
#include "data/colours.hpp"

#include <cmath>

namespace omen::ensemble {
namespace {

enum class Change { kBrightness, kSaturation, kHue, kContrast };

using enum Change;
constexpr Change kFullOrders[4][4] = {{kBrightness, kSaturation, kHue, kContrast},
                                      {kSaturation, kBrightness, kContrast, kHue},
                                      {kContrast, kHue, kBrightness, kSaturation},
                                      {kHue, kSaturation, kContrast, kBrightness}};
constexpr Change kFastOrders[2][2] = {{kBrightness, kSaturation}, {kSaturation, kBrightness}};

// Away from grey, or towards it.
void saturate(Planes& planes, float factor) {
  const std::size_t n = planes.plane();
  float* red = planes.values.data();
  for (std::size_t i = 0; i < n; ++i) {
    const float grey = 0.299f * red[i] + 0.587f * red[n + i] + 0.114f * red[2 * n + i];
    for (std::size_t c = 0; c < 3; ++c) red[c * n + i] = grey + (red[c * n + i] - grey) * factor;
  }
}

// Turns the colour plane of YIQ by a part of a full circle.
void turn_hue(Planes& planes, double part) {
  const auto cosine = static_cast<float>(std::cos(part * 2 * M_PI));
  const auto sine = static_cast<float>(std::sin(part * 2 * M_PI));
  const std::size_t n = planes.plane();
  float* red = planes.values.data();
  for (std::size_t i = 0; i < n; ++i) {
    const float r = red[i], g = red[n + i], b = red[2 * n + i];
    const float y = 0.299f * r + 0.587f * g + 0.114f * b;
    const float in = 0.596f * r - 0.274f * g - 0.322f * b;
    const float quad = 0.211f * r - 0.523f * g + 0.312f * b;
    const float p = cosine * in - sine * quad, q = sine * in + cosine * quad;
    red[i] = y + 0.956f * p + 0.621f * q;
    red[n + i] = y - 0.272f * p - 0.647f * q;
    red[2 * n + i] = y - 1.106f * p + 1.703f * q;
  }
}

void change(Planes& planes, Change what, CounterRandom& random) {
  switch (what) {
    case kBrightness:
      return planes.add(static_cast<float>(random.uniform(-32.0 / 255, 32.0 / 255)));
    case kSaturation:
      return saturate(planes, static_cast<float>(random.uniform(0.5, 1.5)));
    case kHue:
      return turn_hue(planes, random.uniform(-0.2, 0.2));
    case kContrast:
      return planes.contrast(static_cast<float>(random.uniform(0.5, 1.5)));
  }
}

}  // namespace

void distort_colours(Planes& planes, CounterRandom& random, bool fast) {
  if (planes.channels != 3) return planes.add(static_cast<float>(random.uniform(-0.125, 0.125)));
  if (fast) {
    for (const Change what : kFastOrders[random.below(2)]) change(planes, what, random);
  } else {
    for (const Change what : kFullOrders[random.below(4)]) change(planes, what, random);
  }
}

}  // namespace omen::ensemble
