// SPDX-License-Identifier: Apache-2.0
// Starts llvm-spirv and waits for it.
#include "newer/spirv.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "frontend/ir_files.hpp"

extern char** environ;

namespace omen::loadbalance {
namespace {

// Translators by the LLVM that they write for; all of them are read here.
constexpr const char* kTranslators[] = {"llvm-spirv-15", "llvm-spirv-19", "llvm-spirv"};

// The exit code of `words`, with what they say in a file; 127 where there is no such program.
int exit_code(std::vector<std::string> words, const std::string& log) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed) return 127;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

std::string bitcode_of_spirv(const std::string& path, const Run& run) {
  const std::filesystem::path scratch(run.scratch_dir());
  const std::string made = (scratch / "module.bc").string(), log = (scratch / "log").string();
  for (const char* translator : kTranslators) {
    const int code = exit_code({translator, "-r", path, "-o", made}, log);
    if (code == 127) continue;
    if (code == 0) return read_file(made.c_str());
    std::string words = read_file(log.c_str());
    while (!words.empty() && words.back() == '\n') words.pop_back();
    throw Error(OMEN_INVALID_DATA, path + ": " + translator + " refuses it: " + words,
                "Check the file with spirv-val, or give the source or IR that it was made from.");
  }
  throw Error(OMEN_UNAVAILABLE, "SPIR-V is read through llvm-spirv, which is not installed",
              "apt install llvm-spirv-15");
}

}  // namespace omen::loadbalance
