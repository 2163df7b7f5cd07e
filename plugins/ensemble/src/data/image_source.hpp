// SPDX-License-Identifier: Apache-2.0
// Labelled images by number, whatever file format holds them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/image.hpp"

namespace omen::ensemble {

// An image as it is stored: JPEG bytes, or pixels that need no decoding.
struct StoredImage {
  std::vector<std::uint8_t> jpeg;  // empty where `decoded` holds the pixels
  Image decoded;
  std::int32_t label = 0;
};

// [any-thread] read() may be called from several threads at once.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  virtual std::int64_t size() const = 0;
  virtual std::int64_t classes() const = 0;
  virtual StoredImage read(std::int64_t index) const = 0;
};

// A packed JPEG file, an MNIST image file (IDX, its labels beside it), a CIFAR-10 binary file or a
// directory of them, or a directory with one directory of JPEG files for each class.
// OMEN_NOT_FOUND where there is nothing, OMEN_INVALID_DATA where a file is cut off or no such file.
std::unique_ptr<ImageSource> open_images(const std::filesystem::path& path);

// The formats one by one.
std::unique_ptr<ImageSource> open_packed_jpeg(const std::filesystem::path& path);
std::unique_ptr<ImageSource> open_mnist(const std::filesystem::path& images);
std::unique_ptr<ImageSource> open_cifar10(const std::vector<std::filesystem::path>& files);
std::unique_ptr<ImageSource> open_image_folder(const std::filesystem::path& directory);

}  // namespace omen::ensemble
