// SPDX-License-Identifier: Apache-2.0
// The TurboJPEG interface of libjpeg-turbo, with its errors as ours.
#include "data/jpeg.hpp"

#include <turbojpeg.h>

#include <algorithm>
#include <omen/error.hpp>
#include <string>

namespace omen::ensemble {
namespace {

// What a photograph may measure; a damaged header must not ask for all memory.
constexpr int kLargestSide = 1 << 15;
constexpr std::int64_t kLargestArea = std::int64_t{1} << 28;

int scaled_side(int side, int divisor) {
  return (side + divisor - 1) / divisor;
}

int divisor_for(int width, int height, int least_side) {
  int divisor = 1;
  if (least_side <= 0) return divisor;
  while (divisor < 8 && scaled_side(std::min(width, height), divisor * 2) >= least_side)
    divisor *= 2;
  return divisor;
}

}  // namespace

JpegDecoder::JpegDecoder() : handle_(tjInitDecompress()) {
  if (!handle_) throw Error(OMEN_INTERNAL, "libjpeg-turbo gives no decoder");
}
JpegDecoder::~JpegDecoder() {
  tjDestroy(handle_);
}

// A decoder that stopped in the middle of an image would take the next one for its rest.
void JpegDecoder::give_up(const char* what) {
  const std::string why = tjGetErrorStr2(handle_);
  tjDestroy(handle_);
  handle_ = tjInitDecompress();
  if (!handle_) throw Error(OMEN_INTERNAL, "libjpeg-turbo gives no decoder");
  throw Error(OMEN_INVALID_DATA, std::string(what) + ": " + why);
}

Image JpegDecoder::decode(std::span<const std::uint8_t> bytes, int least_side) {
  int width = 0, height = 0, sampling = 0, colours = 0;
  const auto size = static_cast<unsigned long>(bytes.size());
  if (tjDecompressHeader3(handle_, bytes.data(), size, &width, &height, &sampling, &colours) != 0)
    give_up("not a JPEG image");
  if (width > kLargestSide || height > kLargestSide ||
      static_cast<std::int64_t>(width) * height > kLargestArea)
    throw Error(OMEN_INVALID_DATA,
                "a JPEG header asks for " + std::to_string(width) + " x " + std::to_string(height));
  const int divisor = divisor_for(width, height, least_side);
  Image image = Image::of_size(scaled_side(width, divisor), scaled_side(height, divisor), 3);
  if (tjDecompress2(handle_, bytes.data(), size, image.pixels.data(), image.width, 0, image.height,
                    TJPF_RGB, 0) != 0)
    give_up("damaged JPEG image");
  return image;
}

std::vector<std::uint8_t> encode_jpeg(const Image& image, int quality) {
  const tjhandle handle = tjInitCompress();
  if (!handle) throw Error(OMEN_INTERNAL, "libjpeg-turbo gives no encoder");
  unsigned char* made = nullptr;
  unsigned long size = 0;
  const int failed = tjCompress2(handle, image.pixels.data(), image.width, 0, image.height,
                                 TJPF_RGB, &made, &size, TJSAMP_420, quality, 0);
  const std::string why = failed ? tjGetErrorStr2(handle) : "";
  std::vector<std::uint8_t> bytes(made, made + (failed ? 0 : size));
  tjFree(made);
  tjDestroy(handle);
  if (failed) throw Error(OMEN_INTERNAL, "JPEG encoding failed: " + why);
  return bytes;
}

}  // namespace omen::ensemble
