// SPDX-License-Identifier: Apache-2.0
// Formats whose pixels are stored as they are: MNIST's IDX files and CIFAR-10's binary records.
#include <omen/error.hpp>
#include <string>

#include "data/image_source.hpp"
#include "data/mapped_file.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kIdxImages = 0x803, kIdxLabels = 0x801;
constexpr std::int64_t kTenClasses = 10;
constexpr std::size_t kCifarSide = 32, kCifarPlane = kCifarSide * kCifarSide;
constexpr std::size_t kCifarRecord = 1 + 3 * kCifarPlane;

std::uint32_t big_endian(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

[[noreturn]] void bad_pixels(const fs::path& path, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, "'" + path.string() + "' " + what, "Copy or unpack it again.");
}

// "train-images-idx3-ubyte" has its labels in "train-labels-idx1-ubyte".
fs::path labels_beside(const fs::path& images) {
  std::string name = images.filename().string();
  const auto replace = [&name](const char* from, const char* to) {
    if (const std::size_t at = name.find(from); at != std::string::npos)
      name.replace(at, std::string(from).size(), to);
  };
  replace("images", "labels");
  replace("idx3", "idx1");
  return images.parent_path() / name;
}

class Mnist final : public ImageSource {
 public:
  explicit Mnist(const fs::path& path) : images_(path), labels_(labels_beside(path)) {
    const auto pixels = images_.bytes(), labels = labels_.bytes();
    if (pixels.size() < 16 || big_endian(pixels, 0) != kIdxImages)
      bad_pixels(path, "is no IDX file of images");
    count_ = big_endian(pixels, 4);
    height_ = big_endian(pixels, 8);
    width_ = big_endian(pixels, 12);
    if (height_ == 0 || width_ == 0 || height_ > 4096 || width_ > 4096)
      bad_pixels(path, "has images without a usable size");
    if ((pixels.size() - 16) / (height_ * width_) < count_) bad_pixels(path, "is cut off");
    if (labels.size() < 8 || big_endian(labels, 0) != kIdxLabels || labels.size() - 8 < count_)
      bad_pixels(labels_beside(path), "is no IDX file with a label for every image");
    for (std::size_t i = 0; i < count_; ++i)
      if (labels[8 + i] >= kTenClasses) bad_pixels(labels_beside(path), "has a label above 9");
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(count_); }
  std::int64_t classes() const override { return kTenClasses; }
  StoredImage read(std::int64_t index) const override {
    const auto at = static_cast<std::size_t>(index);
    StoredImage stored;
    stored.decoded = Image::of_size(static_cast<int>(width_), static_cast<int>(height_), 1);
    const auto from = images_.bytes().subspan(16 + at * width_ * height_, width_ * height_);
    stored.decoded.pixels.assign(from.begin(), from.end());
    stored.label = labels_.bytes()[8 + at];
    return stored;
  }

 private:
  MappedFile images_, labels_;
  std::size_t count_ = 0, height_ = 0, width_ = 0;
};

class Cifar10 final : public ImageSource {
 public:
  explicit Cifar10(const std::vector<fs::path>& files) {
    for (const fs::path& path : files) {
      files_.emplace_back(path);
      const auto bytes = files_.back().bytes();
      if (bytes.empty() || bytes.size() % kCifarRecord != 0)
        bad_pixels(path, "does not hold whole CIFAR-10 records of 3073 bytes");
      for (std::size_t at = 0; at < bytes.size(); at += kCifarRecord) {
        if (bytes[at] >= kTenClasses) bad_pixels(path, "has a label above 9");
        records_.push_back(bytes.data() + at);
      }
    }
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(records_.size()); }
  std::int64_t classes() const override { return kTenClasses; }
  StoredImage read(std::int64_t index) const override {
    const std::uint8_t* record = records_.at(static_cast<std::size_t>(index));
    StoredImage stored;
    stored.label = record[0];
    stored.decoded = Image::of_size(kCifarSide, kCifarSide, 3);
    for (std::size_t pixel = 0; pixel < kCifarPlane; ++pixel)
      for (std::size_t c = 0; c < 3; ++c)
        stored.decoded.pixels[pixel * 3 + c] = record[1 + c * kCifarPlane + pixel];
    return stored;
  }

 private:
  std::vector<MappedFile> files_;
  std::vector<const std::uint8_t*> records_;
};

}  // namespace

std::unique_ptr<ImageSource> open_mnist(const fs::path& images) {
  return std::make_unique<Mnist>(images);
}
std::unique_ptr<ImageSource> open_cifar10(const std::vector<fs::path>& files) {
  return std::make_unique<Cifar10>(files);
}

}  // namespace omen::ensemble
