// SPDX-License-Identifier: Apache-2.0
// Planes of floats, one for each channel, and how a box of an image becomes such planes.
#pragma once

#include <cstddef>
#include <vector>

#include "data/image.hpp"

namespace omen::ensemble {

struct Box {
  int left = 0, top = 0, width = 0, height = 0;
};

enum class Resampling { kBilinear, kNearest, kBicubic, kArea };

// channels x side x side.
struct Planes {
  int channels = 0, side = 0;
  std::vector<float> values;

  std::size_t plane() const {
    return static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  }
  void scale(float factor);
  void add(float summand);
  void clamp(float low, float high);
  // About the mean of each channel.
  void contrast(float factor);
  // Left and right change places.
  void flip();
  // Moves the picture; what comes in from the edges is 0.
  void shift(int across, int down);
  // Zero mean, and a deviation of one unless the image is flat.
  void standardise();
  // As `wanted` channels: grey from colours by luma, colours by repetition.
  void copy_channels(int wanted, float* out) const;
};

Planes planes_of(const Image& image, const Box& box);
Planes resize(const Image& image, const Box& box, int side, Resampling method);

}  // namespace omen::ensemble
