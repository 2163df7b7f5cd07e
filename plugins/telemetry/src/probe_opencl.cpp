// SPDX-License-Identifier: Apache-2.0
// OpenCL devices through libOpenCL, opened at run time.
#include "probe_report.hpp"

#include "omen/error.hpp"

#if OMEN_HAS_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#endif

namespace omen::telemetry {

#if OMEN_HAS_OPENCL
namespace {

constexpr std::size_t kTriadBytes = std::size_t{64} << 20;
constexpr int kLaunches = 200;

// Two products: vectors of sixteen for processors, tiles in local memory for GPUs; the faster
// counts.
constexpr const char* kSource = R"cl(
__kernel void empty(__global float *a) { if (get_global_id(0) > 1u << 30) a[0] = 0; }
__kernel void triad(__global float4 *a, __global const float4 *b, __global const float4 *c) {
  size_t i = get_global_id(0);
  a[i] = b[i] + 3.0f * c[i];
}
__kernel void gemm_wide(int n, __global const float *a, __global const float16 *b, __global float16 *c) {
  int column = get_global_id(0), row = get_global_id(1) * 4, width = n / 16;
  float16 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  __global const float *r = a + row * n;
  for (int k = 0; k < n; ++k) {
    float16 v = b[k * width + column];
    s0 += r[k] * v;
    s1 += r[k + n] * v;
    s2 += r[k + 2 * n] * v;
    s3 += r[k + 3 * n] * v;
  }
  c[row * width + column] = s0;
  c[(row + 1) * width + column] = s1;
  c[(row + 2) * width + column] = s2;
  c[(row + 3) * width + column] = s3;
}
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void gemm_tiled(int n, __global const float *a, __global const float *b, __global float *c) {
  __local float x[16][16], y[16][16];
  int i = get_local_id(1), j = get_local_id(0);
  int row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    x[i][j] = a[row * n + k + j];
    y[i][j] = b[(k + i) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < 16; ++p) sum += x[i][p] * y[p][j];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
)cl";

// The functions of the library that are used here; the headers give their types only.
class OpenCl {
 public:
  explicit OpenCl(const std::string& name) {
    // Kept open for ever, and local: two drivers with LLVM inside must not share symbols.
    void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw Error(OMEN_UNAVAILABLE, "there is no OpenCL library: " + std::string(::dlerror()),
                  "Install one, for processors: apt install pocl-opencl-icd");
#define OMEN_LOAD(function) load(library, #function, function)
    OMEN_LOAD(clGetPlatformIDs);
    OMEN_LOAD(clGetPlatformInfo);
    OMEN_LOAD(clGetDeviceIDs);
    OMEN_LOAD(clGetDeviceInfo);
    OMEN_LOAD(clCreateContext);
    OMEN_LOAD(clReleaseContext);
    OMEN_LOAD(clCreateCommandQueue);
    OMEN_LOAD(clReleaseCommandQueue);
    OMEN_LOAD(clCreateProgramWithSource);
    OMEN_LOAD(clBuildProgram);
    OMEN_LOAD(clReleaseProgram);
    OMEN_LOAD(clCreateKernel);
    OMEN_LOAD(clReleaseKernel);
    OMEN_LOAD(clSetKernelArg);
    OMEN_LOAD(clCreateBuffer);
    OMEN_LOAD(clReleaseMemObject);
    OMEN_LOAD(clEnqueueNDRangeKernel);
    OMEN_LOAD(clEnqueueWriteBuffer);
    OMEN_LOAD(clEnqueueReadBuffer);
    OMEN_LOAD(clFinish);
#undef OMEN_LOAD
  }

#define OMEN_SLOT(function) decltype(&::function) function = nullptr
  OMEN_SLOT(clGetPlatformIDs);
  OMEN_SLOT(clGetPlatformInfo);
  OMEN_SLOT(clGetDeviceIDs);
  OMEN_SLOT(clGetDeviceInfo);
  OMEN_SLOT(clCreateContext);
  OMEN_SLOT(clReleaseContext);
  OMEN_SLOT(clCreateCommandQueue);
  OMEN_SLOT(clReleaseCommandQueue);
  OMEN_SLOT(clCreateProgramWithSource);
  OMEN_SLOT(clBuildProgram);
  OMEN_SLOT(clReleaseProgram);
  OMEN_SLOT(clCreateKernel);
  OMEN_SLOT(clReleaseKernel);
  OMEN_SLOT(clSetKernelArg);
  OMEN_SLOT(clCreateBuffer);
  OMEN_SLOT(clReleaseMemObject);
  OMEN_SLOT(clEnqueueNDRangeKernel);
  OMEN_SLOT(clEnqueueWriteBuffer);
  OMEN_SLOT(clEnqueueReadBuffer);
  OMEN_SLOT(clFinish);
#undef OMEN_SLOT

