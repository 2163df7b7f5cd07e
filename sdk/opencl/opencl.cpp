// SPDX-License-Identifier: Apache-2.0
// Opens libOpenCL and names its errors.
#include "omen/opencl.hpp"

#include <dlfcn.h>

#include <utility>

namespace omen {

ClLibrary::ClLibrary(const std::string& name) {
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(OMEN_UNAVAILABLE, "there is no OpenCL library: " + std::string(::dlerror()),
                "install one, for processors: apt install pocl-opencl-icd ocl-icd-libopencl1");
  const auto load = [library](auto& slot, const char* function) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(::dlsym(library, function));
    if (!slot)
      throw Error(OMEN_UNAVAILABLE, std::string("the OpenCL library has no ") + function,
                  "install a loader for OpenCL 1.2 or newer: apt install ocl-icd-libopencl1");
  };
#define OMEN_CL_LOAD(function) load(function, #function);
  OMEN_CL_FUNCTIONS(OMEN_CL_LOAD)
#undef OMEN_CL_LOAD
}

const ClLibrary& ClLibrary::get() {
  static const auto* const library = new ClLibrary;
  return *library;
}

std::string cl_error_name(cl_int status) {
  static constexpr std::pair<cl_int, const char*> kNames[] = {
      {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
      {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_DEVICE_PARTITION_FAILED, "CL_DEVICE_PARTITION_FAILED"},
      {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
      {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
      {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
      {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
      {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
      {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
      {CL_INVALID_GLOBAL_OFFSET, "CL_INVALID_GLOBAL_OFFSET"}};
  const std::string number = std::to_string(status);
  for (const auto& [code, name] : kNames)
    if (code == status) return std::string(name) + " (" + number + ")";
  return "error " + number;
}

void cl_check(cl_int status, const std::string& what) {
  if (status != CL_SUCCESS)
    throw Error(OMEN_UNAVAILABLE, "OpenCL cannot " + what + ": " + cl_error_name(status));
}

std::string cl_device_text(const ClLibrary& cl, cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (cl.clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  cl.clGetDeviceInfo(device, what, size, text.data(), nullptr);
  return text.c_str();
}

std::string cl_platform_name(const ClLibrary& cl, cl_platform_id platform) {
  char name[256] = "";
  cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
  return name;
}

}  // namespace omen
