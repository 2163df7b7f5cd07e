// SPDX-License-Identifier: Apache-2.0
// Memory between inaccessible pages: who runs over its end is stopped, and named, or leaves a
// trace.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "opencl/overruns.hpp"

namespace omen::loadbalance {

class GuardedMemory {
 public:
  // `what` names it to who overruns it. OMEN_OUT_OF_MEMORY
  GuardedMemory(std::size_t bytes, const std::string& what);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  unsigned char* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  // False once anything between the ends and the pages was written.
  bool intact() const;

 private:
  unsigned char *mapping_ = nullptr, *data_ = nullptr, *begin_ = nullptr, *end_ = nullptr;
  std::size_t bytes_ = 0, mapped_ = 0;
  std::unique_ptr<GuardedRange> range_;
};

}  // namespace omen::loadbalance
