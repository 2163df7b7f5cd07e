// SPDX-License-Identifier: Apache-2.0
// A directory with one directory of JPEG files for each class, and the choice among all formats.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <omen/error.hpp>

#include "data/image_source.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

bool is_jpeg_name(const fs::path& path) {
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return suffix == ".jpg" || suffix == ".jpeg";
}

// Sorted, so that numbers of samples do not depend on the file system.
std::vector<fs::path> sorted_entries(const fs::path& directory) {
  std::vector<fs::path> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

class ImageFolder final : public ImageSource {
 public:
  explicit ImageFolder(const fs::path& directory) {
    for (const fs::path& place : sorted_entries(directory)) {
      if (!fs::is_directory(place)) continue;
      const std::size_t before = files_.size();
      for (const fs::path& file : sorted_entries(place))
        if (is_jpeg_name(file)) files_.emplace_back(file, static_cast<std::int32_t>(classes_));
      if (files_.size() > before) ++classes_;
    }
    if (files_.empty())
      throw Error(OMEN_INVALID_DATA,
                  "'" + directory.string() + "' holds no directories of JPEG files",
                  "Put the images of each class into a directory of its own.");
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::int64_t classes() const override { return classes_; }
  StoredImage read(std::int64_t index) const override {
    const auto& [path, label] = files_.at(static_cast<std::size_t>(index));
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error(OMEN_IO, "cannot read '" + path.string() + "'");
    StoredImage stored;
    stored.jpeg.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    stored.label = label;
    return stored;
  }

 private:
  std::vector<std::pair<fs::path, std::int32_t>> files_;
  std::int64_t classes_ = 0;
};

std::vector<fs::path> cifar_batches(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const fs::path& path : sorted_entries(directory))
    if (path.filename().string().starts_with("data_batch_") && path.extension() == ".bin")
      found.push_back(path);
  return found;
}

}  // namespace

std::unique_ptr<ImageSource> open_image_folder(const fs::path& directory) {
  return std::make_unique<ImageFolder>(directory);
}

std::unique_ptr<ImageSource> open_images(const fs::path& path) {
  if (!fs::exists(path))
    throw Error(OMEN_NOT_FOUND, "there is no '" + path.string() + "'",
                "Give a file or directory of images, or synthetic:COUNT.");
  if (fs::is_directory(path)) {
    const std::vector<fs::path> batches = cifar_batches(path);
    return batches.empty() ? open_image_folder(path) : open_cifar10(batches);
  }
  std::ifstream in(path, std::ios::binary);
  char head[4] = {};
  in.read(head, sizeof head);
  if (std::string_view(head, 4) == "EPD1") return open_packed_jpeg(path);
  if (std::string_view(head, 4) == std::string_view("\0\0\x08\x03", 4)) return open_mnist(path);
  if (path.extension() == ".bin") return open_cifar10({path});
  throw Error(OMEN_INVALID_DATA,
              "'" + path.string() + "' is no packed JPEG, IDX or CIFAR-10 binary file",
              "See plugins/ensemble/README.md for what can be read.");
}

}  // namespace omen::ensemble
