// SPDX-License-Identifier: Apache-2.0
// A decoded image: rows of pixels, the channels of a pixel side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omen::ensemble {

struct Image {
  int width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> pixels;

  static Image of_size(int width, int height, int channels) {
    const auto bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                       static_cast<std::size_t>(channels);
    return {width, height, channels, std::vector<std::uint8_t>(bytes)};
  }
};

}  // namespace omen::ensemble
