// SPDX-License-Identifier: Apache-2.0
// The directory of a dataset, filled under a temporary name before it takes its place.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "omen/error.hpp"

namespace omen::host {

class StagedDirectory {
 public:
  explicit StagedDirectory(const std::filesystem::path& target)
      : target_(std::filesystem::absolute(target).lexically_normal()) {
    if (!target_.has_filename()) target_ = target_.parent_path();
    path_ = beside("new");
    std::error_code error;
    // Replacing removes what was there, so it must be one of ours.
    const bool foreign =
        std::filesystem::exists(target_) && !std::filesystem::exists(target_ / "dataset.json") &&
        !(std::filesystem::is_directory(target_) && std::filesystem::is_empty(target_));
    if (foreign)
      throw Error(OMEN_INVALID_ARGUMENT, target_.string() + " exists and is no dataset",
                  "Give another place.");
    std::filesystem::remove_all(path_, error);
    std::filesystem::create_directories(path_, error);
    if (error)
      throw Error(OMEN_IO, "cannot make directory '" + path_.string() + "': " + error.message(),
                  "Check that the place is writable and has room.");
  }
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;
  ~StagedDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }

  // What was there before is moved aside first, and back where the new one cannot take its place.
  void commit() {
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
  std::filesystem::path beside(const char* what) const {
    return target_.parent_path() /
           ("." + target_.filename().string() + "." + what + std::to_string(::getpid()));
  }

  std::filesystem::path target_, path_;
};

}  // namespace omen::host
