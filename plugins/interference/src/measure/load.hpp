// SPDX-License-Identifier: Apache-2.0
// Something to run beside something else, in steps of about 10 ms.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace omen::interference {

class Load {
 public:
  virtual ~Load() = default;
  virtual void step() = 0;
  // Of the last step where something is trained, NaN elsewhere.
  virtual double loss() const { return std::numeric_limits<double>::quiet_NaN(); }
};

struct LoadKind {
  const char* name;
  const char* family;  // what does alike work is of one family
  int batch;           // usual size of a batch; 0: the load has none
  std::unique_ptr<Load> (*make)(int batch, std::uint64_t seed);
};

// Repeats steps until `seconds` have passed or `stop` says so; `mark` is called after each. Returns
// the number of steps.
std::int64_t run_load(Load& load, double seconds, const std::function<void()>& mark,
                      const std::function<bool()>& stop);

}  // namespace omen::interference
