// SPDX-License-Identifier: Apache-2.0
// A block maker with memory of its own: a few blocks that go round.
#pragma once

#include <memory>
#include <vector>

#include "transport/block_stream.hpp"

namespace omen::ensemble {

class MadeBlocks {
 public:
  // `ahead` blocks may be made before somebody takes them.
  MadeBlocks(const StreamSetup& setup, const Share& share, std::size_t ahead)
      : shape_(setup.shape), free_(ahead + 1) {
    for (std::size_t i = 0; i <= ahead; ++i) {
      memory_.push_back(make_block_memory(shape_));
      free_.push(memory_.back().get());
    }
    maker_ = std::make_unique<BlockMaker>(
        setup.images, setup.pass, shape_, setup.preprocessing, share,
        [this](std::int64_t) { return free_.pop().value_or(nullptr); }, setup.record);
  }
  ~MadeBlocks() { stop(); }

  char* next() { return maker_->next(); }
  void give_back(char* block) { free_.push(block); }
  // For another thread than the one in next().
  void stop() {
    free_.abandon();
    maker_->stop();
  }
  std::vector<QueueFill> fill() const { return maker_->fill(); }

 private:
  const BlockShape shape_;
  std::vector<BlockMemory> memory_;
  BoundedQueue<char*> free_;
  std::unique_ptr<BlockMaker> maker_;
};

}  // namespace omen::ensemble
