// SPDX-License-Identifier: Apache-2.0
// OpenCL devices through libOpenCL, opened at run time.
#include "probe_report.hpp"

#include "omen/error.hpp"

#if OMEN_HAS_OPENCL
#include <algorithm>

#include "omen/median.hpp"
#include "omen/opencl.hpp"
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

class Bench {
 public:
  Bench(const ClLibrary& cl, cl_device_id device)
      : cl_(cl),
        context_(nullptr, cl.clReleaseContext),
        queue_(nullptr, cl.clReleaseCommandQueue),
        program_(nullptr, cl.clReleaseProgram) {
    cl_int status = 0;
    context_.reset(cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    cl_check(status, "make a context");
    queue_.reset(cl.clCreateCommandQueue(context_.get(), device, 0, &status));
    cl_check(status, "make a queue");
    const char* source = kSource;
    program_.reset(cl.clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &status));
    cl_check(status, "take the kernels");
    cl_check(cl.clBuildProgram(program_.get(), 1, &device, "-cl-mad-enable", nullptr, nullptr),
             "build the kernels");
  }

  ClHeld<cl_mem> buffer(std::size_t bytes) const {
    cl_int status = 0;
    ClHeld<cl_mem> made(
        cl_.clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status),
        cl_.clReleaseMemObject);
    cl_check(status, "take memory");
    // Memory that was never written may be one shared page.
    const std::vector<float> zeros(bytes / sizeof(float), 0.5F);
    write(made.get(), zeros);
    return made;
  }
  ClHeld<cl_kernel> kernel(const char* name) const {
    cl_int status = 0;
    ClHeld<cl_kernel> made(cl_.clCreateKernel(program_.get(), name, &status), cl_.clReleaseKernel);
    cl_check(status, "find a kernel");
    return made;
  }
  template <class T>
  void argument(cl_kernel kernel, cl_uint place, const T& value) const {
    cl_check(cl_.clSetKernelArg(kernel, place, sizeof value, &value), "pass an argument");
  }
  void run(cl_kernel kernel, cl_uint dimensions, const std::size_t* global,
           const std::size_t* local = nullptr) const {
    cl_check(cl_.clEnqueueNDRangeKernel(queue_.get(), kernel, dimensions, nullptr, global, local, 0,
                                        nullptr, nullptr),
             "start a kernel");
    finish();
  }
  void write(cl_mem to, const std::vector<float>& from) const {
    cl_check(cl_.clEnqueueWriteBuffer(queue_.get(), to, CL_TRUE, 0, from.size() * sizeof(float),
                                      from.data(), 0, nullptr, nullptr),
             "copy to the device");
  }
  void read(cl_mem from, std::vector<float>& to) const {
    cl_check(cl_.clEnqueueReadBuffer(queue_.get(), from, CL_TRUE, 0, to.size() * sizeof(float),
                                     to.data(), 0, nullptr, nullptr),
             "copy from the device");
  }
  void finish() const { cl_check(cl_.clFinish(queue_.get()), "finish a kernel"); }

 private:
  const ClLibrary& cl_;
  ClHeld<cl_context> context_;
  ClHeld<cl_command_queue> queue_;
  ClHeld<cl_program> program_;
};

template <class Number>
double number_of(const ClLibrary& cl, cl_device_id device, cl_device_info what) {
  return static_cast<double>(cl_device_number<Number>(cl, device, what));
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
  return median(std::move(times));
}

void measure(const ClLibrary& cl, cl_device_id id, const ProbeLimits& limits,
             ProbedDevice& device) {
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

ProbedDevice describe(const ClLibrary& cl, cl_platform_id platform, cl_device_id id, int index) {
  ProbedDevice device;
  device.kind = "opencl";
  device.index = index;
  device.name = cl_device_text(cl, id, CL_DEVICE_NAME);
  device.facts = {{"platform", cl_platform_name(cl, platform)},
                  {"version", cl_device_text(cl, id, CL_DEVICE_VERSION)},
                  {"driver", cl_device_text(cl, id, CL_DRIVER_VERSION)}};
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
  const ClLibrary cl(library);
  cl_uint count = 0;
  if (cl.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0)
    throw Error(OMEN_UNAVAILABLE, "no OpenCL platform is installed",
                "Install a driver, for processors: apt install pocl-opencl-icd");
  std::vector<cl_platform_id> platforms(count);
  cl_check(cl.clGetPlatformIDs(count, platforms.data(), nullptr), "list platforms");
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
