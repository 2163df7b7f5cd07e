// SPDX-License-Identifier: Apache-2.0
// Processes that read what `serve-data` publishes: equal streams, late joiners, a dead reader.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <omen/testing/temp_dir.hpp>
#include <thread>

#include "data/generator.hpp"
#include "transport/ring.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

class ServeTest : public ::testing::Test {
 protected:
  // 20 images in blocks of 4.
  pid_t serve(const std::string& options) const {
    write_generated(place_ / "images.epd", 20, {32, 24, 90, 0}, [](double) {});
    const std::string line = "exec " OMEN_TEST_BUILD_DIR "/bin/omen ensemble serve-data --data " +
                             (place_ / "images.epd").string() + " --ring " + ring().string() +
                             " --block 4 --slots 3 --size 16 " + options + " -q > " +
                             (place_ / "log").string() + " 2>&1";
    const pid_t child = ::fork();
    if (child == 0) ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr), ::_exit(127);
    for (int look = 0; look < 3000 && !fs::exists(ring()); ++look) pause_a_little();
    return child;
  }
  static void pause_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
  fs::path ring() const { return place_ / "ring"; }
  static int exit_code(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // All pixels from the first block that this reader gets, in `blocks` blocks.
  static std::vector<float> read(const Ring& ring, std::size_t reader, std::int64_t blocks) {
    while (ring.reader(reader).state.load() == static_cast<std::uint32_t>(ReaderState::kJoining))
      pause_a_little();
    std::vector<float> all;
    const std::int64_t first = ring.reader(reader).cursor.load();
    for (std::int64_t block = first; block < first + blocks; ++block) {
      if (ring.await(block, [] { return false; }) != Ring::Found::kReady) break;
      const BlockView view(ring.shape(), ring.memory(block));
      all.insert(all.end(), view.pixels(), view.sample(view.head().count));
      ring.advance(reader, block + 1);
    }
    ring.leave(reader);
    return all;
  }

  const test::TempDir place_;
};

TEST_F(ServeTest, ReadersSeeTheSameAndADeadOneBlocksNobody) {
  const pid_t server = serve("--epochs 2 --wait-for 3");
  const Ring ring = Ring::open(this->ring());
  // Joins, reads nothing and dies.
  const pid_t dead = ::fork();
  if (dead == 0) ring.join(0, ReaderState::kJoining), ::_exit(0);
  const std::size_t one = ring.join(0, ReaderState::kJoining),
                    two = ring.join(0, ReaderState::kJoining);
  std::vector<float> first, second;
  std::thread other([&] { second = read(ring, two, 10); });
  first = read(ring, one, 10);
  other.join();
  ::waitpid(dead, nullptr, 0);
  EXPECT_EQ(first.size(), 2u * 20 * 3 * 16 * 16);
  EXPECT_TRUE(first == second);
  EXPECT_EQ(exit_code(server), 0) << std::ifstream(place_ / "log").rdbuf();
  EXPECT_FALSE(fs::exists(this->ring()));
}

TEST_F(ServeTest, LateJoinersStartAtTheNextEpoch) {
  const pid_t server = serve("--wait-for 1");
  const Ring ring = Ring::open(this->ring());
  const std::size_t early = ring.join(0, ReaderState::kJoining);
  while (ring.reader(early).state.load() != static_cast<std::uint32_t>(ReaderState::kActive))
    pause_a_little();
  // The ring holds three of five blocks, so the first epoch still waits for this reader.
  const std::size_t late = ring.join(0, ReaderState::kJoining);
  std::thread other([&] { read(ring, early, 10); });
  const std::vector<float> seen = read(ring, late, 5);
  other.join();
  EXPECT_EQ(ring.reader(late).cursor.load() % 5, 0);
  EXPECT_GE(ring.reader(late).cursor.load(), 10);
  EXPECT_EQ(seen.size(), 20u * 3 * 16 * 16);
  EXPECT_EQ(exit_code(server), 0);
}

}  // namespace
}  // namespace omen::ensemble
