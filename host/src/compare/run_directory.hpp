// SPDX-License-Identifier: Apache-2.0
// The directory of a run: found again by the same command after a kill, locked while it is worked
// on.
#pragma once

#include <filesystem>
#include <string>

#include "compare/jobs.hpp"
#include "worker/child_process.hpp"

namespace omen::host {

class RunDirectory {
 public:
  // Continues the unfinished run of the same plan in `runs`, or starts a new one. One that another
  // process works on is left alone.
  static RunDirectory open(const std::filesystem::path& runs, const std::string& plan_digest);

  // That directory and no other; `shared` beside processes that work on other jobs of the same
  // plan. OMEN_INVALID_STATE where another process or another plan has it.
  static RunDirectory at(const std::filesystem::path& directory, const std::string& plan_digest,
                         bool shared);

  const std::string& id() const noexcept { return id_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  bool resumed() const noexcept { return resumed_; }
  ResultStore results() const { return ResultStore(path_ / "jobs"); }
  // From now on the same command starts anew.
  void finish();

 private:
  std::string id_;
  std::filesystem::path path_;
  bool resumed_ = false;
  Descriptor lock_;
};

}  // namespace omen::host
