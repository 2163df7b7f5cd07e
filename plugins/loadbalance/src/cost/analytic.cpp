// SPDX-License-Identifier: Apache-2.0
// Roofline-like scaling with published peaks, and a linear model of a split.
#include "cost/analytic.hpp"

#include <omen/telemetry/device_registry.hpp>

#include <algorithm>
#include <cmath>

namespace omen::loadbalance::cost {
namespace {

constexpr const char* kUsualCpu = "Intel Core i7-3820";
constexpr const char* kUsualGpu = "NVIDIA GeForce GTX 970";
constexpr double kCpuLaunchMs = 0.05;

// Launch and link of the machines that the training data come from, as their shortest kernels and a
// vector addition show. Drivers of 2014 to 2016; pageable memory on the first machine.
struct Machine {
  const char* gpu;
  double launch_ms, link;
};
constexpr Machine kMachines[] = {{"NVIDIA GeForce GTX 970", 0.02, 1.5e9},
                                 {"AMD Radeon HD 7970", 0.7, 6e9}};
constexpr double kUsualLaunchMs = 0.02, kUsualLink = 6e9;  // PCIe 3, a driver of today

const telemetry::PublishedDevice* registered(const std::string& name, const char* kind) {
  const telemetry::PublishedDevice* device = telemetry::find_device(name);
  return device && device->kind == kind ? device : nullptr;
}

double figure_or(const telemetry::PublishedDevice& device, const char* key, double otherwise) {
  return device.figure(key).value_or(otherwise);
}

}  // namespace

std::optional<DeviceFigures> find_cpu(const std::string& name) {
  const telemetry::PublishedDevice* found = registered(name.empty() ? kUsualCpu : name, "cpu");
  if (!found) return std::nullopt;
  const telemetry::PublishedDevice& device = *found;
  DeviceFigures figures;
  figures.name = device.name;
  figures.fp32 = figure_or(device, "fp32_flops", 2e11);
  figures.fp64 = figure_or(device, "fp64_flops", figures.fp32 / 2);
  figures.bandwidth = figure_or(device, "bandwidth_bytes_per_s", 4e10);
  figures.launch_ms = kCpuLaunchMs;
  return figures;
}

std::optional<DeviceFigures> find_gpu(const std::string& name) {
  const telemetry::PublishedDevice* found = registered(name.empty() ? kUsualGpu : name, "gpu");
  if (!found) return std::nullopt;
  const telemetry::PublishedDevice& device = *found;
  DeviceFigures figures;
  figures.name = device.name;
  figures.fp32 = figure_or(device, "fp32_flops", 4e12);
  figures.fp64 = figure_or(device, "fp64_flops", figures.fp32 / 32);
  figures.bandwidth = figure_or(device, "bandwidth_bytes_per_s", 2e11);
  figures.launch_ms = kUsualLaunchMs;
  figures.link = kUsualLink;
  for (const Machine& machine : kMachines)
    if (device.name == machine.gpu) {
      figures.launch_ms = machine.launch_ms;
      figures.link = machine.link;
    }
  return figures;
}

double move_time(double time_ms, double bytes, double fp64_share, double intensity,
                 const DeviceFigures& from, const DeviceFigures& to) {
  constexpr double kHeld = 0.6;  // of the copies that a time must hold before they count
  double copy_from = from.link > 0 && bytes > 0 ? 1e3 * bytes / from.link : 0;
  double copy_to = to.link > 0 && bytes > 0 ? 1e3 * bytes / to.link : 0;
  if (time_ms < kHeld * copy_from) copy_from = copy_to = 0;
  const double rest = time_ms - std::min(copy_from, time_ms);
  const double work = std::max(rest - std::min(from.launch_ms, 0.9 * time_ms), 0.05 * rest);
  const auto compute = [&](const DeviceFigures& d) {
    return fp64_share / d.fp64 + (1 - fp64_share) / d.fp32;  // seconds an operation
  };
  const auto cost = [&](const DeviceFigures& d) {
    return std::max(intensity * compute(d), 1 / d.bandwidth);  // seconds a byte
  };
  return to.launch_ms + copy_to + work * cost(to) / cost(from);
}

namespace {

double split_time(double share, double t_cpu_ms, double t_gpu_ms, double launch_ms) {
  const double launch = std::min(launch_ms, t_gpu_ms);
  const double cpu = share / 100 * t_cpu_ms;
  const double gpu = share >= 100 ? 0 : launch + (1 - share / 100) * (t_gpu_ms - launch);
  return std::max(cpu, gpu);
}

SplitCost cost_at(double share, double t_cpu_ms, double t_gpu_ms, double launch_ms) {
  SplitCost cost;
  cost.share = share;
  cost.time_ms = split_time(share, t_cpu_ms, t_gpu_ms, launch_ms);
  cost.gain = std::min(t_cpu_ms, t_gpu_ms) / std::max(cost.time_ms, 1e-12);
  return cost;
}

}  // namespace

SplitCost best_split(double t_cpu_ms, double t_gpu_ms, double launch_ms) {
  // Where both devices end together: s t_cpu = launch + (1 - s)(t_gpu - launch).
  const double launch = std::min(launch_ms, t_gpu_ms);
  const double share = 100 * t_gpu_ms / std::max(t_cpu_ms + t_gpu_ms - launch, 1e-12);
  SplitCost best = cost_at(0, t_cpu_ms, t_gpu_ms, launch_ms);
  for (const double candidate : {std::clamp(share, 0.0, 100.0), 100.0}) {
    const SplitCost cost = cost_at(candidate, t_cpu_ms, t_gpu_ms, launch_ms);
    if (cost.time_ms < best.time_ms) best = cost;
  }
  return best;
}

std::vector<SplitCost> split_curve(double t_cpu_ms, double t_gpu_ms, double launch_ms) {
  std::vector<SplitCost> curve;
  for (int share = 0; share <= 100; share += 5)
    curve.push_back(cost_at(share, t_cpu_ms, t_gpu_ms, launch_ms));
  return curve;
}

}  // namespace omen::loadbalance::cost
