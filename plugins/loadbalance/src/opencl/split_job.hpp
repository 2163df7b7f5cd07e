// SPDX-License-Identifier: Apache-2.0
// A kernel with its launch on two devices, from the source to measured splits.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "omen/run.hpp"
#include "opencl/launch.hpp"
#include "opencl/runnable_kernel.hpp"
#include "opencl/runtime.hpp"
#include "opencl/split_options.hpp"
#include "opencl/split_search.hpp"

namespace omen::loadbalance {

// A kernel with its range and arguments, for any two devices.
struct KernelLaunch {
  RunnableKernel kernel;
  LaunchRange range;
  unsigned dimension = 0;  // along which the range is divided
  std::vector<Argument> arguments;

  const std::vector<Parameter>& parameters() const { return kernel.signature.parameters; }
  SplitPlan plan(double share) const { return plan_split(range, dimension, share); }
  double granularity() const { return 100.0 / static_cast<double>(range.groups(dimension)); }
  std::size_t buffer_bytes() const;
};

struct SplitJob : KernelLaunch {
  std::array<OpenClDevice, 2> devices;

  bool same_device() const {  // sub-devices of one: results are equal in every bit
    return devices[0].platform == devices[1].platform && devices[0].device == devices[1].device;
  }
};

// Has the front end read and judge the kernel, and makes its launch; no device is looked at.
// OMEN_UNSUPPORTED with the reasons where it cannot be divided, unless it is forced.
KernelLaunch prepare_launch(const Run& run, const std::string& path, const SplitOptions& options);
// The same on the devices of the options.
SplitJob prepare_job(const Run& run, const std::string& path, const SplitOptions& options);

// Gets the name of an argument whose end kills the process of a run; empty: there is no place for
// it.
std::string overrun_file(const Run& run);

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
  // Every plan once in each of several rounds, so that drift meets all of them. Shares that are one
  // plan are measured once.
  std::vector<SplitSample> sweep(const std::vector<double>& wanted);
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
