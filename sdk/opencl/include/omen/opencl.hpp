// SPDX-License-Identifier: Apache-2.0
// The functions of libOpenCL, found at run time, holders of its objects, and facts of devices.
#ifndef OMEN_OPENCL_HPP
#define OMEN_OPENCL_HPP

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <string>
#include <type_traits>

#include "omen/error.hpp"

namespace omen {

#define OMEN_CL_FUNCTIONS(F)   \
  F(clGetPlatformIDs)          \
  F(clGetPlatformInfo)         \
  F(clGetDeviceIDs)            \
  F(clGetDeviceInfo)           \
  F(clCreateSubDevices)        \
  F(clReleaseDevice)           \
  F(clCreateContext)           \
  F(clReleaseContext)          \
  F(clCreateCommandQueue)      \
  F(clReleaseCommandQueue)     \
  F(clCreateProgramWithSource) \
  F(clBuildProgram)            \
  F(clGetProgramBuildInfo)     \
  F(clReleaseProgram)          \
  F(clCreateKernel)            \
  F(clReleaseKernel)           \
  F(clSetKernelArg)            \
  F(clCreateBuffer)            \
  F(clReleaseMemObject)        \
  F(clEnqueueNDRangeKernel)    \
  F(clEnqueueWriteBuffer)      \
  F(clEnqueueReadBuffer)       \
  F(clFlush)                   \
  F(clFinish)

class ClLibrary {
 public:
  // OMEN_UNAVAILABLE with what to install. Kept open for ever, with symbols of its own: drivers
  // bring an LLVM that must not meet another.
  explicit ClLibrary(const std::string& name = "libOpenCL.so.1");
  // One for the whole plugin.
  static const ClLibrary& get();

// NOLINTNEXTLINE(bugprone-macro-parentheses): the word is a name.
#define OMEN_CL_SLOT(function) decltype(&::function) function = nullptr;
  OMEN_CL_FUNCTIONS(OMEN_CL_SLOT)
#undef OMEN_CL_SLOT
};

// "CL_OUT_OF_RESOURCES (-5)".
std::string cl_error_name(cl_int status);
// OMEN_UNAVAILABLE: "OpenCL cannot <what>: <name of the error>".
void cl_check(cl_int status, const std::string& what);

// An object of the library that is released with its holder.
template <class Handle>
using ClHeld = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int(CL_API_CALL*)(Handle)>;

// Empty and zero where the device does not say.
std::string cl_device_text(const ClLibrary& cl, cl_device_id device, cl_device_info what);
template <class Number>
Number cl_device_number(const ClLibrary& cl, cl_device_id device, cl_device_info what) {
  Number value{};
  return cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value
                                                                                       : Number{};
}
std::string cl_platform_name(const ClLibrary& cl, cl_platform_id platform);

}  // namespace omen

#endif  // OMEN_OPENCL_HPP
