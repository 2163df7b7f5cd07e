// SPDX-License-Identifier: Apache-2.0
// Writes packed JPEG files: many small images in one file with an index.
// Layout, little-endian: "EPD1", u32 count, u32 classes, count x {u64 offset, u32 bytes,
// u32 label}, then the images.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "data/image_source.hpp"

namespace omen::ensemble {

struct PackedImage {
  std::vector<std::uint8_t> jpeg;
  std::uint32_t label = 0;
};

// Asks `image` for every number below `count`, in order. The file appears whole or not at all.
void write_packed_jpeg(const std::filesystem::path& path, std::uint32_t count,
                       std::uint32_t classes,
                       const std::function<PackedImage(std::uint32_t)>& image);

// The JPEG files of a directory as they are; OMEN_INVALID_ARGUMENT where images are stored
// otherwise. `step` gets the part that is done.
void pack_images(const ImageSource& images, const std::filesystem::path& path,
                 const std::function<void(double)>& step);

}  // namespace omen::ensemble
