// SPDX-License-Identifier: Apache-2.0
// Queues, block makers and the ring: order, back-pressure, errors, and readers that die.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <omen/testing/errors.hpp>
#include <omen/testing/temp_dir.hpp>
#include <thread>

#include "data/generator.hpp"
#include "data/packed_jpeg.hpp"
#include "stage/block_maker.hpp"
#include "transport/ring.hpp"

namespace omen::ensemble {
namespace {

using test::error_of;
using test::IsError;
using test::TempDir;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(BoundedQueue, HoldsItsProducerBackAndEmptiesAfterClose) {
  BoundedQueue<int> queue(2);
  std::atomic<int> pushed{0};
  std::thread producer([&] {
    for (int i = 0; i < 5; ++i) {
      queue.push(i);
      ++pushed;
    }
    queue.close();
  });
  EXPECT_EQ(queue.pop(), 0);
  while (pushed < 3) std::this_thread::yield();
  EXPECT_LE(queue.size(), 2u);
  for (int i = 1; i < 5; ++i) EXPECT_EQ(queue.pop(), i);
  EXPECT_EQ(queue.pop(), std::nullopt);
  producer.join();
  EXPECT_FALSE(queue.push(9));
}

TEST(BoundedQueue, AWaitUsesNoProcessorTime) {
  BoundedQueue<int> queue(1);
  double used = 1;
  std::thread waiting([&] {
    const double before = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    queue.pop();
    used = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  queue.push(1);
  waiting.join();
  EXPECT_LT(used, 0.02);
}

class BlockMakerTest : public ::testing::Test {
 protected:
  BlockMakerTest() {
    GeneratorOptions options;
    options.width = 32, options.height = 24;
    write_generated(path(), 20, options, [](double) {});
    images_ = open_packed_jpeg(path());
    for (std::int64_t i = 0; i < 18; ++i) pass_.samples.push_back(19 - i);
    pass_.block = 4;
  }
  fs::path path() const { return place_.path() / "images.epd"; }

  // All blocks of a share, one copy after the other.
  std::vector<std::vector<float>> made(const Share& share, PreprocessingOptions options = {}) {
    std::vector<BlockMemory> memory;
    BlockMaker maker(
        *images_, pass_, shape_, options, share,
        [&](std::int64_t) {
          memory.push_back(make_block_memory(shape_));
          return memory.back().get();
        },
        record_);
    std::vector<std::vector<float>> blocks;
    while (char* at = maker.next()) {
      const BlockView view(shape_, at);
      EXPECT_EQ(view.head().index,
                share.first + share.stride * static_cast<std::int64_t>(blocks.size()));
      blocks.emplace_back(view.pixels(), view.sample(view.head().count));
      blocks.back().push_back(static_cast<float>(view.labels()[0]));
    }
    return blocks;
  }

  const TempDir place_;
  std::unique_ptr<ImageSource> images_;
  Pass pass_;
  const BlockShape shape_{4, 3, 16};
  PreprocessingRecord record_;
};

TEST_F(BlockMakerTest, BlocksDoNotDependOnWhoMakesThem) {
  const auto all = made({0, 1, pass_.blocks()});
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[4].size(), 2u * 3 * 16 * 16 + 1);
  PreprocessingOptions many;
  many.threads = 3;
  many.queue = 1;
  const auto even = made({0, 2, pass_.blocks()}, many), odd = made({1, 2, pass_.blocks()}, many);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(all[i], i % 2 ? odd[i / 2] : even[i / 2]);
  EXPECT_EQ(record_.clocks.of(Stage::kDecode).count, 36);
  EXPECT_GT(record_.clocks.of(Stage::kDecode).cpu_s, 0);
}

TEST_F(BlockMakerTest, DamagedImagesAreGreyOrEndTheWork) {
  write_packed_jpeg(path(), 20, 10, [](std::uint32_t i) {
    PackedImage image{encode_jpeg(generate_image(i, {32, 24, 90, 0}), 90), 0};
    if (i == 17) image.jpeg.resize(image.jpeg.size() / 3);
    return image;
  });
  images_ = open_packed_jpeg(path());
  EXPECT_EQ(made({0, 1, pass_.blocks()}).size(), 5u);
  ASSERT_EQ(record_.damaged.size(), 1u);
  EXPECT_EQ(record_.damaged[0].first, 17);
  PreprocessingOptions strict;
  strict.damaged = Damaged::kStop;
  EXPECT_THAT(error_of([&] {
                made({0, 1, pass_.blocks()}, strict);
              }),
              IsError(OMEN_INVALID_DATA, HasSubstr("sample 17"), HasSubstr("--damaged blank")));
}

TEST_F(BlockMakerTest, CanBeGivenUpInTheMiddle) {
  BlockMemory memory = make_block_memory(shape_);
  BlockMaker maker(
      *images_, pass_, shape_, {}, {0, 1, pass_.blocks()},
      [&](std::int64_t index) { return index < 2 ? memory.get() : nullptr; }, record_);
  EXPECT_NE(maker.next(), nullptr);
}

class RingTest : public ::testing::Test {
 protected:
  const TempDir place_;
  const fs::path path_ = place_.path() / "ring";
  const BlockShape shape_{2, 1, 8};
  const std::function<bool()> never_ = [] { return false; };
  const std::function<bool()> at_once_ = [] { return true; };

  static void publish(const Ring& ring, std::int64_t block, RingPace pace = RingPace::kSlowest) {
    char* at = ring.claim(block, pace, [] { return true; });
    ASSERT_NE(at, nullptr);
    BlockView(ring.shape(), at).head() = {block, 2};
    ring.publish(block);
  }
};

TEST_F(RingTest, TheSlowestReaderHoldsWritersBack) {
  const Ring ring = Ring::create(path_, shape_, 2, 4, 10);
  const Ring other = Ring::open(path_);
  const std::size_t fast = ring.join(0, ReaderState::kActive);
  const std::size_t slow = other.join(0, ReaderState::kActive);
  publish(ring, 0);
  publish(ring, 1);
  EXPECT_EQ(other.await(1, never_), Ring::Found::kReady);
  ring.advance(fast, 2);
  EXPECT_EQ(ring.claim(2, RingPace::kSlowest, at_once_), nullptr);
  other.advance(slow, 1);
  publish(ring, 2);
  EXPECT_EQ(ring.head().next_block.load(), 3);
  EXPECT_EQ(other.await(3, at_once_), Ring::Found::kEnd);
  ring.close();
  EXPECT_EQ(other.await(3, never_), Ring::Found::kEnd);
}

TEST_F(RingTest, AtTheFastestPaceSlowReadersSeeWhatTheyMissed) {
  const Ring ring = Ring::create(path_, shape_, 2, 4, 10);
  const std::size_t fast = ring.join(0, ReaderState::kActive);
  ring.join(0, ReaderState::kActive);
  for (std::int64_t block = 0; block < 4; ++block) {
    publish(ring, block, RingPace::kFastest);
    ring.advance(fast, block + 1);
  }
  EXPECT_EQ(ring.await(0, never_), Ring::Found::kOverwritten);
  EXPECT_EQ(ring.await(3, never_), Ring::Found::kReady);
}

TEST_F(RingTest, AReaderThatWasKilledBlocksNobody) {
  const Ring ring = Ring::create(path_, shape_, 1, 4, 10);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ring.join(0, ReaderState::kActive);
    [[maybe_unused]] const auto told = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  publish(ring, 0);
  ring.drop_dead_readers();
  EXPECT_EQ(ring.claim(1, RingPace::kSlowest, at_once_), nullptr);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ring.drop_dead_readers();
  EXPECT_NE(ring.claim(1, RingPace::kSlowest, at_once_), nullptr);
  ::close(ready[0]), ::close(ready[1]);
}

TEST_F(RingTest, LinksInItsPlaceAreNotFollowed) {
  const fs::path victim = place_.path() / "victim";
  std::ofstream(victim) << "kept";
  for (const char* end : {"", ".new"}) fs::create_symlink(victim, path_.string() + end);
  const Ring ring = Ring::create(path_, shape_, 2, 4, 10);
  EXPECT_EQ(fs::file_size(victim), 4u);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path_)));
}

TEST_F(RingTest, OtherFilesAreNoRings) {
  EXPECT_THAT(error_of([&] { Ring::open(path_); }), IsError(OMEN_NOT_FOUND, HasSubstr("")));
  std::ofstream(path_) << std::string(20000, 'x');
  EXPECT_THAT(error_of([&] { Ring::open(path_); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("no ring")));
}

}  // namespace
}  // namespace omen::ensemble
