// SPDX-License-Identifier: Apache-2.0
// Programs are started, watched and ended with all they started.
#include "program.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "omen/testing/temp_dir.hpp"

namespace omen::external {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;

void no_tables() {}

Ended run(const std::string& command, std::vector<std::string> arguments = {}) {
  return run_program({command, std::move(arguments), {}}, no_tables);
}

pid_t read_pid(const fs::path& file) {
  pid_t pid = 0;
  for (int i = 0; i < 500 && pid == 0; ++i) {
    std::ifstream(file) >> pid;
    if (pid == 0) std::this_thread::sleep_for(10ms);
  }
  return pid;
}

// A process that is gone, or a zombie that nobody of ours has to collect.
bool gone(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    std::string line;
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    if (!std::getline(stat, line) || line.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(Program, TellsHowItEnded) {
  EXPECT_EQ(run("true").exit_code, 0);
  EXPECT_EQ(run("exit 3;").exit_code, 3);
  EXPECT_EQ(run("kill -SEGV $$;").signal, SIGSEGV);
  EXPECT_EQ(run("no-such-program-anywhere").exit_code, 127);
}

TEST(Program, GetsEachArgumentAsOneWord) {
  const Ended end = run("printf '[%s]' ", {"fit", "/a dir/with 'quotes' $HOME"});
  EXPECT_EQ(end.output, "[fit][/a dir/with 'quotes' $HOME]");
}

TEST(Program, GetsItsEnvironment) {
  const Ended end =
      run_program({"printf %s:%s \"$OMEN_X\" \"$PATH\"; true", {}, {{"OMEN_X", "y"}}}, no_tables);
  EXPECT_THAT(end.output, HasSubstr("y:/"));
}

TEST(Program, KeepsTheEndOfBothOutputs) {
  EXPECT_EQ(run("echo out; echo err >&2; true").output, "out\nerr\n");
  const Ended end = run("head -c 300000 /dev/zero | tr '\\0' x; echo last;");
  EXPECT_LE(end.output.size(), 8192U);
  EXPECT_THAT(end.output, EndsWith("xlast\n"));
}

TEST(Program, ReadsNothingAndInheritsNoDescriptor) {
  const int ours = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(::fcntl(ours, F_DUPFD, 20), 20);  // on purpose without close-on-exec
  EXPECT_EQ(run("cat; ls /proc/self/fd | wc -l; true").output, "4\n");
  ::close(ours);
}

TEST(Program, TicksWhileItRuns) {
  int ticks = 0;
  run_program({"sleep 0.4;", {}, {}}, [&] { ++ticks; });
  EXPECT_GE(ticks, 2);
}

TEST(Program, AChattyOneCannotKeepUsFromTicking) {
  int ticks = 0;
  EXPECT_THROW(run_program({"yes; true", {}, {}},
                           [&] {
                             if (++ticks == 5) throw std::runtime_error("cancelled");
                           }),
               std::runtime_error);
}

TEST(Program, IsKilledWithItsChildrenWhenCancelled) {
  const test::TempDir directory;
  const std::string file = (directory / "pid").string();
  EXPECT_THROW(run_program({"sleep 100 & echo $! > " + file + "; sleep 100;", {}, {}},
                           [&] {
                             if (fs::exists(file)) throw std::runtime_error("cancelled");
                           }),
               std::runtime_error);
  const pid_t grandchild = read_pid(file);
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(gone(grandchild));
}

TEST(Program, LeavesNothingBehindWhenItEnds) {
  const test::TempDir directory;
  const std::string file = (directory / "pid").string();
  EXPECT_EQ(run("sleep 100 & echo $! > " + file + "; true").exit_code, 0);
  EXPECT_TRUE(gone(read_pid(file)));
}

TEST(Program, DiesWithUs) {
  const test::TempDir directory;
  const std::string file = (directory / "pid").string();
  const pid_t us = ::fork();
  ASSERT_GE(us, 0);
  if (us == 0) {
    run("sleep 100 & echo $! > " + file + "; wait;");
    ::_exit(0);
  }
  const pid_t grandchild = read_pid(file);
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(gone(grandchild));
}

TEST(Program, LeavesNoDescriptorOpen) {
  const auto open = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  run("true");
  const auto before = open();
  run("echo x");
  EXPECT_EQ(open(), before);
}

}  // namespace
}  // namespace omen::external
