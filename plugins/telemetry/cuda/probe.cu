// SPDX-License-Identifier: Apache-2.0
// Measures NVIDIA GPUs: products by cuBLAS, convolutions by cuDNN, memory, copies and launches.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#if OMEN_HAS_CUDNN
#include <cudnn.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_probe.h"

namespace {

constexpr size_t kTriadBytes = size_t{256} << 20;
constexpr int kLaunches = 500;

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw Failure(std::string(what) + ": " + cudaGetErrorString(status));
}
void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Failure(std::string(what) + ": cuBLAS error " + std::to_string(status));
}

__global__ void empty() {}
__global__ void triad(float4* a, const float4* b, const float4* c, size_t count) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x)
    a[i] = make_float4(b[i].x + 3 * c[i].x, b[i].y + 3 * c[i].y, b[i].z + 3 * c[i].z,
                       b[i].w + 3 * c[i].w);
}

// Device memory that goes with its holder, filled with zeros so that its pages exist.
class Memory {
 public:
  explicit Memory(size_t bytes) {
    check(cudaMalloc(&at_, bytes), "taking memory");
    check(cudaMemset(at_, 0, bytes), "clearing memory");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cudaFree(at_); }
  template <class T>
  T* as() const {
    return static_cast<T*>(at_);
  }

 private:
  void* at_ = nullptr;
};

class Pinned {
 public:
  explicit Pinned(size_t bytes) { check(cudaMallocHost(&at_, bytes), "taking pinned memory"); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { cudaFreeHost(at_); }
  void* get() const { return at_; }

 private:
  void* at_ = nullptr;
};

// Seconds of the fastest call by the GPU's own clock; two calls come first, for caches and plans.
template <class Call>
double fastest(double seconds, Call&& call) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "making an event");
  check(cudaEventCreate(&end), "making an event");
  call();
  call();
  double best = 0, spent = 0;
  do {
    check(cudaEventRecord(begin), "timing");
    call();
    check(cudaEventRecord(end), "timing");
    check(cudaEventSynchronize(end), "waiting for the GPU");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "timing");
    spent += ms * 1e-3;
    if (best == 0 || ms * 1e-3 < best) best = ms * 1e-3;
  } while (spent < seconds);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best;
}

// Host seconds of the middle one of many calls that wait for the GPU.
template <class Call>
double median_latency(Call&& call) {
  std::vector<double> times;
  for (int i = 0; i < kLaunches; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + kLaunches / 2, times.end());
  return times[kLaunches / 2];
}

struct Precision {
  const char* figure;
  cudaDataType type;
  cublasComputeType_t compute;
  size_t width;
  int least_capability;
};
constexpr Precision kPrecisions[] = {
    {"gemm_fp32_flops", CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, 4, 0},
    {"gemm_tf32_flops", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4, 80},
    {"gemm_fp16_flops", CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, 53}};

double gemm_flops(cublasHandle_t blas, const Precision& kind, int n, double seconds) {
  const size_t bytes = size_t(n) * n * kind.width;
  const Memory a(bytes), b(bytes), c(bytes);
  const float one = 1, zero = 0;
  const double time = fastest(seconds, [&] {
    check(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.as<void>(), kind.type, n,
                       b.as<void>(), kind.type, n, &zero, c.as<void>(), kind.type, n, kind.compute,
                       CUBLAS_GEMM_DEFAULT),
          "multiplying");
  });
  return 2.0 * n * n * n / time;
}

void put_gemm(int capability, double seconds, const omen_cuda_sink& sink) {
  cublasHandle_t blas = nullptr;
  check(cublasCreate(&blas), "opening cuBLAS");
  for (const Precision& kind : kPrecisions)
    if (capability >= kind.least_capability)
      sink.figure(sink.data, kind.figure, gemm_flops(blas, kind, 4096, seconds));
  cublasDestroy(blas);
}

#if OMEN_HAS_CUDNN
void check(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw Failure(std::string(what) + ": " + cudnnGetErrorString(status));
}

// A 3x3 convolution of 256 channels on 28x28 images, the middle of ResNet-50.
double conv_flops(cudnnHandle_t dnn, cudnnDataType_t type, cudnnMathType_t math, double seconds) {
  constexpr int kBatch = 64, kChannels = 256, kSize = 28;
  cudnnTensorDescriptor_t image;
  cudnnFilterDescriptor_t filter;
  cudnnConvolutionDescriptor_t conv;
  check(cudnnCreateTensorDescriptor(&image), "describing images");
  check(cudnnCreateFilterDescriptor(&filter), "describing filters");
  check(cudnnCreateConvolutionDescriptor(&conv), "describing a convolution");
  check(cudnnSetTensor4dDescriptor(image, CUDNN_TENSOR_NHWC, type, kBatch, kChannels, kSize, kSize),
        "describing images");
  check(cudnnSetFilter4dDescriptor(filter, type, CUDNN_TENSOR_NHWC, kChannels, kChannels, 3, 3),
        "describing filters");
  check(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                        CUDNN_DATA_FLOAT),
        "describing a convolution");
  check(cudnnSetConvolutionMathType(conv, math), "choosing tensor cores");
  cudnnConvolutionFwdAlgoPerf_t algorithm{};
  int found = 0;
  check(cudnnGetConvolutionForwardAlgorithm_v7(dnn, image, filter, conv, image, 1, &found,
                                               &algorithm),
        "choosing an algorithm");
  const size_t width = type == CUDNN_DATA_HALF ? 2 : 4;
  const size_t bytes = size_t{kBatch} * kChannels * kSize * kSize * width;
  const Memory in(bytes), out(bytes), weights(size_t{kChannels} * kChannels * 9 * width),
      work(std::max<size_t>(algorithm.memory, 256));
  const float one = 1, zero = 0;
  const double time = fastest(seconds, [&] {
    check(cudnnConvolutionForward(dnn, &one, image, in.as<void>(), filter, weights.as<void>(), conv,
                                  algorithm.algo, work.as<void>(), algorithm.memory, &zero, image,
                                  out.as<void>()),
          "convolving");
  });
  cudnnDestroyConvolutionDescriptor(conv);
  cudnnDestroyFilterDescriptor(filter);
  cudnnDestroyTensorDescriptor(image);
  return 2.0 * kBatch * kChannels * kChannels * 9 * kSize * kSize / time;
}

