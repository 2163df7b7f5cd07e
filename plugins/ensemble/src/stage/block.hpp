// SPDX-License-Identifier: Apache-2.0
// A block: preprocessed samples in one piece of memory, as messages and shared memory carry them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace omen::ensemble {

// Layout: BlockHead, labels (int32), padding to 64 bytes, pixels (float32, samples x channels x
// side x side), padding to 64 bytes.
struct BlockShape {
  std::int64_t samples = 0;
  std::int64_t channels = 3, side = 32;

  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + kLine - 1) / kLine * kLine;
  }
  std::int64_t floats_per_sample() const { return channels * side * side; }
  std::size_t pixels_offset() const {
    return kLine + padded(static_cast<std::size_t>(samples) * sizeof(std::int32_t));
  }
  std::size_t bytes() const {
    return pixels_offset() +
           padded(static_cast<std::size_t>(samples * floats_per_sample()) * sizeof(float));
  }
};

// The first bytes of a block. Blocks that only fill up a round of a collective hold no samples.
struct BlockHead {
  std::int64_t index = -1;
  std::int64_t count = 0;
};

// A block somewhere in memory; owns nothing.
class BlockView {
 public:
  BlockView(const BlockShape& shape, char* at) : shape_(&shape), at_(at) {}
  BlockHead& head() const { return *reinterpret_cast<BlockHead*>(at_); }
  std::int32_t* labels() const { return reinterpret_cast<std::int32_t*>(at_ + BlockShape::kLine); }
  float* pixels() const { return reinterpret_cast<float*>(at_ + shape_->pixels_offset()); }
  float* sample(std::int64_t i) const { return pixels() + i * shape_->floats_per_sample(); }
  char* data() const { return at_; }

 private:
  const BlockShape* shape_;
  char* at_;
};

// Memory for `blocks` blocks in a row, aligned to a cache line.
struct FreeBlock {
  void operator()(char* at) const { std::free(at); }
};
using BlockMemory = std::unique_ptr<char, FreeBlock>;
inline BlockMemory make_block_memory(const BlockShape& shape, std::size_t blocks = 1) {
  auto* at = static_cast<char*>(std::aligned_alloc(BlockShape::kLine, shape.bytes() * blocks));
  if (!at) throw std::bad_alloc();
  return BlockMemory(at);
}

}  // namespace omen::ensemble
