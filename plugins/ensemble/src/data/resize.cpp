// SPDX-License-Identifier: Apache-2.0
// Separable resampling: one list of taps for the columns, one for the rows.
#include "data/resize.hpp"

#include <algorithm>
#include <cmath>

namespace omen::ensemble {
namespace {

// What one output position reads: `count` neighbours from `first` on, with their weights.
struct Taps {
  int first = 0, count = 0;
  float weight[4] = {};
};

float cubic_weight(float distance) {
  constexpr float kSharpness = -0.75f;
  const float x = std::fabs(distance);
  if (x < 1) return ((kSharpness + 2) * x - (kSharpness + 3)) * x * x + 1;
  if (x < 2) return kSharpness * (((x - 5) * x + 8) * x - 4);
  return 0;
}

Taps point_taps(float position, int size, Resampling method) {
  Taps taps;
  if (method == Resampling::kNearest) {
    taps.first = std::clamp(static_cast<int>(std::floor(position + 0.5f)), 0, size - 1);
    taps.count = 1;
    taps.weight[0] = 1;
    return taps;
  }
  const int radius = method == Resampling::kBicubic ? 2 : 1;
  const int base = static_cast<int>(std::floor(position));
  taps.first = std::max(0, base - radius + 1);
  const int last = std::min(size - 1, base + radius);
  float sum = 0;
  for (int at = taps.first; at <= last; ++at) {
    const float distance = position - static_cast<float>(at);
    const float weight = method == Resampling::kBicubic ? cubic_weight(distance)
                                                        : std::max(0.0f, 1 - std::fabs(distance));
    taps.weight[taps.count++] = weight;
    sum += weight;
  }
  for (int i = 0; i < taps.count; ++i) taps.weight[i] /= sum;
  return taps;
}

std::vector<Taps> taps_of(int size, int side, Resampling method) {
  std::vector<Taps> all;
  const float step = static_cast<float>(size) / static_cast<float>(side);
  for (int i = 0; i < side; ++i)
    all.push_back(point_taps((static_cast<float>(i) + 0.5f) * step - 0.5f, size, method));
  return all;
}

const std::uint8_t* pixel(const Image& image, const Box& box, int x, int y) {
  const auto at = static_cast<std::size_t>(box.top + y) * static_cast<std::size_t>(image.width) +
                  static_cast<std::size_t>(box.left + x);
  return image.pixels.data() + at * static_cast<std::size_t>(image.channels);
}

Planes empty_planes(const Image& image, int side) {
  Planes planes{image.channels, side, {}};
  planes.values.resize(planes.plane() * static_cast<std::size_t>(image.channels));
  return planes;
}

// The mean of the pixels that an output position covers.
Planes area_means(const Image& image, const Box& box, int side) {
  Planes planes = empty_planes(image, side);
  const auto edge = [side](int i, int size) { return i * size / side; };
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const int left = edge(x, box.width), top = edge(y, box.height);
      const int right = std::max(left + 1, edge(x + 1, box.width));
      const int bottom = std::max(top + 1, edge(y + 1, box.height));
      const float part = 1.0f / static_cast<float>((right - left) * (bottom - top));
      for (int c = 0; c < image.channels; ++c) {
        int sum = 0;
        for (int v = top; v < bottom; ++v)
          for (int u = left; u < right; ++u) sum += pixel(image, box, u, v)[c];
        planes.values[static_cast<std::size_t>(c) * planes.plane() +
                      static_cast<std::size_t>(y * side + x)] = static_cast<float>(sum) * part;
      }
    }
  return planes;
}

}  // namespace

Planes planes_of(const Image& image, const Box& box) {
  return resize(image, box, box.width, Resampling::kNearest);
}

Planes resize(const Image& image, const Box& box, int side, Resampling method) {
  if (method == Resampling::kArea) return area_means(image, box, side);
  Planes planes = empty_planes(image, side);
  const std::vector<Taps> columns = taps_of(box.width, side, method);
  const std::vector<Taps> rows = taps_of(box.height, side, method);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const Taps &row = rows[static_cast<std::size_t>(y)],
                 &column = columns[static_cast<std::size_t>(x)];
      for (int c = 0; c < image.channels; ++c) {
        float sum = 0;
        for (int v = 0; v < row.count; ++v) {
          float line = 0;
          for (int u = 0; u < column.count; ++u)
            line += column.weight[u] * pixel(image, box, column.first + u, row.first + v)[c];
          sum += row.weight[v] * line;
        }
        planes.values[static_cast<std::size_t>(c) * planes.plane() +
                      static_cast<std::size_t>(y * side + x)] = sum;
      }
    }
  return planes;
}

}  // namespace omen::ensemble
