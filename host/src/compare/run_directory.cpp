// SPDX-License-Identifier: Apache-2.0
// A run is unfinished while the file `unfinished` is there; that file carries the lock as well.
#include "compare/run_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace omen::host {
namespace fs = std::filesystem;
namespace {

constexpr const char* kMark = "unfinished";
constexpr std::size_t kIdLength = 8;

// Not open where the mark is missing or another process holds it.
Descriptor lock_mark(const fs::path& mark, int flags) {
  Descriptor file(::open(mark.c_str(), flags | O_RDWR | O_CLOEXEC, 0644));
  if (!file.open() || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return {};
  // The run may have been finished between opening and locking.
  std::error_code ignored;
  if (!fs::exists(mark, ignored)) return {};
  return file;
}

}  // namespace

RunDirectory RunDirectory::open(const fs::path& runs, const std::string& plan_digest) {
  std::error_code failed;
  fs::create_directories(runs, failed);
  if (failed)
    throw Error(OMEN_IO, "directory " + runs.string() + " cannot be made: " + failed.message(),
                "choose another place with --runs-dir");
  for (int number = 1;; ++number) {
    RunDirectory run;
    run.id_ = plan_digest.substr(0, kIdLength);
    if (number > 1) run.id_ += "-" + std::to_string(number);
    run.path_ = runs / run.id_;
    const bool fresh = fs::create_directory(run.path_, failed);
    if (failed)
      throw Error(OMEN_IO,
                  "directory " + run.path_.string() + " cannot be made: " + failed.message(),
                  "choose another place with --runs-dir");
    run.lock_ = lock_mark(run.path_ / kMark, fresh ? O_CREAT : 0);
    run.resumed_ = !fresh;
    if (run.lock_.open()) return run;
  }
}

void RunDirectory::finish() {
  std::error_code ignored;
  fs::remove(path_ / kMark, ignored);
  lock_.reset();
}

}  // namespace omen::host
