// SPDX-License-Identifier: Apache-2.0
// The directory of a dataset, filled under a temporary name before it takes its place.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "omen/error.hpp"

namespace omen::host {

class StagedDirectory {
 public:
  explicit StagedDirectory(const std::filesystem::path& target)
      : target_(std::filesystem::absolute(target).lexically_normal()) {
    if (!target_.has_filename()) target_ = target_.parent_path();
    recover();
    // Replacing removes what was there, so it must be one of ours.
    const bool foreign =
        std::filesystem::exists(target_) && !std::filesystem::exists(target_ / "dataset.json") &&
        !(std::filesystem::is_directory(target_) && std::filesystem::is_empty(target_));
    if (foreign)
      throw Error(OMEN_INVALID_ARGUMENT, target_.string() + " exists and is no dataset",
                  "Give another place.");
    std::error_code error;
    std::filesystem::create_directories(target_.parent_path(), error);
    std::string pattern = beside("new-XXXXXX").string();
    if (error || !::mkdtemp(pattern.data()))
      throw Error(OMEN_IO,
                  "cannot make directory '" + pattern +
                      "': " + (error ? error.message() : std::strerror(errno)),
                  "Check that the place is writable and has room.");
    path_ = pattern;
    ::chmod(path_.c_str(), 0755);
  }
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;
  ~StagedDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }

  // Readers see all of what was there or all of what is new. A file system that cannot exchange two
  // names gets two steps, and a process that is killed between them is made up for by the next one.
  void commit() {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0)
      return;  // what was there is under the temporary name now, and goes with it
    const std::filesystem::path old = beside("old");
    std::error_code none, error;
    std::filesystem::rename(target_, old, none);
    std::filesystem::rename(path_, target_, error);
    if (error) {
      std::filesystem::rename(old, target_, none);
      throw Error(OMEN_IO, "cannot put '" + target_.string() + "' in place: " + error.message());
    }
    std::filesystem::remove_all(old, none);
  }

 private:
  void recover() const {
    const std::filesystem::path old = beside("old");
    std::error_code none;
    if (!std::filesystem::exists(old, none)) return;
    if (std::filesystem::exists(target_, none))
      std::filesystem::remove_all(old, none);
    else
      std::filesystem::rename(old, target_, none);
  }
  std::filesystem::path beside(const char* what) const {
    return target_.parent_path() / ("." + target_.filename().string() + "." + what);
  }

  std::filesystem::path target_, path_;
};

}  // namespace omen::host
