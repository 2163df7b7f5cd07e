// SPDX-License-Identifier: Apache-2.0
// What devices and their links allow: times moved from one machine to another, and the cost of a
// split.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace omen::loadbalance::cost {

// Figures of one device that times depend on. `launch_ms` is what an empty kernel takes, `link`
// what copies between host and device reach; neither is published, so they come from calibration,
// from the machines of the training data, or from a default.
struct DeviceFigures {
  std::string name;
  double fp32 = 0, fp64 = 0;  // operations a second
  double bandwidth = 0;       // bytes a second
  double launch_ms = 0;
  double link = 0;  // bytes a second; 0: the device works in host memory
};

// By any spelling that the registry of devices knows; nothing for one that it does not. An empty
// name gives the first machine of the training data, i7-3820 and GTX 970.
std::optional<DeviceFigures> find_cpu(const std::string& name);
std::optional<DeviceFigures> find_gpu(const std::string& name);

// A time that was measured (or predicted) on one device, on another: launch and copies are
// replaced, the rest scales with what bounds the kernel. `fp64_share` of the operations are in
// double precision, `intensity` is operations a byte. Copies count only where the time is long
// enough to hold them.
double move_time(double time_ms, double bytes, double fp64_share, double intensity,
                 const DeviceFigures& from, const DeviceFigures& to);

// Both devices work at once, each at its share; the GPU's launch is not divided.
struct SplitCost {
  double share = 0;  // percent for the CPU
  double time_ms = 0;
  double gain = 1;  // over the better single device
};
SplitCost best_split(double t_cpu_ms, double t_gpu_ms, double launch_ms);
// Times at 0, 5, .. 100 percent for the CPU.
std::vector<SplitCost> split_curve(double t_cpu_ms, double t_gpu_ms, double launch_ms);

}  // namespace omen::loadbalance::cost
