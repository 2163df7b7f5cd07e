// SPDX-License-Identifier: Apache-2.0
// Members of a tar archive as files, for as long as they are needed.
#pragma once

#include <filesystem>
#include <vector>

namespace omen::host {

// Unpacks into a private directory, which goes away with the object. Compression is whatever the
// system's tar knows. OMEN_UNAVAILABLE where there is no tar, OMEN_INVALID_DATA with its words
// where it fails.
class UnpackedArchive {
 public:
  explicit UnpackedArchive(const std::filesystem::path& archive);
  ~UnpackedArchive();
  UnpackedArchive(const UnpackedArchive&) = delete;
  UnpackedArchive& operator=(const UnpackedArchive&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  // Regular files below path(), sorted.
  std::vector<std::filesystem::path> members() const;

 private:
  std::filesystem::path path_;
};

}  // namespace omen::host
