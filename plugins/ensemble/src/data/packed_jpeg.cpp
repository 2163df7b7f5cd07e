// SPDX-License-Identifier: Apache-2.0
// Reads and writes packed JPEG files; every offset is checked before the first image is used.
#include "data/packed_jpeg.hpp"

#include <cstring>
#include <limits>
#include <omen/error.hpp>
#include <omen/pending_file.hpp>
#include <string>
#include <utility>

#include "data/mapped_file.hpp"

namespace omen::ensemble {
namespace {

constexpr char kPackedMagic[4] = {'E', 'P', 'D', '1'};

struct PackedHead {
  char magic[4];
  std::uint32_t count, classes;
};
struct PackedEntry {
  std::uint64_t offset;
  std::uint32_t bytes, label;
};
static_assert(sizeof(PackedHead) == 12 && sizeof(PackedEntry) == 16);

class PackedJpeg final : public ImageSource {
 public:
  explicit PackedJpeg(const std::filesystem::path& path) : name_(path.string()), file_(path) {
    const std::span<const std::uint8_t> all = file_.bytes();
    PackedHead head{};
    if (all.size() < sizeof head) cut_off("its head");
    std::memcpy(&head, all.data(), sizeof head);
    if (std::memcmp(head.magic, kPackedMagic, sizeof kPackedMagic) != 0)
      throw Error(OMEN_INVALID_DATA, "'" + name_ + "' is no packed JPEG file");
    classes_ = head.classes;
    if ((all.size() - sizeof head) / sizeof(PackedEntry) < head.count) cut_off("its index");
    entries_.resize(head.count);
    std::memcpy(entries_.data(), all.data() + sizeof head, head.count * sizeof(PackedEntry));
    for (std::size_t i = 0; i < entries_.size(); ++i) check(i);
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t classes() const override { return classes_; }
  StoredImage read(std::int64_t index) const override {
    const PackedEntry& entry = entries_.at(static_cast<std::size_t>(index));
    const auto bytes = file_.bytes().subspan(entry.offset, entry.bytes);
    StoredImage image;
    image.jpeg.assign(bytes.begin(), bytes.end());
    image.label = static_cast<std::int32_t>(entry.label);
    return image;
  }

 private:
  [[noreturn]] void cut_off(const std::string& where) const {
    throw Error(OMEN_INVALID_DATA,
                "'" + name_ + "' ends inside of " + where + " after " +
                    std::to_string(file_.bytes().size()) + " bytes",
                "Copy or make the file again.");
  }
  void check(std::size_t i) const {
    const PackedEntry& entry = entries_[i];
    const std::size_t all = file_.bytes().size();
    if (entry.offset > all || all - entry.offset < entry.bytes)
      cut_off("image " + std::to_string(i));
    if (entry.label >= classes_)
      throw Error(OMEN_INVALID_DATA, "'" + name_ + "': image " + std::to_string(i) + " has label " +
                                         std::to_string(entry.label) + " of " +
                                         std::to_string(classes_) + " classes");
  }

  std::string name_;
  MappedFile file_;
  std::uint32_t classes_ = 0;
  std::vector<PackedEntry> entries_;
};

}  // namespace

void write_packed_jpeg(const std::filesystem::path& path, std::uint32_t count,
                       std::uint32_t classes,
                       const std::function<PackedImage(std::uint32_t)>& image) {
  PendingFile file(path);
  PackedHead head{{}, count, classes};
  std::memcpy(head.magic, kPackedMagic, sizeof kPackedMagic);
  file.append(&head, sizeof head);
  std::vector<PackedEntry> entries(count);
  file.append(entries.data(), entries.size() * sizeof(PackedEntry));
  std::uint64_t offset = sizeof head + entries.size() * sizeof(PackedEntry);
  for (std::uint32_t i = 0; i < count; ++i) {
    const PackedImage one = image(i);
    entries[i] = {offset, static_cast<std::uint32_t>(one.jpeg.size()), one.label};
    file.append(one.jpeg.data(), one.jpeg.size());
    offset += one.jpeg.size();
  }
  file.overwrite(entries.data(), entries.size() * sizeof(PackedEntry), sizeof head);
  file.commit();
}

void pack_images(const ImageSource& images, const std::filesystem::path& path,
                 const std::function<void(double)>& step) {
  if (images.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(OMEN_INVALID_ARGUMENT,
                std::to_string(images.size()) + " images do not fit into one packed file",
                "Divide them.");
  const auto count = static_cast<std::uint32_t>(images.size());
  write_packed_jpeg(
      path, count, static_cast<std::uint32_t>(images.classes()), [&](std::uint32_t i) {
        step(static_cast<double>(i) / count);
        StoredImage image = images.read(i);
        if (image.jpeg.empty())
          throw Error(OMEN_INVALID_ARGUMENT, "these images are no JPEG files",
                      "Files of pixels need no packing: they are read as they are.");
        return PackedImage{std::move(image.jpeg), static_cast<std::uint32_t>(image.label)};
      });
}

std::unique_ptr<ImageSource> open_packed_jpeg(const std::filesystem::path& path) {
  return std::make_unique<PackedJpeg>(path);
}

}  // namespace omen::ensemble
