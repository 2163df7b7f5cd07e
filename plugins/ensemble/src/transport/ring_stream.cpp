// SPDX-License-Identifier: Apache-2.0
// Shared memory: makers write into the slots of a ring, and trainers read them there.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

#include "transport/made_blocks.hpp"
#include "transport/ring.hpp"

namespace omen::ensemble {
namespace {

class RingStream final : public BlockStream {
 public:
  RingStream(const StreamSetup& setup, const Group& group, const Ring& ring, std::size_t reader,
             RingPace pace)
      : setup_(setup), ring_(ring), reader_(reader), pace_(pace), at_(setup.begin) {
    const auto makers = std::min<std::int64_t>(setup.preprocessors, group.size());
    if (group.rank() >= makers) return;
    maker_.emplace(
        setup.images, setup.pass, setup.shape, setup.preprocessing,
        Share{setup.begin + group.rank(), makers, setup.pass.blocks()},
        [this](std::int64_t index) {
          return ring_.claim(setup_.first_number + index, pace_, [this] { return stop_.load(); });
        },
        setup.record);
    thread_ = std::thread([this] { publish_all(); });
  }
  ~RingStream() override {
    stop_ = true;
    if (maker_) maker_->stop();
    if (thread_.joinable()) thread_.join();
    maker_.reset();
    ring_.advance(reader_, setup_.first_number + setup_.pass.blocks());
  }

  char* next() override {
    // What the trainer had is free now.
    ring_.advance(reader_, setup_.first_number + at_);
    if (at_ >= setup_.pass.blocks()) return nullptr;
    const std::int64_t number = setup_.first_number + at_++;
    const Ring::Found found = ring_.await(number, [this] { return failed_.load(); });
    if (found == Ring::Found::kEnd && error_) std::rethrow_exception(error_);
    if (found == Ring::Found::kEnd) return nullptr;
    return pace_ == RingPace::kSlowest ? ring_.memory(number) : copied(number, found);
  }
  std::vector<QueueFill> fill() const override {
    std::vector<QueueFill> all = maker_ ? maker_->fill() : std::vector<QueueFill>{};
    const std::int64_t there = ring_.head().next_block.load() - (setup_.first_number + at_);
    all.push_back({"to_train", ring_.head().slots,
                   static_cast<std::size_t>(std::max<std::int64_t>(0, there))});
    return all;
  }

 private:
  void publish_all() {
    try {
      while (const char* block = maker_->next())
        ring_.publish(setup_.first_number + reinterpret_cast<const BlockHead*>(block)->index);
    } catch (...) {
      error_ = std::current_exception();
      failed_ = true;
    }
  }

  // The slot of a slow reader may be written again while it reads: it takes a copy, and where even
  // that came too late makes the block itself, with the same bits.
  char* copied(std::int64_t number, Ring::Found found) {
    if (!copy_) copy_ = make_block_memory(setup_.shape);
    if (found == Ring::Found::kReady) {
      std::memcpy(copy_.get(), ring_.memory(number), setup_.shape.bytes());
      std::atomic_thread_fence(std::memory_order_acquire);
      if (ring_.holds(number)) return copy_.get();
    }
    const std::int64_t index = number - setup_.first_number;
    BlockMaker again(
        setup_.images, setup_.pass, setup_.shape, setup_.preprocessing, Share{index, 1, index + 1},
        [this](std::int64_t) { return copy_.get(); }, setup_.record);
    return again.next();
  }

  const StreamSetup setup_;
  const Ring& ring_;
  const std::size_t reader_;
  const RingPace pace_;
  std::int64_t at_;
  std::atomic<bool> stop_{false}, failed_{false};
  std::exception_ptr error_;
  std::optional<BlockMaker> maker_;
  BlockMemory copy_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<BlockStream> make_ring_stream(const StreamSetup& setup, const Group& group,
                                              const Ring& ring, std::size_t reader, RingPace pace) {
  return std::make_unique<RingStream>(setup, group, ring, reader, pace);
}

}  // namespace omen::ensemble
