// SPDX-License-Identifier: Apache-2.0
// Files of images, whole or broken: each is read, or refused with a reason.
// needs: ensemble_stages
// covers: plugins/ensemble/src/data/packed_jpeg.cpp
// covers: plugins/ensemble/src/data/stored_pixels.cpp
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <omen/error.hpp>
#include <string>

#include "data/image_source.hpp"
#include "data/jpeg.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fs = std::filesystem;
  static const fs::path path =
      fs::temp_directory_path() / ("omen-fuzz-" + std::to_string(::getpid()) + ".bin");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const auto images = omen::ensemble::open_images(path);
    omen::ensemble::JpegDecoder decoder;
    for (std::int64_t i = 0; i < images->size() && i < 4; ++i) {
      const omen::ensemble::StoredImage stored = images->read(i);
      if (!stored.jpeg.empty() && stored.jpeg.size() < 4096) decoder.decode(stored.jpeg);
    }
  } catch (const omen::Error& error) {
    if (error.code() == OMEN_INTERNAL) __builtin_trap();
  }
  ::unlink(path.c_str());
  return 0;
}
