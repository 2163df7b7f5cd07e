// SPDX-License-Identifier: Apache-2.0
// Asks the dynamic linker for a list, which maps libraries but starts none of them.
#include "cli/doctor_libraries.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "omen/exec_arguments.hpp"

namespace omen::host::cli {
namespace {

// The linker that loaded this program; empty in a program without one.
std::string linker_path() {
  Dl_info info{};
  const auto* const base = reinterpret_cast<const void*>(getauxval(AT_BASE));
  return base && dladdr(base, &info) && info.dli_fname ? info.dli_fname : "";
}

// What a program prints on stdout; its errors are dropped.
std::string output_of(std::vector<std::string> words, std::vector<std::string> variables) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, words[0].c_str(), &actions, nullptr,
                                 exec_pointers(words).data(), exec_pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got; !failed && (got = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  if (!failed) waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

std::vector<std::string> missing_libraries(const std::filesystem::path& library) {
  const std::string linker = linker_path();
  std::vector<std::string> missing;
  if (linker.empty()) return missing;
  std::istringstream lines(
      output_of({linker, library.string()}, environment_with({{"LD_TRACE_LOADED_OBJECTS", "1"}})));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find(" => not found");
    const std::size_t begin = line.find_first_not_of(" \t");
    if (end != line.npos && begin < end) missing.push_back(line.substr(begin, end - begin));
  }
  return missing;
}

}  // namespace omen::host::cli
