// SPDX-License-Identifier: Apache-2.0
// A file mapped read-only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace omen::ensemble {

class MappedFile {
 public:
  // OMEN_NOT_FOUND or OMEN_IO where it cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace omen::ensemble
