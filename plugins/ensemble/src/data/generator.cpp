// SPDX-License-Identifier: Apache-2.0
// Whole-number arithmetic throughout: a table of sines would do, but libm differs between machines.
#include "data/generator.hpp"

#include <algorithm>

#include "data/counter_random.hpp"
#include "data/jpeg.hpp"
#include "data/packed_jpeg.hpp"

namespace omen::ensemble {
namespace {

constexpr std::uint64_t kImageKey = 0x696d67, kLabelKey = 0x6c6162;
constexpr int kNoise = 7;  // gives 25 to 35 KB at quality 90

// A wave of period 1024 and amplitude 512, built of parabolas.
int wave(int phase) {
  const int x = phase & 1023, half = x & 511;
  const int bow = half * (512 - half) / 128;
  return x < 512 ? bow : -bow;
}

struct Wave {
  int across, down, shift, strength;
};

}  // namespace

std::uint32_t generated_label(std::uint32_t number, const GeneratorOptions& options) {
  return static_cast<std::uint32_t>(
      CounterRandom({options.seed, number, kLabelKey}).below(kGeneratedClasses));
}

Image generate_image(std::uint32_t number, const GeneratorOptions& options) {
  CounterRandom random({options.seed, number, kImageKey});
  const int label = static_cast<int>(generated_label(number, options));
  Image image = Image::of_size(options.width, options.height, 3);
  Wave waves[3];
  for (int c = 0; c < 3; ++c)
    // Direction and density tell the class; shift and strength are the image's own.
    waves[c] = {4 + 3 * (label % 5) + 2 * c, 4 + 6 * (label / 5) + c,
                static_cast<int>(random.below(1024)), 40 + static_cast<int>(random.below(50))};
  std::uint64_t bits = 0;
  int left = 0;
  const auto noise = [&] {
    if (left == 0) bits = random.next(), left = 8;
    const int value = static_cast<int>(bits & 0xff) * (2 * kNoise + 1) / 256 - kNoise;
    bits >>= 8, --left;
    return value;
  };
  std::size_t at = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      const int grain = noise();
      for (const Wave& w : waves) {
        const int value =
            128 + wave(w.across * x + w.down * y + w.shift) * w.strength / 512 + grain;
        image.pixels[at++] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
      }
    }
  return image;
}

void write_generated(const std::filesystem::path& path, std::uint32_t count,
                     const GeneratorOptions& options, const std::function<void(double)>& step) {
  write_packed_jpeg(path, count, kGeneratedClasses, [&](std::uint32_t i) {
    step(static_cast<double>(i) / count);
    return PackedImage{encode_jpeg(generate_image(i, options), options.quality),
                       generated_label(i, options)};
  });
}

}  // namespace omen::ensemble
