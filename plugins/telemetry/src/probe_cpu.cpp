// SPDX-License-Identifier: Apache-2.0
// The processor: cores, caches, matrix products and memory bandwidth.
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "omen/error.hpp"
#include "probe_gemm.hpp"
#include "probe_report.hpp"

namespace omen::telemetry {
namespace {

constexpr std::size_t kLargest = 1024;  // of a matrix: 12 MB a thread
constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string value_of(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (line.rfind(key, 0) != 0 || colon == std::string::npos) continue;
    return line.substr(std::min(line.size(), colon + 2));
  }
  return {};
}

// "32K", "1024K", "256M".
double bytes_of(const std::string& text) {
  const double value = std::atof(text.c_str());
  const char unit = text.empty() ? ' ' : text.back();
  return value * (unit == 'K' ? 1024.0 : unit == 'M' ? 1024.0 * 1024 : 1);
}

unsigned usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

// l1d_bytes, l1i_bytes, l2_bytes, l3_bytes of the first core.
std::map<std::string, double> caches(const std::string& sys_root) {
  std::map<std::string, double> found;
  const std::string base = sys_root + "/devices/system/cpu/cpu0/cache/index";
  for (int i = 0; i < 8; ++i) {
    const std::string place = base + std::to_string(i) + "/";
    const std::string level = first_line(place + "level"), type = first_line(place + "type");
    const double bytes = bytes_of(first_line(place + "size"));
    if (level.empty() || bytes <= 0) continue;
    const char* suffix = level != "1" ? "" : type == "Instruction" ? "i" : "d";
    found["l" + level + suffix + "_bytes"] = bytes;
  }
  return found;
}

// Runs one call a thread at the same time; seconds of the fastest round.
template <class Make>
double together(const ProbeLimits& limits, unsigned threads, Make&& make) {
  using Work = decltype(make(0U));
  std::vector<Work> work;
  for (unsigned i = 0; i < threads; ++i) work.push_back(make(i));
  return fastest(limits, [&] {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(std::ref(work[i]));
    work[0]();
    for (std::thread& thread : others) thread.join();
  });
}

struct Product {
  std::size_t n;
  Gemm gemm;
  std::vector<float> a, b, c;
  explicit Product(std::size_t size)
      : n(size), gemm(size), a(size * size, 0.5F), b(size * size, 0.25F), c(size * size) {}
  void operator()() { gemm.multiply(a.data(), b.data(), c.data()); }
};

// Grows the matrix until one product takes a tenth of the time, so that a slow build stays short.
std::size_t fitting_size(const ProbeLimits& limits) {
  ProbeLimits once = limits;
  once.seconds = 0;
  for (std::size_t n = 128; n < kLargest; n *= 2) {
    Product product(n);
    if (8 * fastest(once, product) > limits.seconds / 2) return n;
  }
  return kLargest;
}

double gemm_flops(const ProbeLimits& limits, unsigned threads, std::size_t n) {
  const double seconds = together(limits, threads, [&](unsigned) { return Product(n); });
  const auto size = static_cast<double>(n);
  return 2 * size * size * size * threads / seconds;
}

struct Triad {
  std::vector<double> a, b, c;
  explicit Triad(std::size_t count) : a(count), b(count, 1.0), c(count, 2.0) {}
  void operator()() { triad(a.data(), b.data(), c.data(), 3.0, a.size()); }
};

// Arrays of four times the last cache, shared by the threads, as STREAM demands, as long as the
// three of them leave most of the free memory alone.
double triad_rate(const ProbeLimits& limits, unsigned threads, double last_cache, double free) {
  if (free > 0) last_cache = std::min(last_cache, free / 64);
  const auto bytes =
      static_cast<std::size_t>(std::clamp(4 * last_cache, 32.0 * kMiB, 256.0 * kMiB));
  const std::size_t count = bytes / sizeof(double) / threads;
  const double seconds = together(limits, threads, [&](unsigned) { return Triad(count); });
  return 3.0 * sizeof(double) * static_cast<double>(count) * threads / seconds;
}

}  // namespace

std::vector<ProbedDevice> probe_cpu(const ProbeLimits& limits, const std::string& sys_root,
                                    const std::string& proc_root) {
  ProbedDevice device;
  device.kind = "cpu";
  const std::string info = proc_root + "/cpuinfo";
  device.name = value_of(info, "model name");
  if (device.name.empty()) device.name = "processor";
  const unsigned threads = limits.threads > 0 ? limits.threads : usable_threads();
  device.facts.emplace_back("vectors", vector_set());
  const auto put = [&](const std::string& name, double value) {
    if (value > 0) device.figures.emplace_back(name, value);
  };
  put("threads", threads);
  put("cores", std::atof(value_of(info, "cpu cores").c_str()));
  const double most_khz =
      std::atof(first_line(sys_root + "/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").c_str());
  put("clock_hz",
      most_khz > 0 ? most_khz * 1e3 : std::atof(value_of(info, "cpu MHz").c_str()) * 1e6);
  const auto sizes = caches(sys_root);
  double last_cache = 0;
  for (const auto& [name, bytes] : sizes) {
    put(name, bytes);
    last_cache = std::max(last_cache, bytes);
  }
  put("memory_bytes", std::atof(value_of(proc_root + "/meminfo", "MemTotal").c_str()) * 1024);
  const double free = std::atof(value_of(proc_root + "/meminfo", "MemAvailable").c_str()) * 1024;
  const std::size_t n = fitting_size(limits);
  put("gemm_size", static_cast<double>(n));
  put("gemm_fp32_flops_one_thread", gemm_flops(limits, 1, n));
  put("gemm_fp32_flops", gemm_flops(limits, threads, n));
  put("triad_bytes_per_s_one_thread", triad_rate(limits, 1, last_cache, free));
  put("triad_bytes_per_s", triad_rate(limits, threads, last_cache, free));
  return {device};
}

}  // namespace omen::telemetry
