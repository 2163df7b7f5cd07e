// SPDX-License-Identifier: Apache-2.0
// Readers in Python: one is killed in the middle of an epoch, and the other sees every batch.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <omen/testing/temp_dir.hpp>
#include <sstream>
#include <thread>

#include "data/generator.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kPython = "/usr/bin/python3";
// The packages of the exchange test, which hold NumPy.
constexpr const char* kNumpy = PYTHON_PACKAGES_DIR "/safetensors";

class PythonReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string line = environment() + kPython + " -c 'import numpy' 2> /dev/null";
    if (std::system(line.c_str()) != 0) GTEST_SKIP() << "there is no NumPy for " << kPython;
    // 20 images in blocks of 4.
    write_generated(place_ / "images.epd", 20, {32, 24, 90, 0}, [](double) {});
  }
  static std::string environment() {
    return std::string("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=") + kNumpy +
           ":" ENSEMBLE_SOURCE_DIR "/examples ";
  }
  std::string path(const char* name) const { return (place_ / name).string(); }

  static pid_t start(const std::string& line) {
    const pid_t child = ::fork();
    if (child == 0) ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr), ::_exit(127);
    return child;
  }
  static int end_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  pid_t serve(int readers) const {
    return start("exec " OMEN_TEST_BUILD_DIR "/bin/omen ensemble serve-data --data " +
                 path("images.epd") + " --ring " + path("ring") +
                 " --block 4 --slots 3 --size 16 --epochs 2 -q --wait-for " +
                 std::to_string(readers) + " > " + path("log") + " 2>&1");
  }
  // Writes the labels of each batch as a line, and what it says at the end into `name`.err.
  pid_t reader(const char* name, int batch, const std::string& after_batch) const {
    const std::string program = path(name) + std::string(".py");
    std::ofstream(program) << "import time\nfrom omen_ring import RingReader\n"
                           << "out = open('" << path(name) << "', 'w')\n"
                           << "for epoch in RingReader('" << path("ring") << "', batch=" << batch
                           << ").epochs(2):\n"
                           << "    for images, labels in epoch:\n"
                           << "        assert images.shape == (" << batch << ", 3, 16, 16)\n"
                           << "        out.write(' '.join(map(str, labels)) + '\\n')\n"
                           << "        out.flush()\n        " << after_batch << "\n";
    return start(environment() + "exec " + kPython + " " + program + " 2> " + program + ".err");
  }
  // Until a reader has written its first batch.
  bool has_begun(const char* reader) const {
    for (int look = 0; look < 6000 && text(reader).empty(); ++look)
      std::this_thread::sleep_for(10ms);
    return !text(reader).empty();
  }
  std::string text(const std::string& name) const {
    std::ifstream in(place_ / name);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }

  const test::TempDir place_;
};

TEST_F(PythonReaderTest, AKilledOneHoldsNobodyUpAndBatchesMayDiffer) {
  const pid_t server = serve(2);
  // Stops in its first batch, holding a block of a ring that is too short for an epoch.
  const pid_t victim = reader("victim", 4, "time.sleep(600)");
  const pid_t other = reader("other", 10, "pass");
  ASSERT_TRUE(has_begun("victim")) << text("victim.py.err") << text("log");
  ::kill(victim, SIGKILL);
  EXPECT_EQ(end_of(victim), 128 + SIGKILL);
  EXPECT_EQ(end_of(other), 0) << text("other.py.err");
  EXPECT_EQ(end_of(server), 0) << text("log");
  // Two epochs of 20 images in batches of 10, the first four labels as the other saw them.
  std::istringstream lines(text("other"));
  std::string first, line;
  int batches = 0;
  for (; std::getline(lines, line); ++batches)
    if (batches == 0) first = line;
  EXPECT_EQ(batches, 4);
  const std::string seen = text("victim");
  EXPECT_EQ(first.substr(0, seen.size() - 1), seen.substr(0, seen.size() - 1));
}

TEST_F(PythonReaderTest, AKilledServerEndsItsReadersAndTheNextOneTakesItsPlace) {
  const pid_t server = serve(1);
  const pid_t left = reader("left", 4, "time.sleep(0.5)");
  ASSERT_TRUE(has_begun("left")) << text("left.py.err") << text("log");
  // While it is served, the ring is nobody else's.
  EXPECT_NE(end_of(serve(1)), 0);
  EXPECT_NE(text("log").find("is served already"), std::string::npos) << text("log");
  ::kill(server, SIGKILL);
  EXPECT_EQ(end_of(server), 128 + SIGKILL);
  EXPECT_EQ(end_of(left), 1);
  EXPECT_NE(text("left.py.err").find("the server of this ring died"), std::string::npos)
      << text("left.py.err");
  // The first reader opens what was left behind, and waits for what replaces it.
  const pid_t late = reader("late", 10, "pass");
  const pid_t next = serve(1);
  EXPECT_EQ(end_of(late), 0) << text("late.py.err");
  EXPECT_EQ(end_of(next), 0) << text("log");
}

}  // namespace
}  // namespace omen::ensemble
