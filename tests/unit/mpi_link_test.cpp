// SPDX-License-Identifier: Apache-2.0
// Messages of any size over a transport of small ones, which here is a queue in memory.
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "compare/mpi_link.hpp"
#include "omen/error.hpp"

namespace omen::host {
namespace {

using namespace std::chrono_literals;

struct Packet {
  int from, tag;
  std::string bytes;
};

// The ranks of one "world" are links of this process; each one's thread learns its rank in start.
struct World {
  std::mutex mutex;
  std::vector<std::deque<Packet>> boxes;
  std::set<int> mute;  // nothing comes from these
  int joined = 0, finished = 0;
  bool broken = false;
};
World* world = nullptr;
thread_local int my_rank = -1;

constexpr std::size_t kRoom = 8;
constexpr int kPlaceTag = 3;

int start(int* rank, int* size, char* error, std::size_t error_size) {
  const std::lock_guard lock(world->mutex);
  if (world->broken) {
    std::strncpy(error, "no network", error_size - 1);
    return 1;
  }
  my_rank = *rank = world->joined++;
  *size = static_cast<int>(world->boxes.size());
  return 0;
}

int send(int to, int tag, const void* bytes, std::size_t size) {
  const std::lock_guard lock(world->mutex);
  EXPECT_LE(size, OMEN_MPI_LARGEST);
  // Without the packet that tells its process id a rank seems to run on another host; a silent one
  // of this host would be killed, and that is the test itself.
  if (world->mute.count(my_rank) || tag == kPlaceTag) return 1;
  std::deque<Packet>& box = world->boxes.at(static_cast<std::size_t>(to));
  if (box.size() >= kRoom) return 0;
  box.push_back({my_rank, tag, std::string(static_cast<const char*>(bytes), size)});
  return 1;
}

long receive(int* from, int* tag, void* bytes) {
  const std::lock_guard lock(world->mutex);
  std::deque<Packet>& box = world->boxes.at(static_cast<std::size_t>(my_rank));
  if (box.empty()) return -1;
  const Packet packet = std::move(box.front());
  box.pop_front();
  *from = packet.from;
  *tag = packet.tag;
  std::memcpy(bytes, packet.bytes.data(), packet.bytes.size());
  return static_cast<long>(packet.bytes.size());
}

std::size_t sending() {
  return 0;
}
void finish() {
  const std::lock_guard lock(world->mutex);
  ++world->finished;
}

constexpr omen_mpi_module kModule{OMEN_MPI_VERSION, start, send, receive, sending, finish};

class MpiLinkTest : public testing::Test {
 protected:
  void SetUp() override { world = &world_; }
  void join(int ranks, std::chrono::milliseconds silence = 30s) {
    world_.boxes.resize(static_cast<std::size_t>(ranks));
    for (int i = 0; i < ranks; ++i) links_.push_back(make_mpi_link(kModule, silence));
  }

  World world_;
  std::vector<std::unique_ptr<RankLink>> links_;
};

std::string noise(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761u >> 13);
  return text;
}

TEST_F(MpiLinkTest, MessagesOfAnySizeArriveWholeAndInOrder) {
  join(3);
  const std::vector<std::size_t> sizes{0, 1, 3064, 3065, 6144, 2'000'000, 5};
  for (const std::size_t size : sizes) {
    links_[1]->send(0, noise(size));
    links_[0]->send(2, noise(size));
  }
  for (const std::size_t size : sizes) {
    const auto up = links_[0]->wait(10s), down = links_[2]->wait(10s);
    ASSERT_TRUE(up && down);
    EXPECT_EQ(up->from, 1);
    EXPECT_EQ(down->from, 0);
    EXPECT_TRUE(up->body == noise(size) && down->body == noise(size)) << size;
  }
  EXPECT_FALSE(links_[1]->wait(10ms));
}

TEST_F(MpiLinkTest, ARankHearsItself) {
  join(2);
  links_[0]->send(0, "note");
  const auto event = links_[0]->wait(10s);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->from, 0);
  EXPECT_EQ(event->body, "note");
}

TEST_F(MpiLinkTest, OnlyASilentRankIsTakenForLost) {
  join(3, 3s);
  const auto mute = [&](bool on) {
    const std::lock_guard lock(world_.mutex);
    on ? (void)world_.mute.insert(2) : (void)world_.mute.erase(2);
  };
  mute(true);
  const auto event = links_[0]->wait(10s);
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->lost);
  EXPECT_EQ(event->from, 2) << "rank 1 goes on showing signs of life by itself";
  // Coming back is too late: its job went to another.
  mute(false);
  links_[2]->send(0, "late");
  links_[1]->send(0, "in time");
  EXPECT_EQ(links_[0]->wait(10s).value_or(RankLink::Event{}).body, "in time");
  EXPECT_FALSE(links_[0]->wait(50ms));
  const auto other_side = links_[2]->wait(10s);
  ASSERT_TRUE(other_side);
  EXPECT_TRUE(other_side->lost) << "rank 0 says nothing more to it";
}

TEST_F(MpiLinkTest, EveryoneLeavesTogether) {
  join(2);
  links_[0]->send(1, "bye");
  std::thread other([&] { links_[1]->leave(true); });
  links_[0]->leave(true);
  other.join();
  EXPECT_EQ(world_.finished, 2);
}

TEST_F(MpiLinkTest, ALinkThatIsDroppedDoesNotWaitForOthers) {
  join(2);
  links_.clear();
  EXPECT_EQ(world_.finished, 0);
}

TEST_F(MpiLinkTest, AModuleThatDoesNotStartSaysWhy) {
  world_.broken = true;
  world_.boxes.resize(1);
  try {
    make_mpi_link(kModule, 1s);
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "MPI does not start: no network");
  }
}

}  // namespace
}  // namespace omen::host
