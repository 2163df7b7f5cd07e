// SPDX-License-Identifier: Apache-2.0
// Reads, decodes and preprocesses the blocks of one preprocessor on threads of its own.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "data/image_source.hpp"
#include "data/jpeg.hpp"
#include "data/recipe.hpp"
#include "stage/block.hpp"
#include "stage/bounded_queue.hpp"
#include "stage/pass.hpp"
#include "stage/stage_clock.hpp"

namespace omen::ensemble {

enum class Damaged { kBlank, kStop };

struct PreprocessingOptions {
  Recipe recipe = Recipe::kInception;
  std::uint64_t seed = 0;
  bool scaled_decode = false;
  Damaged damaged = Damaged::kBlank;  // what becomes of an image that cannot be decoded
  int threads = 1;                    // for each of decoding and preprocessing
  std::size_t queue = 64;             // samples in each queue
};

// What ran and what was found, shared by all makers of a rank.
struct PreprocessingRecord {
  StageClocks clocks;
  std::mutex mutex;
  std::vector<std::pair<std::int64_t, std::string>> damaged;  // sample and reason
};

struct QueueFill {
  const char* queue;
  std::size_t capacity, size;
};

class BlockMaker {
 public:
  // Memory for a block, in the order of blocks; waits until there is some, and nullptr ends the
  // work. Called from a thread of the maker.
  using Place = std::function<char*(std::int64_t index)>;

  // All references must outlive the maker.
  BlockMaker(const ImageSource& images, const Pass& pass, const BlockShape& shape,
             const PreprocessingOptions& options, const Share& share, Place place,
             PreprocessingRecord& record);
  // Ends the threads, finished or not. `place` must not wait any more.
  ~BlockMaker();
  BlockMaker(const BlockMaker&) = delete;
  BlockMaker& operator=(const BlockMaker&) = delete;

  // The memory of the next block, filled; nullptr after the last one. Throws what a stage threw.
  char* next();
  // Lets next() return nullptr; for another thread than the one that calls it.
  void stop();
  std::vector<QueueFill> fill() const;

 private:
  struct Pending;
  struct Stored;
  struct Decoded;

  void read();
  void decode();
  void preprocess();
  void guarded(void (BlockMaker::*stage)());
  Image decoded_or_blank(JpegDecoder& decoder, Stored& item);
  std::optional<CounterRandom> randomness(std::int64_t sample) const;

  const ImageSource& images_;
  const Pass& pass_;
  const BlockShape shape_;
  const PreprocessingOptions options_;
  const Share share_;
  const Place place_;
  PreprocessingRecord& record_;
  BoundedQueue<Stored> to_decode_;
  BoundedQueue<Decoded> to_preprocess_;
  BoundedQueue<std::shared_ptr<Pending>> begun_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  bool stopped_ = false;
  std::atomic<int> decoding_{0};
  std::vector<std::thread> threads_;
};

}  // namespace omen::ensemble
