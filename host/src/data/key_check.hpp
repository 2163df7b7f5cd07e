// SPDX-License-Identifier: Apache-2.0
// Finds rows with equal keys in a stream of any length, in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace omen::host {

// Keeps 128 bits of each key and the line of its row; sorted runs go to a file without a name. Two
// different keys are taken for equal with a chance below 1e-20 in a billion rows.
class KeyCheck {
 public:
  // Runs of `run_keys` keys are kept in `directory`.
  explicit KeyCheck(std::filesystem::path directory, std::size_t run_keys = std::size_t{1} << 20);
  ~KeyCheck();
  KeyCheck(const KeyCheck&) = delete;
  KeyCheck& operator=(const KeyCheck&) = delete;

  void add(std::string_view key, std::int64_t line);

  struct Duplicate {
    std::int64_t first_line = 0, line = 0;
  };
  // The repetition that comes first in the file.
  std::optional<Duplicate> find_duplicate();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace omen::host
