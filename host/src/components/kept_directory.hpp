// SPDX-License-Identifier: Apache-2.0
// Calls of plugins leave the working directory of the process as it was.
#pragma once

namespace omen::host {

// Relative paths of the user would mean another place once a plugin changed the directory.
class KeptDirectory {
 public:
  KeptDirectory() noexcept;
  ~KeptDirectory();  // goes back, and says so
  KeptDirectory(const KeptDirectory&) = delete;
  KeptDirectory& operator=(const KeptDirectory&) = delete;
};

}  // namespace omen::host
