// SPDX-License-Identifier: Apache-2.0
// Runs of the product in a directory of their own.
#pragma once

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <omen/testing/temp_dir.hpp>
#include <sstream>
#include <thread>

#include "data/generator.hpp"

namespace omen::ensemble {

using test::TempDir;
namespace fs = std::filesystem;

// A convolution, batch normalisation, dropout and a head for 10 classes; see data/README.md.
inline constexpr const char* kScript = ENSEMBLE_SOURCE_DIR "/tests/data/script_net.pt";

inline std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// Trains on 44 small generated images, in a directory of its own.
class RunTest : public ::testing::Test {
 protected:
  RunTest() { write_images(44); }
  void write_images(std::uint32_t count) const {
    GeneratorOptions small;
    small.width = 48, small.height = 40;
    write_generated(data(), count, small, [](double) {});
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
    const fs::path status =
        out(name).string() + ".state/ranks/rank-" + std::to_string(rank) + ".status";
    // One of an earlier attempt names a process that may be somebody else by now.
    fs::remove(status);
    const pid_t child = ::fork();
    if (child == 0) ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr), ::_exit(127);
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

}  // namespace omen::ensemble