 private:
  template <class Function>
  static void load(void* library, const char* name, Function& slot) {
    slot = reinterpret_cast<Function>(::dlsym(library, name));
    if (!slot)
      throw Error(OMEN_UNAVAILABLE, std::string("the OpenCL library has no ") + name,
                  "Install a loader for OpenCL 1.2 or newer: apt install ocl-icd-libopencl1");
  }
};

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS)
    throw Error(OMEN_UNAVAILABLE,
                std::string("OpenCL cannot ") + what + ": error " + std::to_string(status));
}

// An object of the library that is released with its holder.
template <class Handle>
using Held = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int(CL_API_CALL*)(Handle)>;

class Bench {
 public:
  Bench(const OpenCl& cl, cl_device_id device)
      : cl_(cl),
        context_(nullptr, cl.clReleaseContext),
        queue_(nullptr, cl.clReleaseCommandQueue),
        program_(nullptr, cl.clReleaseProgram) {
    cl_int status = 0;
    context_.reset(cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    check(status, "make a context");
    queue_.reset(cl.clCreateCommandQueue(context_.get(), device, 0, &status));
    check(status, "make a queue");
    const char* source = kSource;
    program_.reset(cl.clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &status));
    check(status, "take the kernels");
    check(cl.clBuildProgram(program_.get(), 1, &device, "-cl-mad-enable", nullptr, nullptr),
          "build the kernels");
  }

  Held<cl_mem> buffer(std::size_t bytes) const {
    cl_int status = 0;
    Held<cl_mem> made(
        cl_.clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status),
        cl_.clReleaseMemObject);
    check(status, "take memory");
    // Memory that was never written may be one shared page.
    const std::vector<float> zeros(bytes / sizeof(float), 0.5F);
    write(made.get(), zeros);
    return made;
  }
  Held<cl_kernel> kernel(const char* name) const {
    cl_int status = 0;
    Held<cl_kernel> made(cl_.clCreateKernel(program_.get(), name, &status), cl_.clReleaseKernel);
    check(status, "find a kernel");
    return made;
  }
  template <class T>
  void argument(cl_kernel kernel, cl_uint place, const T& value) const {
    check(cl_.clSetKernelArg(kernel, place, sizeof value, &value), "pass an argument");
  }
  void run(cl_kernel kernel, cl_uint dimensions, const std::size_t* global,
           const std::size_t* local = nullptr) const {
    check(cl_.clEnqueueNDRangeKernel(queue_.get(), kernel, dimensions, nullptr, global, local, 0,
                                     nullptr, nullptr),
          "start a kernel");
    finish();
  }
  void write(cl_mem to, const std::vector<float>& from) const {
    check(cl_.clEnqueueWriteBuffer(queue_.get(), to, CL_TRUE, 0, from.size() * sizeof(float),
                                   from.data(), 0, nullptr, nullptr),
          "copy to the device");
  }
  void read(cl_mem from, std::vector<float>& to) const {
    check(cl_.clEnqueueReadBuffer(queue_.get(), from, CL_TRUE, 0, to.size() * sizeof(float),
                                  to.data(), 0, nullptr, nullptr),
          "copy from the device");
  }
  void finish() const { check(cl_.clFinish(queue_.get()), "finish a kernel"); }

 private:
  const OpenCl& cl_;
  Held<cl_context> context_;
  Held<cl_command_queue> queue_;
  Held<cl_program> program_;
};

