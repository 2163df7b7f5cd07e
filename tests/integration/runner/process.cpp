// SPDX-License-Identifier: Apache-2.0
// Child processes in their own group, so that a timeout ends everything they started.
#include "process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>
#include <vector>

namespace omen::cases {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void redirect(const std::filesystem::path& path, int flags, int target) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0 || dup2(fd, target) < 0) _exit(126);
}

// Files carry the output, because a grandchild that keeps a pipe open would block the reader.
class Capture {
 public:
  Capture() {
    std::string name = (std::filesystem::temp_directory_path() / "omen-case-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category());
    directory_ = name;
  }
  ~Capture() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::filesystem::path file(const char* name) const { return directory_ / name; }

 private:
  std::filesystem::path directory_;
};

// Waits for the child; kills its group at the deadline.
int wait_for(pid_t child, int timeout_seconds, bool* timed_out) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (!*timed_out && std::chrono::steady_clock::now() > deadline) {
      *timed_out = true;
      kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Outcome run_shell(const std::string& command, const std::string& stdin_text,
                  const Variables& environment, const std::filesystem::path& directory,
                  int timeout_seconds) {
  const Capture capture;
  std::ofstream(capture.file("in"), std::ios::binary) << stdin_text;
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  std::vector<char*> pointers;
  for (std::string& setting : settings) pointers.push_back(setting.data());
  pointers.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    setpgid(0, 0);
    redirect(capture.file("in"), O_RDONLY, 0);
    redirect(capture.file("out"), O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect(capture.file("err"), O_WRONLY | O_CREAT | O_TRUNC, 2);
    if (chdir(directory.c_str()) != 0) _exit(126);
    // A pipeline fails with any of its parts, not only with the last.
    execle("/bin/bash", "bash", "-o", "pipefail", "-c", command.c_str(),
           static_cast<char*>(nullptr), pointers.data());
    _exit(127);
  }
  Outcome outcome;
  outcome.exit_code = wait_for(child, timeout_seconds, &outcome.timed_out);
  outcome.stdout_text = read_file(capture.file("out"));
  outcome.stderr_text = read_file(capture.file("err"));
  return outcome;
}

}  // namespace omen::cases
