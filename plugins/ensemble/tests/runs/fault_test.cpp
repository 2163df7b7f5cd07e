// SPDX-License-Identifier: Apache-2.0
// Faults by real injection; after them the same command ends with the weights of an undisturbed
// run.
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "run_fixture.hpp"

namespace omen::ensemble {
namespace {

using ::testing::HasSubstr;

class FaultTest : public RunTest {};

// Seconds of silence that the parent names when it ends a run.
double silence_in(const std::string& text) {
  const std::string before = "shows no sign of life for ";
  const std::size_t at = text.find(before);
  return at == std::string::npos ? -1 : std::atof(text.c_str() + at + before.size());
}

// TorchScript and BatchNorm go on from a checkpoint as our own networks do.
const std::string& interrupted_options() {
  static const std::string options =
      std::string("--models resnet8,") + kScript + " --epochs 60 --checkpoint 3 ";
  return options;
}

TEST_F(FaultTest, AKilledRankEndsTheRunAndTheSameCommandGoesOn) {
  const std::string& options = interrupted_options();
  ASSERT_EQ(run("whole", options + "--design none"), 0) << said("whole");
  pid_t rank = 0;
  const pid_t child = start("cut", options + "--design all-shared", 1, 12, &rank);
  ASSERT_NE(rank, 0) << said("cut");
  ::kill(rank, SIGKILL);
  EXPECT_NE(exit_code(child), 0);
  EXPECT_THAT(said("cut"), HasSubstr("checkpoints are kept"));
  EXPECT_TRUE(fs::exists(out("cut").string() + ".state/models/script_net.checkpoint"));
  // On one rank, with another design.
  ASSERT_EQ(run("cut", options + "--design shared-memory --ranks 1"), 0) << said("cut");
  EXPECT_TRUE(trained("cut") == trained("whole"));
  EXPECT_FALSE(fs::exists(out("cut").string() + ".state"));
}

// A model that divides its batches among two ranks, and later a third one that preprocesses.
TEST_F(FaultTest, AGroupThatWasKilledGoesOnWithMoreRanks) {
  std::ofstream(out("sweep.csv")) << "model,ranks\nresnet8,2\n";
  const std::string options =
      "--models " + out("sweep.csv").string() + " --epochs 30 --checkpoint 3 ";
  ASSERT_EQ(run("whole", options + "--design none"), 0) << said("whole");
  pid_t rank = 0;
  const pid_t child = start("cut", options + "--design single-broadcast", 0, 12, &rank);
  ASSERT_NE(rank, 0) << said("cut");
  ::kill(rank, SIGKILL);
  EXPECT_NE(exit_code(child), 0);
  ASSERT_EQ(run("cut", options + "--design multi-broadcast --preprocessors 3 --ranks 3"), 0)
      << said("cut");
  EXPECT_TRUE(trained("cut") == trained("whole"));
}

TEST_F(FaultTest, AStoppedRankIsNoticedInTimeAndTheSameCommandGoesOn) {
  const std::string& options = interrupted_options();
  ASSERT_EQ(run("whole", options + "--design none"), 0) << said("whole");
  pid_t rank = 0;
  const pid_t child = start("stopped", options + "--design multi-broadcast", 1, 4, &rank);
  ASSERT_NE(rank, 0) << said("stopped");
  ::kill(rank, SIGSTOP);
  EXPECT_NE(exit_code(child), 0);
  EXPECT_THAT(said("stopped"), HasSubstr("rank 1 shows no sign of life"));
  EXPECT_GE(silence_in(said("stopped")), 8) << said("stopped");
  EXPECT_LE(silence_in(said("stopped")), 10) << said("stopped");
  // Gone, or dead and not yet collected by whoever inherited it.
  const std::string state = text_of("/proc/" + std::to_string(rank) + "/stat");
  EXPECT_TRUE(state.empty() || state.find(") Z ") != std::string::npos) << state;
  ASSERT_EQ(run("stopped", options + "--design all-shared"), 0) << said("stopped");
  EXPECT_TRUE(trained("stopped") == trained("whole"));
}

TEST_F(FaultTest, ACheckpointThatFindsNoRoomIsNotTheEndAndTheOldOneStays) {
  const std::string options = "--models resnet8 --epochs 60 --checkpoint 2 --design none ";
  ASSERT_EQ(run("whole", options), 0) << said("whole");
  pid_t rank = 0;
  const pid_t child = start("full", options, 0, 8, &rank);
  ASSERT_NE(rank, 0) << said("full");
  // Smaller than a checkpoint and the weights, larger than everything else that a rank writes.
  const rlimit small{128 << 10, 128 << 10};
  ASSERT_EQ(::prlimit(rank, RLIMIT_FSIZE, &small, nullptr), 0);
  EXPECT_NE(exit_code(child), 0);
  EXPECT_THAT(said("full"), HasSubstr("File too large"));
  EXPECT_THAT(text_of(out("full").string() + ".state/ranks/rank-0.log"),
              HasSubstr("checkpoint of resnet8 was not written"));
  ASSERT_EQ(run("full", options), 0) << said("full");
  EXPECT_TRUE(trained("full") == trained("whole"));
}

// A small file system of its own; the first checkpoint fits, the second beside it does not.
class SmallFileSystem {
 public:
  explicit SmallFileSystem(const fs::path& at) : at_(at) {
    fs::create_directories(at);
    mounted_ = ::mount("tmpfs", at.c_str(), "tmpfs", 0, "size=576k") == 0;
  }
  ~SmallFileSystem() {
    if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;
  bool mounted() const { return mounted_; }
  bool grow() const { return ::mount(nullptr, at_.c_str(), nullptr, MS_REMOUNT, "size=64m") == 0; }

 private:
  const fs::path at_;
  bool mounted_ = false;
};

TEST_F(FaultTest, AFullFileSystemKeepsTheLastCheckpointAndIsNamed) {
  const std::string options = "--models resnet8 --epochs 4 --checkpoint 2 --design none ";
  const SmallFileSystem small(out("full").string() + ".state");
  if (!small.mounted()) GTEST_SKIP() << "mounting is not allowed here";
  ASSERT_EQ(run("whole", options), 0) << said("whole");
  EXPECT_NE(run("full", options), 0);
  EXPECT_THAT(said("full"), HasSubstr("No space left on device"));
  EXPECT_TRUE(fs::exists(out("full").string() + ".state/models/resnet8.checkpoint"));
  EXPECT_THAT(text_of(out("full").string() + ".state/ranks/rank-0.log"),
              HasSubstr("checkpoint of resnet8 was not written"));
  ASSERT_TRUE(small.grow());
  // The directory is where a file system is mounted, so that it stays behind.
  run("full", options);
  EXPECT_TRUE(trained("full") == trained("whole"));
}

TEST_F(FaultTest, FlippedBytesAreGreyAndCountedOrStopTheRun) {
  std::string bytes = text_of(data());
  // Behind the head of some images in the middle.
  const std::size_t middle = bytes.size() / 2;
  for (std::size_t i = 0; i < 3000; ++i) bytes[middle + i] = static_cast<char>(~bytes[middle + i]);
  std::ofstream(data(), std::ios::binary) << bytes;
  ASSERT_EQ(run("grey", "--models tiny*2 --design all-shared"), 0) << said("grey");
  EXPECT_GE(facts("grey")["damaged_samples"], 1);
  ASSERT_EQ(run("grey2", "--models tiny*2 --design none"), 0);
  EXPECT_TRUE(trained("grey") == trained("grey2"));
  EXPECT_NE(run("strict", "--models tiny*2 --design all-shared --damaged stop"), 0);
  EXPECT_THAT(said("strict"), HasSubstr("JPEG"));
  fs::resize_file(data(), bytes.size() - 100);
  EXPECT_NE(run("short", "--models tiny"), 0);
  EXPECT_THAT(said("short"), HasSubstr("ends inside of image 43"));
}

}  // namespace
}  // namespace omen::ensemble
