// SPDX-License-Identifier: Apache-2.0
// Opens libnvidia-ml and says what is missing where that fails.
#include "nvml_library.hpp"

#include <dlfcn.h>

#include <initializer_list>

namespace omen::telemetry {
namespace {

// The first of several names that the library has.
template <class Function>
void find(void* handle, Function*& slot, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    slot = reinterpret_cast<Function*>(dlsym(handle, name));
    if (slot) return;
  }
}

const char* start_hint(nvmlReturn_t code) {
  switch (code) {
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Load the kernel driver (modprobe nvidia) and check with: nvidia-smi";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "The driver was updated while it was loaded: reboot, or reload the nvidia modules.";
    case NVML_ERROR_NO_PERMISSION:
      return "Give this user access to /dev/nvidia*, or start the container with --gpus all.";
    case NVML_ERROR_OPERATING_SYSTEM:
      return "The control group blocks /dev/nvidia*: ask the scheduler for a GPU (--gres=gpu:1).";
    case NVML_ERROR_IRQ_ISSUE:
    case NVML_ERROR_GPU_IS_LOST:
    case NVML_ERROR_RESET_REQUIRED:
      return "Look for NVRM and Xid in dmesg, then reset: nvidia-smi --gpu-reset";
    default:
      return "Check the driver with: nvidia-smi";
  }
}

}  // namespace

NvmlLibrary::NvmlLibrary(void* handle) {
  find(handle, init, {"nvmlInit_v2", "nvmlInit"});
  find(handle, shutdown, {"nvmlShutdown"});
  find(handle, error_string, {"nvmlErrorString"});
  find(handle, system_driver_version, {"nvmlSystemGetDriverVersion"});
  find(handle, device_count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(handle, device_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(handle, name, {"nvmlDeviceGetName"});
  find(handle, uuid, {"nvmlDeviceGetUUID"});
  find(handle, utilization, {"nvmlDeviceGetUtilizationRates"});
  find(handle, memory, {"nvmlDeviceGetMemoryInfo"});
  find(handle, power, {"nvmlDeviceGetPowerUsage"});
  find(handle, power_limit,
       {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
  find(handle, energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(handle, clock, {"nvmlDeviceGetClockInfo"});
  find(handle, temperature, {"nvmlDeviceGetTemperature"});
  find(handle, throttle_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(handle, pcie, {"nvmlDeviceGetPcieThroughput"});
  find(handle, fields, {"nvmlDeviceGetFieldValues"});
  // The unversioned function fills a shorter struct, so it is no substitute.
  find(handle, processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  find(handle, process_utilization, {"nvmlDeviceGetProcessUtilization"});
  find(handle, mig_mode, {"nvmlDeviceGetMigMode"});
  find(handle, mig_max, {"nvmlDeviceGetMaxMigDeviceCount"});
  find(handle, mig_by_index, {"nvmlDeviceGetMigDeviceHandleByIndex"});
}

NvmlLibrary::~NvmlLibrary() {
  if (initialised_ && shutdown) shutdown();
}

std::shared_ptr<const NvmlLibrary> NvmlLibrary::open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char* reason = dlerror();
    throw Error(OMEN_UNAVAILABLE, "no NVIDIA driver: " + std::string(reason ? reason : path),
                "Install the NVIDIA driver (Debian: nvidia-driver), or measure the host alone: "
                "omen profile --with telemetry.host");
  }
  std::shared_ptr<NvmlLibrary> library(new NvmlLibrary(handle));
  dlclose(handle);  // NODELETE keeps it mapped
  if (!library->init || !library->device_count || !library->device_by_index)
    throw Error(OMEN_UNAVAILABLE, path + " lacks the functions that every NVML has (nvmlInit_v2)",
                "Another library stands in its place: see ldconfig -p | grep nvidia-ml");
  const nvmlReturn_t code = library->init();
  if (code != NVML_SUCCESS) throw nvml_start_error(code, library->error_text(code));
  library->initialised_ = true;
  return library;
}

std::string NvmlLibrary::error_text(nvmlReturn_t code) const {
  const char* text = error_string ? error_string(code) : nullptr;
  return text ? text : "NVML error " + std::to_string(static_cast<int>(code));
}

std::string NvmlLibrary::driver_version() const {
  char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = {};
  if (!system_driver_version || system_driver_version(text, sizeof text) != NVML_SUCCESS) return {};
  return text;
}

Error nvml_start_error(nvmlReturn_t code, const std::string& text) {
  return Error(OMEN_UNAVAILABLE, "NVIDIA driver does not answer: " + text, start_hint(code));
}

}  // namespace omen::telemetry
