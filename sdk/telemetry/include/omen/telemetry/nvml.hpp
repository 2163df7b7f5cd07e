// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs through libnvidia-ml, opened at run time.
#ifndef OMEN_TELEMETRY_NVML_HPP
#define OMEN_TELEMETRY_NVML_HPP

#include <string>
#include <vector>

#include "omen/telemetry/source.hpp"

namespace omen::telemetry {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";
// A MIG instance i of GPU g is device (g + 1) * kMigStride + i.
inline constexpr std::int32_t kMigStride = 1000;

// Two sources a GPU over one library, each meant for a thread of its own: a GPU whose driver calls
// hang must not cost the rows of the others, and every reading of PCIe throughput blocks about
// 20 ms.
struct NvmlSources {
  std::vector<SourcePtr> devices, pcie;
  std::int32_t gpus = 0;
};

// gpu.{util,mem_util}_percent, gpu.mem_{used,total}_bytes, gpu.power_w (the driver's default kind),
// gpu.power_{instant,average,memory}_w, gpu.energy_j (since the start), gpu.clock_{sm,mem}_mhz,
// gpu.temperature_c, gpu.throttle_reasons (NVML's bits), gpu.throttled (0 or 1),
// gpu.process_{mem_bytes,sm_percent,mem_util_percent} with pid, gpu.pcie_{rx,tx}_bytes_per_s.
// Whatever a driver or device does not offer is left out; a device that is lost ends with a note.
// OMEN_UNAVAILABLE with a hint where there is no library, driver, permission or device.
NvmlSources make_nvml(const Context& context, const std::string& library = kNvmlLibrary);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_NVML_HPP
