// SPDX-License-Identifier: Apache-2.0
// No process of `omen loadbalance run` holds two of: our LLVM, an OpenCL driver with its LLVM, and
// LibTorch. Their copies of the same symbols end in trouble beside each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <thread>

#include "profiled_kernel.hpp"

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using testing::Contains;

// What must keep to itself, by the libraries that a process has mapped.
std::set<std::string> holdings(const fs::path& process) {
  static const std::regex kLlvm("libLLVM[-.](?:so\\.)?([0-9]+)");
  std::ifstream maps(process / "maps");
  std::set<std::string> found;
  std::set<std::string> llvms;
  for (std::string line; std::getline(maps, line);) {
    const std::string name = line.substr(line.rfind('/') + 1);
    if (name.rfind("libloadbalance-llvm", 0) == 0) found.insert("front end");
    if (name.rfind("libOpenCL", 0) == 0) found.insert("driver");
    if (name.rfind("libtorch", 0) == 0) found.insert("LibTorch");
    std::smatch version;
    if (std::regex_search(name, version, kLlvm)) llvms.insert("LLVM " + version[1].str());
  }
  if (llvms.size() > 1) found.insert(llvms.begin(), llvms.end());
  return found;
}

int parent_of(const fs::path& process) {
  std::ifstream stat(process / "stat");
  const std::string text((std::istreambuf_iterator<char>(stat)), {});
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? 0 : std::atoi(text.c_str() + name_end + 4);
}

// The process and all below it.
std::vector<fs::path> family_of(int process) {
  std::map<int, int> parents;
  std::error_code gone;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", gone))
    if (const int id = std::atoi(entry.path().filename().c_str()); id > 0)
      parents[id] = parent_of(entry.path());
  std::vector<fs::path> family;
  for (const auto& [id, parent] : parents) {
    int at = id;
    while (at > 1 && at != process) at = parents.count(at) ? parents.at(at) : 0;
    if (at == process) family.emplace_back("/proc/" + std::to_string(id));
  }
  return family;
}

int start(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  return ::posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ) == 0 ? child : -1;
}

TEST(Processes, HoldOneCompilerOrLibTorchEach) {
  if (!KernelProfiler(LOADBALANCE_OMEN).has_devices()) GTEST_SKIP() << "there is no OpenCL device";
  const int omen = start({LOADBALANCE_OMEN, "loadbalance", "run", LOADBALANCE_EXAMPLES "/saxpy.cl",
                          "--global", "64Ki", "--repeats", "1", "--sweep", "-q"});
  ASSERT_GT(omen, 0);
  std::set<std::string> seen;
  int status = 0;
  while (::waitpid(omen, &status, WNOHANG) == 0) {
    for (const fs::path& process : family_of(omen)) {
      const std::set<std::string> held = holdings(process);
      EXPECT_LE(held.size(), 1u) << testing::PrintToString(held) << " in " << process;
      seen.insert(held.begin(), held.end());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(status, 0);
  // A look that sees none of them would prove nothing.
  EXPECT_THAT(seen, Contains("front end"));
  EXPECT_THAT(seen, Contains("driver"));
  if (LOADBALANCE_TORCH) {
    EXPECT_THAT(seen, Contains("LibTorch"));
  }
}

}  // namespace
}  // namespace omen::loadbalance
