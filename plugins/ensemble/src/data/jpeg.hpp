// SPDX-License-Identifier: Apache-2.0
// JPEG to pixels and back, through libjpeg-turbo.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/image.hpp"

namespace omen::ensemble {

// A decoder of one thread; it keeps its tables between images.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // Three channels. With `least_side` > 0 the image may come out smaller by 1/2, 1/4 or 1/8, as
  // long as no side falls below that; its high frequencies are then never computed.
  // OMEN_INVALID_DATA where bytes are damaged, also where a decoder could guess the rest.
  Image decode(std::span<const std::uint8_t> bytes, int least_side = 0);

 private:
  [[noreturn]] void give_up(const char* what);

  void* handle_;
};

// Quality 1..100, colours at half resolution.
std::vector<std::uint8_t> encode_jpeg(const Image& image, int quality);

}  // namespace omen::ensemble
