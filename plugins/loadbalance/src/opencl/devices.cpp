// SPDX-License-Identifier: Apache-2.0
// Lists OpenCL devices and chooses the pair that shares the work.
#include "omen/opencl.hpp"
#include "opencl/runtime.hpp"

namespace omen::loadbalance {
namespace {

constexpr const char* kInstall =
    "install a driver, for processors: apt install pocl-opencl-icd; its devices are chosen with "
    "POCL_DEVICES";

bool divides_by_counts(const ClLibrary& cl, cl_device_id device) {
  cl_device_partition_property kinds[16] = {};
  if (cl.clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES, sizeof kinds, kinds, nullptr) !=
      CL_SUCCESS)
    return false;
  for (const cl_device_partition_property kind : kinds)
    if (kind == CL_DEVICE_PARTITION_BY_COUNTS) return true;
  return false;
}

OpenClDevice describe(const ClLibrary& cl, cl_platform_id platform, cl_device_id id) {
  OpenClDevice device;
  device.platform_name = cl_platform_name(cl, platform);
  device.name = cl_device_text(cl, id, CL_DEVICE_NAME);
  device.version = cl_device_text(cl, id, CL_DEVICE_VERSION);
  const auto type = cl_device_number<cl_device_type>(cl, id, CL_DEVICE_TYPE);
  device.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  device.is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
  device.unified_memory = cl_device_number<cl_bool>(cl, id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
  device.compute_units = cl_device_number<cl_uint>(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS);
  device.clock_hz = 1e6 * cl_device_number<cl_uint>(cl, id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  device.memory_bytes =
      static_cast<double>(cl_device_number<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE));
  device.largest_group = cl_device_number<std::size_t>(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  device.can_be_divided = device.compute_units > 1 && divides_by_counts(cl, id);
  return device;
}

[[noreturn]] void bad_choice(const std::string& text, const std::vector<OpenClDevice>& devices,
                             const std::string& why) {
  std::string known;
  for (const OpenClDevice& device : devices)
    known += (known.empty() ? "" : ", ") + device.id() + " " + device.name;
  throw Error(
      OMEN_INVALID_ARGUMENT, "devices '" + text + "': " + why,
      "write two of them as P:D,P:D, or P:D/U for U of the compute units of one; there are " +
          known);
}

OpenClDevice find_device(const DeviceChoice& wanted, const std::string& text,
                         const std::vector<OpenClDevice>& devices) {
  for (OpenClDevice device : devices) {
    if (device.platform != wanted.platform || device.device != wanted.device) continue;
    if (wanted.units_of > 0) {
      if (!device.can_be_divided || wanted.units_of > device.compute_units)
        bad_choice(text, devices,
                   device.id() + " cannot give " + std::to_string(wanted.units_of) + " of its " +
                       std::to_string(device.compute_units) + " compute units");
      device.units_of = device.compute_units = wanted.units_of;
    }
    return device;
  }
  bad_choice(text, devices, "'" + wanted.id() + "' names no device");
}

std::array<OpenClDevice, 2> default_pair(const std::vector<OpenClDevice>& devices) {
  for (const OpenClDevice& cpu : devices)
    for (const OpenClDevice& gpu : devices)
      if (cpu.is_cpu && gpu.is_gpu) return {cpu, gpu};
  if (devices.size() > 1) return {devices[0], devices[1]};
  const OpenClDevice& only = devices[0];
  if (!only.can_be_divided)
    throw Error(OMEN_UNAVAILABLE,
                "there is only one OpenCL device, " + only.name + ", and it cannot be divided",
                kInstall);
  std::array<OpenClDevice, 2> halves{only, only};
  halves[0].units_of = halves[0].compute_units = only.compute_units - only.compute_units / 2;
  halves[1].units_of = halves[1].compute_units = only.compute_units / 2;
  return halves;
}

}  // namespace

std::vector<OpenClDevice> list_opencl_devices() {
  const ClLibrary& cl = ClLibrary::get();
  cl_uint count = 0;
  if (cl.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0)
    throw Error(OMEN_UNAVAILABLE, "no OpenCL platform is installed", kInstall);
  std::vector<cl_platform_id> platforms(count);
  cl_check(cl.clGetPlatformIDs(count, platforms.data(), nullptr), "list platforms");
  std::vector<OpenClDevice> devices;
  for (cl_uint p = 0; p < count; ++p) {
    cl_uint ids = 0;
    if (cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, nullptr, &ids) != CL_SUCCESS)
      continue;
    std::vector<cl_device_id> list(ids);
    cl_check(cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, ids, list.data(), nullptr),
             "list devices");
    for (cl_uint d = 0; d < ids; ++d) {
      devices.push_back(describe(cl, platforms[p], list[d]));
      devices.back().platform = static_cast<int>(p);
      devices.back().device = static_cast<int>(d);
    }
  }
  if (devices.empty()) throw Error(OMEN_UNAVAILABLE, "no OpenCL platform has a device", kInstall);
  return devices;
}

std::array<OpenClDevice, 2> choose_devices(const std::string& text,
                                           const std::vector<OpenClDevice>& devices) {
  if (text.empty()) return default_pair(devices);
  const auto wanted = parse_devices(text);
  if (!wanted) bad_choice(text, devices, "two devices are wanted");
  return {find_device((*wanted)[0], text, devices), find_device((*wanted)[1], text, devices)};
}

}  // namespace omen::loadbalance
