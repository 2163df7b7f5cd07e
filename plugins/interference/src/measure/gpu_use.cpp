// SPDX-License-Identifier: Apache-2.0
// Asks the driver through the sampling library.
#include "measure/gpu_use.hpp"

#include <limits>
#include <omen/telemetry/clock.hpp>

namespace omen::interference {

std::unique_ptr<GpuUse> GpuUse::open(const std::string& library) {
  std::unique_ptr<GpuUse> gpu(new GpuUse);
  try {
    telemetry::NvmlSources found = telemetry::make_nvml({{}, gpu->metrics_, gpu->notes_}, library);
    if (found.devices.empty()) return nullptr;
    gpu->source_ = std::move(found.devices[0]);
  } catch (const Error& error) {
    if (error.code() != OMEN_UNAVAILABLE) throw;
    return nullptr;
  }
  for (const telemetry::DeviceInfo& device : gpu->source_->devices()) gpu->name_ = device.name;
  return gpu;
}

double GpuUse::util_percent() {
  rows_.clear();
  source_->sample(telemetry::machine_clock().now_ns(), rows_);
  const std::int32_t wanted = metrics_.id("gpu.util_percent");
  for (const telemetry::Sample& row : rows_)
    if (row.metric == wanted) return row.value;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace omen::interference
