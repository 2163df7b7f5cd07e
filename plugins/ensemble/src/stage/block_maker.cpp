// SPDX-License-Identifier: Apache-2.0
// Three stages behind bounded queues; blocks come out in order, samples inside in any.
#include "stage/block_maker.hpp"

#include <chrono>
#include <condition_variable>
#include <omen/error.hpp>
#include <string>

#include "data/jpeg.hpp"

namespace omen::ensemble {
namespace {

constexpr std::uint64_t kAugmentKey = 0x617567;
// Place() bounds how many blocks are begun; this queue only has to be no tighter.
constexpr std::size_t kBegunBlocks = 1 << 16;
// How often a wait for a block looks whether the stages still run.
constexpr auto kLookUp = std::chrono::milliseconds(200);

}  // namespace

// A block that is being filled.
struct BlockMaker::Pending {
  char* memory = nullptr;
  std::mutex mutex;
  std::condition_variable filled;
  std::int64_t missing = 0;
};
struct BlockMaker::Stored {
  std::shared_ptr<Pending> block;
  std::int64_t slot = 0, sample = 0;
  StoredImage image;
};
struct BlockMaker::Decoded {
  std::shared_ptr<Pending> block;
  std::int64_t slot = 0, sample = 0;
  Image image;
  std::int32_t label = 0;
};

BlockMaker::BlockMaker(const ImageSource& images, const Pass& pass, const BlockShape& shape,
                       const PreprocessingOptions& options, const Share& share, Place place,
                       PreprocessingRecord& record)
    : images_(images),
      pass_(pass),
      shape_(shape),
      options_(options),
      share_(share),
      place_(std::move(place)),
      record_(record),
      to_decode_(options.queue),
      to_preprocess_(options.queue),
      begun_(kBegunBlocks),
      decoding_(options.threads) {
  threads_.emplace_back([this] { guarded(&BlockMaker::read); });
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] { guarded(&BlockMaker::decode); });
    threads_.emplace_back([this] { guarded(&BlockMaker::preprocess); });
  }
}

BlockMaker::~BlockMaker() {
  stop();
  for (std::thread& thread : threads_) thread.join();
}

void BlockMaker::stop() {
  {
    const std::lock_guard lock(error_mutex_);
    stopped_ = true;
  }
  to_decode_.abandon();
  to_preprocess_.abandon();
  begun_.abandon();
}

void BlockMaker::guarded(void (BlockMaker::*stage)()) {
  try {
    (this->*stage)();
  } catch (...) {
    {
      const std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
    stop();
  }
}

void BlockMaker::read() {
  for (std::int64_t index = share_.first; index < share_.end; index += share_.stride) {
    const auto samples = pass_.block_samples(index);
    auto block = std::make_shared<Pending>();
    block->memory = place_(index);
    if (!block->memory) break;
    block->missing = static_cast<std::int64_t>(samples.size());
    BlockView(shape_, block->memory).head() = {index, block->missing};
    if (!begun_.push(block)) break;
    for (std::int64_t slot = 0; slot < static_cast<std::int64_t>(samples.size()); ++slot) {
      Stored item{block, slot, samples[static_cast<std::size_t>(slot)], {}};
      {
        const StageTimer timer(record_.clocks, Stage::kRead);
        item.image = images_.read(item.sample);
      }
      if (!to_decode_.push(std::move(item))) return;
    }
  }
  begun_.close();
  to_decode_.close();
}

Image BlockMaker::decoded_or_blank(JpegDecoder& decoder, Stored& item) {
  if (item.image.jpeg.empty()) return std::move(item.image.decoded);
  try {
    return decoder.decode(item.image.jpeg,
                          options_.scaled_decode ? static_cast<int>(shape_.side) : 0);
  } catch (const Error& error) {
    if (options_.damaged == Damaged::kStop)
      throw Error(OMEN_INVALID_DATA, "sample " + std::to_string(item.sample) + ": " + error.what(),
                  "Repair the data, or go on with: --damaged blank.");
    const std::lock_guard lock(record_.mutex);
    record_.damaged.emplace_back(item.sample, error.what());
    Image grey = Image::of_size(1, 1, 3);
    grey.pixels.assign(3, 128);
    return grey;
  }
}

void BlockMaker::decode() {
  JpegDecoder decoder;
  while (std::optional<Stored> item = to_decode_.pop()) {
    const auto bytes = static_cast<double>(item->image.jpeg.size());
    Decoded next{std::move(item->block), item->slot, item->sample, {}, item->image.label};
    {
      const StageTimer timer(record_.clocks, Stage::kDecode, bytes);
      next.image = decoded_or_blank(decoder, *item);
    }
    if (!to_preprocess_.push(std::move(next))) return;
  }
  if (--decoding_ == 0) to_preprocess_.close();
}

std::optional<CounterRandom> BlockMaker::randomness(std::int64_t sample) const {
  if (!pass_.training) return {};
  return CounterRandom({options_.seed, kAugmentKey, static_cast<std::uint64_t>(pass_.epoch),
                        static_cast<std::uint64_t>(sample)});
}

void BlockMaker::preprocess() {
  while (const std::optional<Decoded> item = to_preprocess_.pop()) {
    const BlockView block(shape_, item->block->memory);
    {
      const StageTimer timer(record_.clocks, Stage::kPreprocess);
      apply_recipe(options_.recipe, item->image, static_cast<int>(shape_.channels),
                   static_cast<int>(shape_.side), randomness(item->sample),
                   block.sample(item->slot));
      block.labels()[item->slot] = item->label;
    }
    const std::lock_guard lock(item->block->mutex);
    if (--item->block->missing == 0) item->block->filled.notify_all();
  }
}

char* BlockMaker::next() {
  char* memory = nullptr;
  if (const auto block = begun_.pop()) {
    std::unique_lock lock((*block)->mutex);
    Pending& pending = **block;
    // A stop empties the queues; whoever took a block before it must not wait for ever.
    bool stopped = false;
    while (pending.missing > 0 && !stopped) {
      pending.filled.wait_for(lock, kLookUp);
      const std::lock_guard error_lock(error_mutex_);
      stopped = stopped_;
    }
    if (!stopped) memory = pending.memory;
  }
  const std::lock_guard lock(error_mutex_);
  if (error_) std::rethrow_exception(error_);
  return memory;
}

std::vector<QueueFill> BlockMaker::fill() const {
  return {{"to_decode", to_decode_.capacity(), to_decode_.size()},
          {"to_preprocess", to_preprocess_.capacity(), to_preprocess_.size()}};
}

}  // namespace omen::ensemble