std::string text_of(const OpenCl& cl, cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (cl.clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  cl.clGetDeviceInfo(device, what, size, text.data(), nullptr);
  return text.c_str();
}

template <class Number>
double number_of(const OpenCl& cl, cl_device_id device, cl_device_info what) {
  Number value{};
  return cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS
             ? static_cast<double>(value)
             : 0;
}

struct Gemm {
  const char* kernel;
  std::size_t per_item_columns, per_item_rows;
  bool tiled;
};

// The product of matrices of one half is n / 4 everywhere: a kernel that says otherwise is not
// timed.
double gemm_flops(const Bench& bench, const ProbeLimits& limits, const Gemm& shape, std::size_t n) {
  const std::size_t bytes = n * n * sizeof(float);
  const auto a = bench.buffer(bytes), b = bench.buffer(bytes), c = bench.buffer(bytes);
  const auto kernel = bench.kernel(shape.kernel);
  bench.argument(kernel.get(), 0, static_cast<cl_int>(n));
  cl_uint place = 1;
  for (const cl_mem memory : {a.get(), b.get(), c.get()})
    bench.argument(kernel.get(), place++, memory);
  const std::size_t global[2] = {n / shape.per_item_columns, n / shape.per_item_rows};
  const std::size_t local[2] = {16, 16};
  const auto once = [&] { bench.run(kernel.get(), 2, global, shape.tiled ? local : nullptr); };
  once();
  std::vector<float> product(n * n);
  bench.read(c.get(), product);
  for (const float value : {product.front(), product.back(), product[n * n / 2]})
    if (value != static_cast<float>(n) / 4) return 0;
  const auto size = static_cast<double>(n);
  return 2 * size * size * size / fastest(limits, once);
}

double best_gemm(const Bench& bench, const ProbeLimits& limits, bool small) {
  const std::size_t n = small ? 512 : 2048;
  double best = 0;
  for (const Gemm& shape : {Gemm{"gemm_wide", 16, 4, false}, Gemm{"gemm_tiled", 1, 1, true}}) {
    try {
      best = std::max(best, gemm_flops(bench, limits, shape, n));
    } catch (const Error&) {
      // A device may be too small for one of the shapes.
    }
  }
  return best;
}

double triad_rate(const Bench& bench, const ProbeLimits& limits, std::size_t bytes) {
  const auto a = bench.buffer(bytes), b = bench.buffer(bytes), c = bench.buffer(bytes);
  const auto kernel = bench.kernel("triad");
  cl_uint place = 0;
  for (const cl_mem memory : {a.get(), b.get(), c.get()})
    bench.argument(kernel.get(), place++, memory);
  const std::size_t global = bytes / 16;
  bench.run(kernel.get(), 1, &global);
  return 3.0 * static_cast<double>(bytes) /
         fastest(limits, [&] { bench.run(kernel.get(), 1, &global); });
}

double launch_latency(const Bench& bench, const ProbeLimits& limits) {
  const auto memory = bench.buffer(64);
  const auto kernel = bench.kernel("empty");
  bench.argument(kernel.get(), 0, memory.get());
  const std::size_t one = 1;
  ProbeLimits once = limits;
  once.seconds = 0;
  std::vector<double> times;
  for (int i = 0; i < kLaunches; ++i)
    times.push_back(fastest(once, [&] { bench.run(kernel.get(), 1, &one); }));
  std::nth_element(times.begin(), times.begin() + kLaunches / 2, times.end());
  return times[kLaunches / 2];
}

void measure(const OpenCl& cl, cl_device_id id, const ProbeLimits& limits, ProbedDevice& device) {
  const Bench bench(cl, id);
  const bool small = number_of<cl_device_type>(cl, id, CL_DEVICE_TYPE) == CL_DEVICE_TYPE_CPU;
  const auto put = [&](const char* name, double value) {
    if (value > 0) device.figures.emplace_back(name, value);
  };
  put("gemm_fp32_flops", best_gemm(bench, limits, small));
  put("triad_bytes_per_s", triad_rate(bench, limits, kTriadBytes));
  put("launch_latency_s", launch_latency(bench, limits));
  const auto memory = bench.buffer(kTriadBytes);
  std::vector<float> host(kTriadBytes / sizeof(float), 1.0F);
  put("copy_to_device_bytes_per_s",
      kTriadBytes / fastest(limits, [&] { bench.write(memory.get(), host); }));
  put("copy_from_device_bytes_per_s",
      kTriadBytes / fastest(limits, [&] { bench.read(memory.get(), host); }));
  const auto word = bench.buffer(sizeof(float));
  std::vector<float> one(1);
  put("copy_latency_s", fastest(limits, [&] { bench.write(word.get(), one); }));
}

ProbedDevice describe(const OpenCl& cl, cl_platform_id platform, cl_device_id id, int index) {
  ProbedDevice device;
  device.kind = "opencl";
  device.index = index;
  device.name = text_of(cl, id, CL_DEVICE_NAME);
  char name[256] = "";
  cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
  device.facts = {{"platform", name},
                  {"version", text_of(cl, id, CL_DEVICE_VERSION)},
                  {"driver", text_of(cl, id, CL_DRIVER_VERSION)}};
  const auto put = [&](const char* figure, double value) {
    if (value > 0) device.figures.emplace_back(figure, value);
  };
  put("compute_units", number_of<cl_uint>(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS));
  put("clock_hz", number_of<cl_uint>(cl, id, CL_DEVICE_MAX_CLOCK_FREQUENCY) * 1e6);
  put("memory_bytes", number_of<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE));
  put("local_memory_bytes", number_of<cl_ulong>(cl, id, CL_DEVICE_LOCAL_MEM_SIZE));
  put("work_group_size",
      static_cast<double>(number_of<std::size_t>(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE)));
  return device;
}

}  // namespace

