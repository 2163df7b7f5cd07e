// SPDX-License-Identifier: Apache-2.0
// What was judged of dividing a kernel, for those who run it and do not know LLVM.
#pragma once

#include <string>
#include <vector>

#include "omen/join.hpp"
#include "opencl/bound.hpp"

namespace omen::loadbalance {

// Something that every work-item of a launch must keep to: `shortfall` is never above zero.
struct LaunchCondition {
  Bound shortfall;
  std::string text;  // "n - 1 - get_global_id(0) >= 0"
};

struct SplitVerdict {
  std::vector<std::string> reasons;  // why it cannot be divided; empty: it can
  std::vector<std::string> notes;    // what cannot be proven, and is checked when it runs
  unsigned dimensions = 7;           // bit d: it may be divided along dimension d
  std::vector<bool> written;         // by parameter: memory that the kernel may change
  // By parameter: each item reads what it writes there, in rows that nobody could prove to lie
  // apart; two devices that change one place of it, even to the same value, are in conflict.
  std::vector<bool> exclusive;
  std::vector<LaunchCondition> conditions;

  bool splittable() const { return reasons.empty(); }
  std::string reason() const { return join(reasons, "; "); }  // all of them in one line
};

}  // namespace omen::loadbalance
