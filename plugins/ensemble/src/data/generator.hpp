// SPDX-License-Identifier: Apache-2.0
// Images that exist anywhere: ten classes of waves with noise, compressed as JPEG.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "data/image.hpp"

namespace omen::ensemble {

inline constexpr std::uint32_t kGeneratedClasses = 10;

// Defaults make 25 to 35 KB of JPEG.
struct GeneratorOptions {
  int width = 375, height = 300, quality = 90;
  std::uint64_t seed = 0;
};

// The image of a number, and its class; the same on every machine.
Image generate_image(std::uint32_t number, const GeneratorOptions& options);
std::uint32_t generated_label(std::uint32_t number, const GeneratorOptions& options);

// `step` is called for every image.
void write_generated(const std::filesystem::path& path, std::uint32_t count,
                     const GeneratorOptions& options, const std::function<void(double)>& step);

}  // namespace omen::ensemble
