// SPDX-License-Identifier: Apache-2.0
// The directory of one call, and the files that a program keeps as its model.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace omen::external {

// Removed with everything in it: what a call was given does not outlive the call.
class WorkDirectory {
 public:
  // Below `parent`, or where temporary files go; readable by this user only.
  explicit WorkDirectory(const std::string& parent);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

// Contents by path relative to the directory.
using Files = std::map<std::string, std::string>;
// OMEN_INVALID_DATA for what is no plain file: a link would not mean the same elsewhere.
Files read_files(const std::filesystem::path& directory);
// OMEN_INVALID_DATA for a name that leads out of the directory.
void write_files(const std::filesystem::path& directory, const Files& files);

}  // namespace omen::external
