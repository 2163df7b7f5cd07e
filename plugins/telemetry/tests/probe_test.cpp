// SPDX-License-Identifier: Apache-2.0
// The probes of telemetry.probe: right products, plausible figures, and clear words where a device
// is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <random>

#include "probe_gemm.hpp"
#include "probe_report.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

std::map<std::string, double> figures_of(const ProbedDevice& device) {
  return {device.figures.begin(), device.figures.end()};
}

TEST(ProbeGemm, MultipliesExactlyAtEverySize) {
  std::mt19937_64 random(3);
  // Sizes around the blocks of every kernel, and beyond the depth of a panel.
  for (const std::size_t n : {1, 3, 6, 7, 16, 31, 48, 65, 145, 300}) {
    std::vector<float> a(n * n), b(n * n), c(n * n, -1), wanted(n * n, 0);
    for (float& x : a) x = static_cast<float>(random() % 7) - 3;
    for (float& x : b) x = static_cast<float>(random() % 7) - 3;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) wanted[i * n + j] += a[i * n + k] * b[k * n + j];
    Gemm(n).multiply(a.data(), b.data(), c.data());
    EXPECT_EQ(c, wanted) << n << " with " << vector_set();
  }
}

TEST(ProbeGemm, TriadIsTheOneOfStream) {
  std::vector<double> a(5), b{1, 2, 3, 4, 5}, c{10, 20, 30, 40, 50};
  triad(a.data(), b.data(), c.data(), 0.5, a.size());
  EXPECT_THAT(a, ElementsAre(6, 12, 18, 24, 30));
}

TEST(ProbeCpu, ReadsFactsAndMeasuresRates) {
  test::TempTree tree;
  tree.write("proc/cpuinfo", "model name\t: Test CPU 9000\ncpu MHz\t\t: 2500.0\ncpu cores\t: 2\n");
  tree.write("proc/meminfo", "MemTotal:        1000 kB\n");
  const std::string cache = "sys/devices/system/cpu/cpu0/cache/index";
  tree.write(cache + "0/level", "1\n");
  tree.write(cache + "0/type", "Data\n");
  tree.write(cache + "0/size", "32K\n");
  tree.write(cache + "1/level", "3\n");
  tree.write(cache + "1/type", "Unified\n");
  tree.write(cache + "1/size", "4M\n");
  ProbeLimits limits;
  limits.seconds = 0.01;
  limits.threads = 2;
  const auto devices = probe_cpu(limits, (tree / "sys").string(), (tree / "proc").string());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].name, "Test CPU 9000");
  std::map<std::string, double> figures = figures_of(devices[0]);
  EXPECT_EQ(figures["l1d_bytes"], 32768);
  EXPECT_EQ(figures["l3_bytes"], 4 * 1048576);
  EXPECT_EQ(figures["clock_hz"], 2.5e9);
  EXPECT_EQ(figures["memory_bytes"], 1024000);
  EXPECT_EQ(figures["threads"], 2);
  // From an instrumented build on a busy core to more than any processor has.
  EXPECT_GT(figures["gemm_fp32_flops"], 1e6);
  EXPECT_LT(figures["gemm_fp32_flops"], 1e15);
  EXPECT_GT(figures["triad_bytes_per_s_one_thread"], 1e7);
  EXPECT_LT(figures["triad_bytes_per_s"], 1e13);
}

TEST(ProbeOpenCl, MissingLibraryHasAHint) {
  const Error error = thrown_by([] { probe_opencl({}, "libNoSuchOpenCL.so.1"); });
  EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(error.hint(), HasSubstr("nstall"));
}

// A driver compiles kernels inside this process, which instrumented builds cannot tell from leaks.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ProbeOpenCl, MeasuresEveryDeviceOrSaysWhatIsMissing) {
  ProbeLimits limits;
  limits.seconds = 0.01;
  std::vector<ProbedDevice> devices;
  const Error error = thrown_by([&] { devices = probe_opencl(limits, "libOpenCL.so.1"); });
  if (error.code() != OMEN_OK) {
    EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
    EXPECT_THAT(error.hint(), HasSubstr("nstall"));
    return;
  }
  ASSERT_FALSE(devices.empty());
  std::map<std::string, double> figures = figures_of(devices[0]);
  EXPECT_GE(figures["compute_units"], 1);
  EXPECT_GT(figures["memory_bytes"], 1e6);
  for (const char* rate : {"gemm_fp32_flops", "triad_bytes_per_s", "copy_to_device_bytes_per_s",
                           "copy_from_device_bytes_per_s"}) {
    EXPECT_GT(figures[rate], 1e6) << rate;
    EXPECT_LT(figures[rate], 1e15) << rate;
  }
  EXPECT_GT(figures["launch_latency_s"], 0);
  EXPECT_LT(figures["launch_latency_s"], 1);
}
#endif

TEST(ProbeCuda, TakesDownWhatTheModuleSays) {
  ::unsetenv("OMEN_FAKE_CUDA");
  const auto devices = probe_cuda({}, OMEN_FAKE_CUDA_MODULE);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].name, "Tesla V100-SXM2-16GB");
  EXPECT_THAT(devices[0].facts, ElementsAre(Pair("compute_capability", "7.0")));
  EXPECT_THAT(devices[0].figures,
              ElementsAre(Pair("multiprocessors", 80), Pair("gemm_fp32_flops", 14.1e12)));
  EXPECT_EQ(devices[1].index, 1);
}

TEST(ProbeCuda, EveryFailureIsUnavailableWithItsReason) {
  const Error missing = thrown_by([] { probe_cuda({}, "/nowhere/libomen_cuda_probe.so"); });
  EXPECT_EQ(missing.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(missing.hint(), HasSubstr("CUDA toolkit"));
  ::setenv("OMEN_FAKE_CUDA", "no_gpu", 1);
  const Error none = thrown_by([] { probe_cuda({}, OMEN_FAKE_CUDA_MODULE); });
  EXPECT_EQ(none.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(none.what(), HasSubstr("no NVIDIA GPU: CUDA sees no GPU"));
  EXPECT_THAT(none.hint(), HasSubstr("nvidia-smi"));
  ::setenv("OMEN_FAKE_CUDA", "fails_late", 1);
  EXPECT_THAT(thrown_by([] { probe_cuda({}, OMEN_FAKE_CUDA_MODULE); }).what(),
              HasSubstr("fell off the bus"));
  ::setenv("OMEN_FAKE_CUDA", "early_figure", 1);
  EXPECT_EQ(probe_cuda({}, OMEN_FAKE_CUDA_MODULE)[0].figures.size(), 2u)
      << "a figure of no device is dropped";
  ::unsetenv("OMEN_FAKE_CUDA");
  // A library that is no such module.
  const Error other = thrown_by([] { probe_cuda({}, "libc.so.6"); });
  EXPECT_THAT(other.what(), HasSubstr("is no CUDA part"));
}

}  // namespace
}  // namespace omen::telemetry
