// SPDX-License-Identifier: Apache-2.0
// The private directory of a job, and the removal of those whose process was killed.
#pragma once

#include <filesystem>

#include "worker/child_process.hpp"

namespace omen::host {

// Holds exchange directories and the model, and is gone with the job. Locked while it lives.
class JobDirectory {
 public:
  JobDirectory();
  ~JobDirectory();
  JobDirectory(const JobDirectory&) = delete;
  JobDirectory& operator=(const JobDirectory&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

// Removes this user's job directories in `base` that nobody has locked: a killed process leaves
// training data behind, which no later worker should find.
void remove_abandoned_jobs(const std::filesystem::path& base);

}  // namespace omen::host
