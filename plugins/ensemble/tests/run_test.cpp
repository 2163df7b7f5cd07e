// SPDX-License-Identifier: Apache-2.0
// Whole runs of the product: equal weights whatever the design, and faults by real injection.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <omen/testing/temp_dir.hpp>
#include <sstream>
#include <thread>

#include "data/generator.hpp"
#include "data/image_source.hpp"
#include "data/packed_jpeg.hpp"

namespace omen::ensemble {
namespace {

using test::TempDir;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    GeneratorOptions small;
    small.width = 48, small.height = 40;
    write_generated(data(), 44, small, [](double) {});
  }
  fs::path data() const { return place_.path() / "images.epd"; }
  fs::path out(const std::string& name) const { return place_.path() / name; }

  std::string command(const std::string& name, const std::string& options) const {
    return std::string(OMEN_TEST_BUILD_DIR "/bin/omen") + " ensemble run --data " +
           data().string() + (options.find("--batch") == std::string::npos ? " --batch 8" : "") +
           " --size 16 --seed 5 " + options + " -q -o " + out(name).string() + " > " +
           out(name).string() + ".log 2>&1";
  }
  // Exit code; what it printed is in said(name).
  int run(const std::string& name, const std::string& options) const {
    const int status = std::system(command(name, options).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string said(const std::string& name) const { return text_of(out(name).string() + ".log"); }
  // Weights, buffers, optimiser and history of all models.
  std::string trained(const std::string& name) const {
    std::string all;
    std::vector<fs::path> files;
    for (const char* part : {"weights", "checkpoints"})
      for (const auto& entry : fs::directory_iterator(out(name) / part))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) all += file.filename().string() + text_of(file);
    return all;
  }
  nlohmann::json facts(const std::string& name) const {
    return nlohmann::json::parse(text_of(out(name) / "run.json"));
  }

  // Starts a run in a process of its own and waits until a rank has made some steps.
  pid_t start(const std::string& name, const std::string& options, std::int64_t rank,
              std::int64_t steps, pid_t* process) const {
    const std::string line = "exec " + command(name, options);
    const pid_t child = ::fork();
    if (child == 0) ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr), ::_exit(127);
    const fs::path status =
        out(name).string() + ".state/ranks/rank-" + std::to_string(rank) + ".status";
    *process = 0;
    for (int look = 0; look < 6000 && ::waitpid(child, nullptr, WNOHANG) == 0; ++look) {
      std::istringstream in(text_of(status));
      std::int64_t beat = 0, pid = 0, step = 0;
      if (in >> beat >> pid >> step && step >= steps) {
        *process = static_cast<pid_t>(pid);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return child;
  }
  static int exit_code(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const TempDir place_;
};

TEST_F(RunTest, WeightsDoNotDependOnDesignPreprocessorsQueuesOrRanks) {
  const std::string models =
      "--models tiny,resnet8 --epochs 2 --validation 0.2 --optimiser momentum ";
  ASSERT_EQ(run("alone", models + "--design none"), 0) << said("alone");
  const std::string expected = trained("alone");
  EXPECT_GT(expected.size(), 10000u);
  const std::pair<const char*, const char*> variants[] = {
      {"as", "--design all-shared --queue 1"},
      {"sb", "--design single-broadcast --preprocessors 2 --block 4"},
      {"mb", "--design multi-broadcast --preprocessors 2 --queue 3"},
      {"shm", "--design shared-memory --preprocessors 2 --block 2 --queue 3 --workers 2"},
      {"free", "--design shared-memory --pace decoupled --queue 1"},
      {"one", "--design all-shared --ranks 1"},
      {"three", "--design single-broadcast --preprocessors 1 --ranks 3"}};
  for (const auto& [name, options] : variants) {
    ASSERT_EQ(run(name, models + options), 0) << said(name);
    EXPECT_TRUE(trained(name) == expected) << name;
    // floor(44 * 0.8 / 8) batches an epoch, two epochs.
    EXPECT_EQ(facts(name)["models"][0]["steps"], 8) << name;
  }
  EXPECT_TRUE(facts("as").contains("vote_accuracy"));
  for (const char* file : {"run.json", "steps.csv", "stages.csv", "queues.csv", "metrics.html",
                           "events/tiny/events.out.tfevents.omen"})
    EXPECT_TRUE(fs::exists(out("as") / file)) << file;
}

TEST_F(RunTest, FourModelsOfASweepKeepTheirOwnOptimisersAndGroupsRepeat) {
  std::ofstream(out("sweep.csv")) << "model,learning_rate,seed,optimiser,ranks\n"
                                     "tiny,0.01,1,sgd,1\ntiny,0.001,2,adam,1\nlenet,0.01,3,,1\n"
                                     "resnet8,0.05,4,momentum,2\n";
  const std::string models = "--models " + out("sweep.csv").string() + " ";
  ASSERT_EQ(run("a", models + "--design multi-broadcast --preprocessors 5"), 0) << said("a");
  ASSERT_EQ(run("b", models + "--design shared-memory"), 0) << said("b");
  EXPECT_TRUE(trained("a") == trained("b"));
  EXPECT_EQ(facts("a")["ranks"], 5);
  EXPECT_EQ(facts("a")["models"][1]["optimiser"], "adam");
  EXPECT_EQ(facts("a")["models"][3]["name"], "resnet8");
}

TEST_F(RunTest, AKilledRankEndsTheRunAndTheSameCommandGoesOn) {
  const std::string options = "--models resnet8,tiny --epochs 60 --checkpoint 3 ";
  ASSERT_EQ(run("whole", options + "--design none"), 0) << said("whole");
  pid_t rank = 0;
  const pid_t child = start("cut", options + "--design all-shared", 1, 12, &rank);
  ASSERT_NE(rank, 0) << said("cut");
  ::kill(rank, SIGKILL);
  EXPECT_NE(exit_code(child), 0);
  EXPECT_THAT(said("cut"), HasSubstr("checkpoints are kept"));
  EXPECT_TRUE(fs::exists(out("cut").string() + ".state/models/tiny.checkpoint"));
  // On one rank, with another design.
  ASSERT_EQ(run("cut", options + "--design shared-memory --ranks 1"), 0) << said("cut");
  EXPECT_TRUE(trained("cut") == trained("whole"));
  EXPECT_FALSE(fs::exists(out("cut").string() + ".state"));
}

TEST_F(RunTest, AStoppedRankIsNoticed) {
  const std::string options = "--models resnet8*2 --epochs 400 --checkpoint 3 --design all-shared";
  pid_t rank = 0;
  const pid_t child = start("stopped", options, 1, 4, &rank);
  ASSERT_NE(rank, 0) << said("stopped");
  ::kill(rank, SIGSTOP);
  EXPECT_NE(exit_code(child), 0);
  EXPECT_THAT(said("stopped"), HasSubstr("rank 1 shows no sign of life"));
  // Gone, or dead and not yet collected by whoever inherited it.
  const std::string state = text_of("/proc/" + std::to_string(rank) + "/stat");
  EXPECT_TRUE(state.empty() || state.find(") Z ") != std::string::npos) << state;
}

TEST_F(RunTest, ACheckpointThatFindsNoRoomIsNotTheEndAndTheOldOneStays) {
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

TEST_F(RunTest, FlippedBytesAreGreyAndCountedOrStopTheRun) {
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

TEST_F(RunTest, MoreRanksThanBlocksAndFewerSamplesThanABatch) {
  ASSERT_EQ(run("many", "--models tiny --ranks 7 --design all-shared"), 0) << said("many");
  ASSERT_EQ(run("one", "--models tiny --design none"), 0) << said("one");
  EXPECT_TRUE(trained("many") == trained("one"));
  EXPECT_NE(run("few", "--models tiny --batch 45"), 0);
  EXPECT_THAT(said("few"), HasSubstr("do not fill a batch of 45"));
}

TEST_F(RunTest, AModelThatDivergesOrStopsEarlyLeavesTheOthersAlone) {
  std::ofstream(out("sweep.csv")) << "model,learning_rate,seed\ntiny,0.01,5\ntiny,1e6,6\n";
  const std::string models =
      "--models " + out("sweep.csv").string() + " --epochs 3 --validation 0.2 ";
  ASSERT_EQ(run("nan", models + "--design all-shared"), 0) << said("nan");
  EXPECT_EQ(facts("nan")["models"][1]["state"], "diverged");
  EXPECT_EQ(facts("nan")["models"][0]["state"], "finished");
  ASSERT_EQ(run("alone", "--models tiny --epochs 3 --validation 0.2 --design none"), 0);
  EXPECT_TRUE(text_of(out("nan") / "weights/tiny.safetensors") ==
              text_of(out("alone") / "weights/tiny.safetensors"));
  ASSERT_EQ(run("early",
                "--models tiny*2 --epochs 30 --validation 0.2 --patience 2 "
                "--learning-rate 1e-9 --design shared-memory"),
            0)
      << said("early");
  EXPECT_EQ(facts("early")["models"][0]["state"], "stopped early");
  EXPECT_EQ(facts("early")["models"][0]["steps"], 3 * 4);
}

}  // namespace
}  // namespace omen::ensemble
