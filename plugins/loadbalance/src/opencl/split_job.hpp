// SPDX-License-Identifier: Apache-2.0
// A kernel with its launch on two devices, from the source to measured splits.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "omen/run.hpp"
#include "opencl/kernel_source.hpp"
#include "opencl/launch.hpp"
#include "opencl/runtime.hpp"
#include "opencl/split_options.hpp"
#include "opencl/split_search.hpp"
#include "opencl/splittable.hpp"

namespace omen::loadbalance {

struct SplitJob {
  KernelSource code;
  Signature signature;
  SplitVerdict verdict;
  std::array<OpenClDevice, 2> devices;
  LaunchRange range;
  unsigned dimension = 0;  // along which the range is divided
  std::vector<Argument> arguments;

  bool takes_range() const { return code.takes_range.count(signature.kernel) > 0; }
  bool same_device() const {  // sub-devices of one: results are equal in every bit
    return devices[0].platform == devices[1].platform && devices[0].device == devices[1].device;
  }
  SplitPlan plan(double share) const { return plan_split(range, dimension, share); }
  double granularity() const { return 100.0 / static_cast<double>(range.groups(dimension)); }
  std::size_t buffer_bytes() const;
};

// Reads and judges the kernel and makes its launch. OMEN_UNSUPPORTED with the reasons where it
// cannot be divided, unless it is forced.
SplitJob prepare_job(const std::string& path, const SplitOptions& options, std::uint64_t seed);

// How the split results compare with those of one device.
struct Agreement {
  bool equal = true;
  bool in_every_bit = true;
  double largest_error = 0;  // of floats, by the largest magnitude of the buffer
  double largest_absolute = 0;
  int parameter = -1;  // where it is largest
};

// Runs a job on its devices. The job, the options and the run must outlive the meter.
class SplitMeter {
 public:
  SplitMeter(const SplitJob& job, const SplitOptions& options, const Run& run);

  // Runs once on each device and once split, and compares the results.
  Agreement check(double share);
  // Every share once in each of several rounds, so that drift meets all of them.
  std::vector<SplitSample> sweep(const std::vector<double>& shares);
  SplitSearch find(double start_share);

  const std::array<double, 2>& whole_ms() const { return whole_ms_; }
  double merge_ms() const { return merge_ms_; }

 private:
  SplitTime once(double share);

  const SplitJob& job_;
  const SplitOptions& options_;
  const Run& run_;
  KernelRunner runner_;
  std::array<double, 2> whole_ms_{};
  double merge_ms_ = 0;
};

}  // namespace omen::loadbalance
