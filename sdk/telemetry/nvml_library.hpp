// SPDX-License-Identifier: Apache-2.0
// The functions of libnvidia-ml that are used, found by name; any of them may be missing.
#ifndef OMEN_TELEMETRY_NVML_LIBRARY_HPP
#define OMEN_TELEMETRY_NVML_LIBRARY_HPP

#include <nvml.h>

#include <memory>
#include <string>

#include "omen/error.hpp"

namespace omen::telemetry {

// Initialised on opening, shut down with the last reference. The library stays mapped: drivers
// start threads and do not support unloading. [any-thread]
class NvmlLibrary {
 public:
  // OMEN_UNAVAILABLE with the reason and what to do.
  static std::shared_ptr<const NvmlLibrary> open(const std::string& path);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  std::string error_text(nvmlReturn_t code) const;
  std::string driver_version() const;

  // Null where the library lacks the function. Later revisions of a function come first.
  nvmlReturn_t (*init)() = nullptr;
  nvmlReturn_t (*shutdown)() = nullptr;
  const char* (*error_string)(nvmlReturn_t) = nullptr;
  nvmlReturn_t (*system_driver_version)(char*, unsigned) = nullptr;
  nvmlReturn_t (*device_count)(unsigned*) = nullptr;
  nvmlReturn_t (*device_by_index)(unsigned, nvmlDevice_t*) = nullptr;
  nvmlReturn_t (*name)(nvmlDevice_t, char*, unsigned) = nullptr;
  nvmlReturn_t (*uuid)(nvmlDevice_t, char*, unsigned) = nullptr;
  nvmlReturn_t (*utilization)(nvmlDevice_t, nvmlUtilization_t*) = nullptr;
  nvmlReturn_t (*memory)(nvmlDevice_t, nvmlMemory_t*) = nullptr;
  nvmlReturn_t (*power)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*power_limit)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*energy)(nvmlDevice_t, unsigned long long*) = nullptr;
  nvmlReturn_t (*clock)(nvmlDevice_t, nvmlClockType_t, unsigned*) = nullptr;
  nvmlReturn_t (*temperature)(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned*) = nullptr;
  nvmlReturn_t (*throttle_reasons)(nvmlDevice_t, unsigned long long*) = nullptr;
  nvmlReturn_t (*pcie)(nvmlDevice_t, nvmlPcieUtilCounter_t, unsigned*) = nullptr;
  nvmlReturn_t (*fields)(nvmlDevice_t, int, nvmlFieldValue_t*) = nullptr;
  nvmlReturn_t (*processes)(nvmlDevice_t, unsigned*, nvmlProcessInfo_t*) = nullptr;
  nvmlReturn_t (*process_utilization)(nvmlDevice_t, nvmlProcessUtilizationSample_t*, unsigned*,
                                      unsigned long long) = nullptr;
  nvmlReturn_t (*mig_mode)(nvmlDevice_t, unsigned*, unsigned*) = nullptr;
  nvmlReturn_t (*mig_max)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*mig_by_index)(nvmlDevice_t, unsigned, nvmlDevice_t*) = nullptr;

 private:
  explicit NvmlLibrary(void* handle);
  bool initialised_ = false;
};

// What went wrong at the start, with the next step.
Error nvml_start_error(nvmlReturn_t code, const std::string& text);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_NVML_LIBRARY_HPP
