// SPDX-License-Identifier: Apache-2.0
// Runs tar, which knows every compression that the system has.
#include "data/archive.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "omen/error.hpp"
#include "worker/child_process.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

fs::path find_tar() {
  for (const char* place : {"/usr/bin/tar", "/bin/tar", "/usr/local/bin/tar"})
    if (::access(place, X_OK) == 0) return place;
  throw Error(OMEN_UNAVAILABLE, "archives are unpacked by tar, which is not installed",
              "Install tar, and bzip2 where the archive is a .tar.bz2.");
}

fs::path private_directory() {
  std::error_code failed;
  fs::path base = fs::temp_directory_path(failed);
  if (failed) base = "/tmp";
  std::string pattern = (base / "omen-archive-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw Error(OMEN_IO,
                "cannot make a directory in " + base.string() + ": " + std::strerror(errno),
                "Set TMPDIR to a directory that you may write to.");
  return pattern;
}

void run_tar(const fs::path& archive, const fs::path& into) {
  SpawnRequest request;
  request.program = find_tar();
  request.arguments = {"-xf", archive.string(), "-C", into.string(), "--no-same-owner"};
  ChildProcess child(std::move(request));
  while (!child.wait_end(std::chrono::milliseconds(500))) {
  }
  if (const std::string reason = child.end_reason(); !reason.empty())
    throw Error(OMEN_INVALID_DATA,
                "tar cannot unpack " + archive.string() + " (" + reason +
                    "): " + child.stderr_tail().substr(0, child.stderr_tail().find('\n')),
                "Check that the file is whole and that its compression program is installed.");
}

}  // namespace

UnpackedArchive::UnpackedArchive(const fs::path& archive) : path_(private_directory()) {
  try {
    run_tar(archive, path_);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    throw;
  }
}

UnpackedArchive::~UnpackedArchive() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<fs::path> UnpackedArchive::members() const {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_))
    if (entry.is_regular_file() && !entry.is_symlink())
      files.push_back(entry.path().lexically_relative(path_));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace omen::host
