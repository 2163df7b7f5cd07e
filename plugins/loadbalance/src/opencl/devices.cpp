// SPDX-License-Identifier: Apache-2.0
// Lists OpenCL devices and chooses the pair that shares the work.
#include <charconv>
#include <limits>

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

// "P:D" or "P:D/U".
OpenClDevice parse_device(const std::string& item, const std::string& text,
                          const std::vector<OpenClDevice>& devices) {
  int numbers[3] = {-1, -1, 0};
  const char *at = item.data(), *const last = at + item.size();
  const char separators[] = {':', '/', '\0'};
  int count = 0;
  for (; count < 3 && at < last; ++count) {
    const auto [end, error] = std::from_chars(at, last, numbers[count]);
    if (error != std::errc() || (end < last && *end != separators[count]))
      bad_choice(text, devices, "'" + item + "' names no device");
    at = end < last ? end + 1 : end;
  }
  for (OpenClDevice device : devices) {
    if (count < 2 || device.platform != numbers[0] || device.device != numbers[1]) continue;
    if (count == 3) {
      if (!device.can_be_divided || numbers[2] < 1 ||
          static_cast<unsigned>(numbers[2]) > device.compute_units)
        bad_choice(text, devices,
                   device.id() + " cannot give " + std::to_string(numbers[2]) + " of its " +
                       std::to_string(device.compute_units) + " compute units");
      device.units_of = device.compute_units = static_cast<unsigned>(numbers[2]);
    }
    return device;
  }
  bad_choice(text, devices, "'" + item + "' names no device");
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

std::string OpenClDevice::id() const {
  const std::string text = std::to_string(platform) + ":" + std::to_string(device);
  return units_of ? text + "/" + std::to_string(units_of) : text;
}

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
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || text.find(',', comma + 1) != std::string::npos)
    bad_choice(text, devices, "two devices are wanted");
  return {parse_device(text.substr(0, comma), text, devices),
          parse_device(text.substr(comma + 1), text, devices)};
}

}  // namespace omen::loadbalance
