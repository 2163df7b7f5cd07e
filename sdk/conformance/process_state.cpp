// SPDX-License-Identifier: Apache-2.0
// What a plugin must leave as it found it.
#include "process_state.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

extern "C" std::size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace omen::conformance {
namespace {

std::map<int, std::string> open_descriptors() {
  std::map<int, std::string> found;
  DIR* directory = opendir("/proc/self/fd");
  if (!directory) return found;
  while (const dirent* entry = readdir(directory)) {
    char* end = nullptr;
    const long fd = std::strtol(entry->d_name, &end, 10);
    if (*end || fd == dirfd(directory)) continue;
    std::array<char, 512> target{};
    const std::string link = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(link.c_str(), target.data(), target.size() - 1) > 0)
      found[static_cast<int>(fd)] = target.data();
  }
  closedir(directory);
  return found;
}

std::map<int, std::string> signal_handlers() {
  std::map<int, std::string> handlers;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%p/%x", reinterpret_cast<void*>(action.sa_handler),
                  static_cast<unsigned>(action.sa_flags));
    handlers[signal] = text.data();
  }
  return handlers;
}

template <class Key, class Name>
void compare(const std::map<Key, std::string>& before, const std::map<Key, std::string>& after,
             Name&& name, std::vector<std::string>& changes) {
  for (const auto& [key, value] : after) {
    const auto was = before.find(key);
    if (was == before.end())
      changes.push_back(name(key) + " is new (" + value + ")");
    else if (was->second != value)
      changes.push_back(name(key) + " changed");
  }
  for (const auto& [key, value] : before)
    if (!after.count(key)) changes.push_back(name(key) + " is gone");
}

}  // namespace

ProcessState ProcessState::now() {
  ProcessState state;
  state.descriptors_ = open_descriptors();
  state.handlers_ = signal_handlers();
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    state.environment_[text.substr(0, equals)] =
        equals == std::string::npos ? std::string() : text.substr(equals + 1);
  }
  std::array<char, 4096> path{};
  if (getcwd(path.data(), path.size())) state.directory_ = path.data();
  if (const char* locale = std::setlocale(LC_ALL, nullptr)) state.locale_ = locale;
  state.rounding_ = std::fegetround();
  state.mask_ = umask(022);
  umask(state.mask_);
  return state;
}

std::vector<std::string> ProcessState::changes(const ProcessState& later) const {
  std::vector<std::string> found;
  compare(
      descriptors_, later.descriptors_,
      [](int fd) { return "file descriptor " + std::to_string(fd); }, found);
  compare(
      handlers_, later.handlers_,
      [](int signal) { return std::string("the handler of ") + strsignal(signal); }, found);
  compare(
      environment_, later.environment_,
      [](const std::string& key) { return "environment variable " + key; }, found);
  if (directory_ != later.directory_) found.push_back("the working directory changed");
  if (locale_ != later.locale_) found.push_back("the locale changed to " + later.locale_);
  if (rounding_ != later.rounding_) found.push_back("the rounding mode changed");
  if (mask_ != later.mask_) found.push_back("the file mode mask changed");
  return found;
}

int thread_count() {
  int count = 0;
  DIR* directory = opendir("/proc/self/task");
  if (!directory) return 0;
  while (const dirent* entry = readdir(directory)) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

std::map<int, std::uint64_t> thread_wakeups() {
  std::map<int, std::uint64_t> threads;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", failed)) {
    std::ifstream status(entry.path() / "status");
    std::uint64_t& switches = threads[std::atoi(entry.path().filename().c_str())];
    for (std::string line; std::getline(status, line);)
      if (const auto at = line.find("ctxt_switches:"); at != std::string::npos)
        switches += std::strtoull(line.c_str() + at + 14, nullptr, 10);
  }
  return threads;
}

bool has_plain_malloc() {
  return !__sanitizer_get_current_allocated_bytes;
}

std::size_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  unsigned long total = 0, resident = 0;
  if (!file) return 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::size_t allocated_bytes() {
  // Sanitizers bring their own malloc, which mallinfo2 knows nothing of.
  if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

OutputTrap::OutputTrap() {
  std::fflush(nullptr);
  for (Stream* stream : {&out_, &err_}) {
    stream->target = stream == &out_ ? 1 : 2;
    stream->saved = fcntl(stream->target, F_DUPFD_CLOEXEC, 100);
    stream->file = memfd_create("omen-trap", MFD_CLOEXEC);
    dup2(stream->file, stream->target);
  }
}

OutputTrap::~OutputTrap() {
  std::fflush(nullptr);
  for (Stream* stream : {&out_, &err_}) {
    dup2(stream->saved, stream->target);
    close(stream->saved);
    close(stream->file);
  }
}

std::string OutputTrap::text_of(const Stream& stream) {
  std::fflush(nullptr);
  std::string text(static_cast<std::size_t>(lseek(stream.file, 0, SEEK_END)), '\0');
  const ssize_t got = pread(stream.file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string OutputTrap::written_to_stdout() {
  return text_of(out_);
}

std::string OutputTrap::written_to_stderr() {
  return text_of(err_);
}

}  // namespace omen::conformance
