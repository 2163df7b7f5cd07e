// SPDX-License-Identifier: Apache-2.0
// What was judged of dividing a kernel, for those who run it and do not know LLVM.
#pragma once

#include <string>
#include <vector>

#include "omen/join.hpp"

namespace omen::loadbalance {

struct SplitVerdict {
  std::vector<std::string> reasons;  // why it cannot be divided; empty: it can
  std::vector<std::string> notes;    // what cannot be proven, and is checked when it runs
  unsigned dimensions = 7;           // bit d: it may be divided along dimension d
  std::vector<bool> written;         // by parameter: memory that the kernel may change

  bool splittable() const { return reasons.empty(); }
  std::string reason() const { return join(reasons, "; "); }  // all of them in one line
};

}  // namespace omen::loadbalance
