// SPDX-License-Identifier: Apache-2.0
// The lock on a job's directory ends with its process, however that ends.
#include "compare/job_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "omen/error.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPrefix = "omen-fold-";
// A directory that was made a moment ago may not be locked yet.
constexpr std::time_t kYoungest = 10;

Descriptor locked(const fs::path& directory) {
  Descriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (file.open() && flock(file.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return file;
}

bool is_old_and_ours(int directory) {
  struct stat facts {};
  return fstat(directory, &facts) == 0 && facts.st_uid == geteuid() &&
         std::time(nullptr) - facts.st_mtime > kYoungest;
}

fs::path temporary_directory() {
  std::error_code failed;
  const fs::path base = fs::temp_directory_path(failed);
  return failed ? fs::path("/tmp") : base;
}

}  // namespace

JobDirectory::JobDirectory() {
  const fs::path base = temporary_directory();
  static std::once_flag cleaned;
  std::call_once(cleaned, [&] { remove_abandoned_jobs(base); });
  std::string pattern = (base / kPrefix).string() + "XXXXXX";
  if (!mkdtemp(pattern.data()))
    throw Error(OMEN_IO,
                "cannot make a directory in " + base.string() + ": " + std::strerror(errno),
                "Set TMPDIR to a directory that you may write to.");
  path_ = pattern;
  lock_ = locked(path_);
}

JobDirectory::~JobDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void remove_abandoned_jobs(const fs::path& base) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored))
    if (entry.path().filename().string().starts_with(kPrefix)) found.push_back(entry.path());
  for (const fs::path& directory : found)
    if (const Descriptor lock = locked(directory); lock.open() && is_old_and_ours(lock.get()))
      fs::remove_all(directory, ignored);
}

}  // namespace omen::host
