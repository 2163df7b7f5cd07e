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

// The first process writes the digest of its plan, and those that come later compare; two that are
// first at once write the same bytes, or find out here.
void claim_mark(int mark, const std::string& plan_digest, const fs::path& directory) {
  std::string known(plan_digest.size(), '\0');
  ssize_t size = pread(mark, known.data(), known.size(), 0);
  if (size == 0) {
    if (pwrite(mark, plan_digest.data(), plan_digest.size(), 0) < 0)
      throw Error(OMEN_IO, directory.string() + " cannot be written: " + std::strerror(errno));
    size = pread(mark, known.data(), known.size(), 0);
  }
  if (size < 0 || known.substr(0, static_cast<std::size_t>(size)) != plan_digest)
    throw Error(OMEN_INVALID_STATE, directory.string() + " belongs to another comparison",
                "choose another place with --run-dir; plugins, tasks and options must be the same "
                "for every share");
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

RunDirectory RunDirectory::at(const fs::path& directory, const std::string& plan_digest,
                              bool shared) {
  RunDirectory run;
  run.path_ = fs::absolute(directory).lexically_normal();
  if (!run.path_.has_filename()) run.path_ = run.path_.parent_path();
  run.id_ = run.path_.filename();
  std::error_code failed;
  run.resumed_ = !fs::create_directories(run.path_, failed);
  const fs::path mark = run.path_ / kMark;
  // Again where the run was finished between opening the mark and locking it.
  do {
    run.lock_ = Descriptor(::open(mark.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644));
    if (!run.lock_.open())
      throw Error(OMEN_IO,
                  "directory " + run.path_.string() + " cannot be used: " + std::strerror(errno),
                  "choose another place with --run-dir");
    if (flock(run.lock_.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0)
      throw Error(OMEN_INVALID_STATE, "another process works in " + run.path_.string(),
                  "wait for its end, or choose another place with --run-dir");
  } while (!fs::exists(mark, failed));
  claim_mark(run.lock_.get(), plan_digest, run.path_);
  return run;
}

void RunDirectory::finish() {
  std::error_code ignored;
  fs::remove(path_ / kMark, ignored);
  lock_.reset();
}

}  // namespace omen::host
