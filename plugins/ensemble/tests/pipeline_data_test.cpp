// SPDX-License-Identifier: Apache-2.0
// Formats of images, their order, and what recipes make of them.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <omen/testing/errors.hpp>
#include <omen/testing/temp_dir.hpp>

#include "data/epoch_order.hpp"
#include "data/generator.hpp"
#include "data/image_source.hpp"
#include "data/jpeg.hpp"
#include "data/packed_jpeg.hpp"
#include "data/recipe.hpp"

namespace omen::ensemble {
namespace {

using test::error_of;
using test::IsError;
using test::TempDir;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

GeneratorOptions small_images() {
  GeneratorOptions options;
  options.width = 40;
  options.height = 32;
  return options;
}

TEST(Generator, MakesJpegOf25To35KilobytesInTenClasses) {
  const GeneratorOptions options;
  std::vector<bool> seen(kGeneratedClasses);
  for (std::uint32_t i = 0; i < 40; ++i) {
    seen[generated_label(i, options)] = true;
    if (i % 8) continue;
    const auto bytes = encode_jpeg(generate_image(i, options), options.quality).size();
    EXPECT_GE(bytes, 25'000u) << i;
    EXPECT_LE(bytes, 35'000u) << i;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 10);
  EXPECT_EQ(generate_image(7, options).pixels, generate_image(7, options).pixels);
}

TEST(Jpeg, DecodesWholeAndScaledAndRefusesDamage) {
  GeneratorOptions options;
  const Image image = generate_image(3, options);
  std::vector<std::uint8_t> bytes = encode_jpeg(image, 95);
  JpegDecoder decoder;
  const Image back = decoder.decode(bytes);
  ASSERT_EQ(back.pixels.size(), image.pixels.size());
  double error = 0;
  for (std::size_t i = 0; i < back.pixels.size(); ++i)
    error += std::abs(int{back.pixels[i]} - int{image.pixels[i]});
  EXPECT_LT(error / static_cast<double>(back.pixels.size()), 10);
  const Image quarter = decoder.decode(bytes, 64);
  EXPECT_EQ(quarter.width, 94);
  EXPECT_EQ(quarter.height, 75);
  bytes.resize(bytes.size() / 2);
  EXPECT_THAT(error_of([&] { decoder.decode(bytes); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("JPEG")));
  EXPECT_EQ(decoder.decode(encode_jpeg(image, 95)).pixels, back.pixels);
}

TEST(PackedJpeg, ReadsWhatWasWrittenAndNoticesAMissingEnd) {
  const TempDir place;
  const fs::path path = place.path() / "images.epd";
  write_generated(path, 5, small_images(), [](double) {});
  const auto images = open_images(path);
  EXPECT_EQ(images->size(), 5);
  EXPECT_EQ(images->classes(), 10);
  EXPECT_EQ(images->read(3).label, static_cast<std::int32_t>(generated_label(3, small_images())));
  EXPECT_EQ(images->read(3).jpeg, encode_jpeg(generate_image(3, small_images()), 90));
  for (const std::uintmax_t size :
       {fs::file_size(path) - 1, std::uintmax_t{40}, std::uintmax_t{9}}) {
    fs::resize_file(path, size);
    EXPECT_THAT(error_of([&] { open_packed_jpeg(path); }),
                IsError(OMEN_INVALID_DATA, HasSubstr("ends inside of")));
  }
}

TEST(ImageFormats, IdxCifarAndFoldersAreRecognised) {
  const TempDir place;
  const fs::path dir = place.path();
  std::string pixels("\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\3", 16);
  for (int i = 0; i < 12; ++i) pixels += static_cast<char>(i);
  write_bytes(dir / "train-images-idx3-ubyte", pixels);
  write_bytes(dir / "train-labels-idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\2\7\4", 10));
  const auto mnist = open_images(dir / "train-images-idx3-ubyte");
  EXPECT_EQ(mnist->size(), 2);
  EXPECT_EQ(mnist->read(1).label, 4);
  EXPECT_EQ(mnist->read(1).decoded.width, 3);
  EXPECT_EQ(mnist->read(1).decoded.pixels, (std::vector<std::uint8_t>{6, 7, 8, 9, 10, 11}));
  write_bytes(dir / "train-images-idx3-ubyte", pixels.substr(0, 20));
  EXPECT_THAT(error_of([&] { open_images(dir / "train-images-idx3-ubyte"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("cut off")));

  std::string record(3073, '\1');
  record[0] = 9, record[1 + 1024] = 77;
  write_bytes(dir / "test_batch.bin", record + record);
  const auto cifar = open_images(dir / "test_batch.bin");
  EXPECT_EQ(cifar->size(), 2);
  EXPECT_EQ(cifar->read(1).label, 9);
  EXPECT_EQ(cifar->read(1).decoded.pixels[1], 77);
  write_bytes(dir / "test_batch.bin", record + "x");
  EXPECT_THAT(error_of([&] { open_images(dir / "test_batch.bin"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("3073")));

  for (const char* name : {"b/2.jpg", "b/1.JPEG", "a/x.jpg", "a/notes.txt"}) {
    fs::create_directories(dir / "tree" / fs::path(name).parent_path());
    write_bytes(dir / "tree" / name, name);
  }
  const auto folder = open_images(dir / "tree");
  EXPECT_EQ(folder->size(), 3);
  EXPECT_EQ(folder->classes(), 2);
  EXPECT_EQ(folder->read(0).label, 0);
  EXPECT_EQ(folder->read(2).label, 1);
  EXPECT_EQ(folder->read(1).jpeg.size(), 8u);
  pack_images(*folder, dir / "tree.epd", [](double) {});
  const auto packed = open_images(dir / "tree.epd");
  EXPECT_EQ(packed->size(), 3);
  EXPECT_EQ(packed->classes(), 2);
  for (const std::int64_t i : {0, 1, 2}) {
    EXPECT_EQ(packed->read(i).jpeg, folder->read(i).jpeg);
    EXPECT_EQ(packed->read(i).label, folder->read(i).label);
  }
  EXPECT_THAT(error_of([&] { pack_images(*cifar, dir / "pixels.epd", [](double) {}); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("no JPEG files")));
  EXPECT_FALSE(fs::exists(dir / "pixels.epd"));
  EXPECT_THAT(error_of([&] { open_images(dir / "nothing"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("")));
}

TEST(EpochOrder, IsAPermutationOfItsOwnForEverySeedAndEpoch) {
  const SampleSplit split = split_samples(100, 0.25, 7);
  EXPECT_EQ(split.valid.size(), 25u);
  const auto order = epoch_order(split.train, 7, 3);
  EXPECT_EQ(order, epoch_order(split.train, 7, 3));
  EXPECT_NE(order, epoch_order(split.train, 7, 4));
  EXPECT_NE(order, epoch_order(split.train, 8, 3));
  std::vector<std::int64_t> all = order;
  all.insert(all.end(), split.valid.begin(), split.valid.end());
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

class RecipeTest : public ::testing::TestWithParam<Recipe> {};

TEST_P(RecipeTest, RepeatsForTheSameCountersOnly) {
  const Image image = generate_image(1, small_images());
  const auto made = [&](std::uint64_t sample, bool training) {
    std::vector<float> out(3 * 24 * 24);
    apply_recipe(GetParam(), image, 3, 24,
                 training ? std::optional(CounterRandom({1, 2, sample})) : std::nullopt,
                 out.data());
    return out;
  };
  EXPECT_EQ(made(1, true), made(1, true));
  EXPECT_EQ(made(1, false), made(2, false));
  if (GetParam() != Recipe::kLenet) {
    EXPECT_NE(made(1, true), made(2, true));
  }
  for (const float value : made(1, true)) {
    EXPECT_TRUE(std::isfinite(value));
    if (GetParam() != Recipe::kCifar) {
      EXPECT_LE(std::fabs(value), 1.001f);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, RecipeTest,
                         ::testing::Values(Recipe::kInception, Recipe::kFast, Recipe::kCifar,
                                           Recipe::kLenet),
                         [](const auto& info) { return std::string(recipe_name(info.param)); });

TEST(Recipes, KeepPixelsWhereTheSizeFits) {
  Image image = Image::of_size(2, 2, 1);
  image.pixels = {0, 128, 255, 64};
  std::vector<float> out(4);
  apply_recipe(Recipe::kLenet, image, 1, 2, {}, out.data());
  EXPECT_EQ(out, (std::vector<float>{-1, 0, 127.0f / 128, -0.5f}));
}

}  // namespace
}  // namespace omen::ensemble
