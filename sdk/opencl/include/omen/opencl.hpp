// SPDX-License-Identifier: Apache-2.0
// The functions of libOpenCL that are used here, found at run time, and holders of its objects.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <string>
#include <type_traits>

#include "omen/error.hpp"

namespace omen::loadbalance {

#define OMEN_CL_FUNCTIONS(F)   \
  F(clGetPlatformIDs)          \
  F(clGetPlatformInfo)         \
  F(clGetDeviceIDs)            \
  F(clGetDeviceInfo)           \
  F(clCreateSubDevices)        \
  F(clCreateContext)           \
  F(clCreateCommandQueue)      \
  F(clCreateProgramWithSource) \
  F(clBuildProgram)            \
  F(clGetProgramBuildInfo)     \
  F(clReleaseProgram)          \
  F(clCreateKernel)            \
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
  // OMEN_UNAVAILABLE with what to install. Opened once and kept for ever, with symbols of its own:
  // drivers bring an LLVM that must not meet ours.
  static const ClLibrary& get();

#define OMEN_CL_SLOT(function) decltype(&::function) function = nullptr;
  OMEN_CL_FUNCTIONS(OMEN_CL_SLOT)
#undef OMEN_CL_SLOT

 private:
  ClLibrary();
};

// "CL_OUT_OF_RESOURCES (-5)".
std::string cl_error_name(cl_int status);
// OMEN_UNAVAILABLE: "OpenCL cannot <what>: <name of the error>".
void cl_check(cl_int status, const std::string& what);

// An object of the library that is released with its holder.
template <class Handle>
using ClHeld = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int(CL_API_CALL*)(Handle)>;

}  // namespace omen::loadbalance
