// SPDX-License-Identifier: Apache-2.0
// Tells whose guard a kernel hit before the process dies of it.
#pragma once

#include <cstddef>
#include <string>

namespace omen::loadbalance {

// Where the name is written, in the scratch directory of the run.
inline constexpr const char* kOverrunFile = "overrun";

// From now on a deadly access to guards is named in `file` and on stderr, then the process dies as
// it would have. Drivers may replace handlers while they start: call it once they have.
void watch_overruns(const std::string& file);

// A guarded piece of memory [begin, end) whose data begin at `data`, while it lives.
class GuardedRange {
 public:
  GuardedRange(const void* begin, const void* end, const void* data, const std::string& what);
  ~GuardedRange();
  GuardedRange(const GuardedRange&) = delete;
  GuardedRange& operator=(const GuardedRange&) = delete;

 private:
  std::size_t slot_;
};

}  // namespace omen::loadbalance
