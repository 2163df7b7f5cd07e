// SPDX-License-Identifier: Apache-2.0
// No sharing: a rank makes every block that it trains on.
#include "transport/made_blocks.hpp"

namespace omen::ensemble {
namespace {

class LocalStream final : public BlockStream {
 public:
  explicit LocalStream(const StreamSetup& setup)
      : blocks_(setup, {setup.begin, 1, setup.pass.blocks()}, setup.queue) {}
  char* next() override {
    if (last_) blocks_.give_back(last_);
    return last_ = blocks_.next();
  }
  std::vector<QueueFill> fill() const override { return blocks_.fill(); }

 private:
  MadeBlocks blocks_;
  char* last_ = nullptr;
};

}  // namespace

std::unique_ptr<BlockStream> make_local_stream(const StreamSetup& setup) {
  return std::make_unique<LocalStream>(setup);
}

}  // namespace omen::ensemble