void put_conv(int capability, double seconds, const omen_cuda_sink& sink) {
  cudnnHandle_t dnn = nullptr;
  check(cudnnCreate(&dnn), "opening cuDNN");
  sink.figure(sink.data, "conv_fp32_flops",
              conv_flops(dnn, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, seconds));
  if (capability >= 70)
    sink.figure(sink.data, "conv_fp16_flops",
                conv_flops(dnn, CUDNN_DATA_HALF, CUDNN_TENSOR_OP_MATH, seconds));
  cudnnDestroy(dnn);
}
#endif

void put_memory(int multiprocessors, double seconds, const omen_cuda_sink& sink) {
  const Memory a(kTriadBytes), b(kTriadBytes), c(kTriadBytes);
  const size_t count = kTriadBytes / sizeof(float4);
  const double time = fastest(seconds, [&] {
    triad<<<multiprocessors * 16, 256>>>(a.as<float4>(), b.as<float4>(), c.as<float4>(), count);
    check(cudaGetLastError(), "starting a kernel");
  });
  sink.figure(sink.data, "triad_bytes_per_s", 3.0 * kTriadBytes / time);
  const Pinned host(kTriadBytes);
  const auto rate = [&](void* to, const void* from, cudaMemcpyKind kind) {
    return kTriadBytes / fastest(seconds, [&] {
             check(cudaMemcpyAsync(to, from, kTriadBytes, kind), "copying");
           });
  };
  sink.figure(sink.data, "copy_to_device_bytes_per_s",
              rate(a.as<void>(), host.get(), cudaMemcpyHostToDevice));
  sink.figure(sink.data, "copy_from_device_bytes_per_s",
              rate(host.get(), a.as<void>(), cudaMemcpyDeviceToHost));
  sink.figure(sink.data, "copy_latency_s", median_latency([&] {
                check(cudaMemcpy(a.as<void>(), host.get(), 4, cudaMemcpyHostToDevice), "copying");
              }));
}

void put_launch(const omen_cuda_sink& sink) {
  sink.figure(sink.data, "launch_latency_s", median_latency([] {
                empty<<<1, 1>>>();
                check(cudaDeviceSynchronize(), "starting a kernel");
              }));
}

double attribute(cudaDeviceAttr what, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, what, device) == cudaSuccess ? value : 0;
}

void put_device(int index, double seconds, const omen_cuda_sink& sink) {
  cudaDeviceProp facts{};
  check(cudaGetDeviceProperties(&facts, index), "reading properties");
  sink.device(sink.data, index, facts.name);
  sink.fact(sink.data, "compute_capability",
            (std::to_string(facts.major) + "." + std::to_string(facts.minor)).c_str());
  const auto put = [&](const char* name, double value) {
    if (value > 0) sink.figure(sink.data, name, value);
  };
  put("multiprocessors", facts.multiProcessorCount);
  put("clock_hz", attribute(cudaDevAttrClockRate, index) * 1e3);
  put("memory_clock_hz", attribute(cudaDevAttrMemoryClockRate, index) * 1e3);
  put("memory_bus_bits", attribute(cudaDevAttrGlobalMemoryBusWidth, index));
  put("memory_bytes", static_cast<double>(facts.totalGlobalMem));
  put("l2_bytes", facts.l2CacheSize);
  check(cudaSetDevice(index), "choosing the GPU");
  const int capability = facts.major * 10 + facts.minor;
  const auto guarded = [&](const char* part, auto&& measure) {
    try {
      measure();
    } catch (const Failure& failure) {
      sink.fact(sink.data, part, failure.what());
      cudaGetLastError();
    }
  };
  guarded("problem_launch", [&] { put_launch(sink); });
  guarded("problem_memory", [&] { put_memory(facts.multiProcessorCount, seconds, sink); });
  guarded("problem_gemm", [&] { put_gemm(capability, seconds, sink); });
#if OMEN_HAS_CUDNN
  guarded("problem_conv", [&] { put_conv(capability, seconds, sink); });
#else
  sink.fact(sink.data, "problem_conv", "this build has no cuDNN");
#endif
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int omen_cuda_probe(int version, double seconds,
                                                                      const omen_cuda_sink* sink,
                                                                      char* problem,
                                                                      size_t problem_size) {
  const auto say = [&](const std::string& text) {
    std::snprintf(problem, problem_size, "%s", text.c_str());
  };
  if (version != OMEN_CUDA_PROBE_VERSION) {
    say("the CUDA module was built for another version of the plugin");
    return OMEN_CUDA_PROBE_FAILED;
  }
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    say(status == cudaSuccess ? "CUDA sees no GPU" : cudaGetErrorString(status));
    return OMEN_CUDA_PROBE_NO_GPU;
  }
  try {
    for (int i = 0; i < count; ++i) put_device(i, seconds, *sink);
  } catch (const std::exception& failure) {
    say(failure.what());
    return OMEN_CUDA_PROBE_FAILED;
  }
  return OMEN_CUDA_PROBE_OK;
}