std::vector<ProbedDevice> probe_opencl(const ProbeLimits& limits, const std::string& library) {
  const OpenCl cl(library);
  cl_uint count = 0;
  if (cl.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0)
    throw Error(OMEN_UNAVAILABLE, "no OpenCL platform is installed",
                "Install a driver, for processors: apt install pocl-opencl-icd");
  std::vector<cl_platform_id> platforms(count);
  check(cl.clGetPlatformIDs(count, platforms.data(), nullptr), "list platforms");
  std::vector<ProbedDevice> devices;
  for (const cl_platform_id platform : platforms) {
    cl_uint ids = 0;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &ids) != CL_SUCCESS) continue;
    std::vector<cl_device_id> list(ids);
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, ids, list.data(), nullptr) != CL_SUCCESS)
      continue;
    for (const cl_device_id id : list) {
      ProbedDevice device = describe(cl, platform, id, static_cast<int>(devices.size()));
      try {
        measure(cl, id, limits, device);
      } catch (const Error& problem) {
        device.facts.emplace_back("problem", problem.what());
      }
      devices.push_back(std::move(device));
    }
  }
  if (devices.empty())
    throw Error(OMEN_UNAVAILABLE, "no OpenCL platform has a device",
                "Install a driver, for processors: apt install pocl-opencl-icd");
  return devices;
}

#else

std::vector<ProbedDevice> probe_opencl(const ProbeLimits&, const std::string&) {
  throw Error(OMEN_UNAVAILABLE, "this build has no OpenCL part",
              "Install opencl-headers and ocl-icd-opencl-dev, then build again.");
}

#endif

}  // namespace omen::telemetry
