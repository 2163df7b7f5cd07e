// SPDX-License-Identifier: Apache-2.0
// A directory of one test.
#pragma once

#include "work_directory.hpp"

namespace omen::external {

struct Temporary : WorkDirectory {
  Temporary() : WorkDirectory("") {}
  std::filesystem::path operator/(const char* name) const { return path() / name; }
};

}  // namespace omen::external
