// SPDX-License-Identifier: Apache-2.0
// What recipes do to planes after their size is right.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/resize.hpp"

namespace omen::ensemble {
namespace {

constexpr float kLuma[3] = {0.299f, 0.587f, 0.114f};

}  // namespace

void Planes::scale(float factor) {
  for (float& value : values) value *= factor;
}
void Planes::add(float summand) {
  for (float& value : values) value += summand;
}
void Planes::clamp(float low, float high) {
  for (float& value : values) value = std::clamp(value, low, high);
}

void Planes::contrast(float factor) {
  for (std::size_t begin = 0; begin < values.size(); begin += plane()) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = from + static_cast<std::ptrdiff_t>(plane());
    const float mean = std::accumulate(from, to, 0.0f) / static_cast<float>(plane());
    std::for_each(from, to, [&](float& value) { value = (value - mean) * factor + mean; });
  }
}

void Planes::flip() {
  for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(side))
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(row),
                 values.begin() + static_cast<std::ptrdiff_t>(row) + side);
}

void Planes::shift(int across, int down) {
  std::vector<float> moved(values.size());
  for (int c = 0; c < channels; ++c)
    for (int y = std::max(0, down); y < std::min(side, side + down); ++y)
      for (int x = std::max(0, across); x < std::min(side, side + across); ++x) {
        const auto at = [&](int u, int v) {
          return static_cast<std::size_t>(c) * plane() + static_cast<std::size_t>(v * side + u);
        };
        moved[at(x, y)] = values[at(x - across, y - down)];
      }
  values.swap(moved);
}

void Planes::standardise() {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const float value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::max(std::sqrt(squares / count), 1 / std::sqrt(count));
  for (float& value : values) value = static_cast<float>((value - mean) / deviation);
}

void Planes::copy_channels(int wanted, float* out) const {
  if (channels == 3 && wanted == 1) {
    for (std::size_t i = 0; i < plane(); ++i)
      out[i] = kLuma[0] * values[i] + kLuma[1] * values[plane() + i] +
               kLuma[2] * values[2 * plane() + i];
    return;
  }
  for (int c = 0; c < wanted; ++c) {
    const auto from = values.begin() +
                      static_cast<std::ptrdiff_t>(static_cast<std::size_t>(c % channels) * plane());
    std::copy(from, from + static_cast<std::ptrdiff_t>(plane()),
              out + static_cast<std::size_t>(c) * plane());
  }
}

}  // namespace omen::ensemble
