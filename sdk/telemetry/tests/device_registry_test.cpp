// SPDX-License-Identifier: Apache-2.0
// The registry of published devices: every figure plausible and sourced, every spelling found.
#include "omen/telemetry/device_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Range {
  const char* figure;
  double least, most;
};
// From a microcontroller's accelerator to the largest GPU module.
constexpr Range kRanges[] = {{"fp32_flops", 1e10, 2e14},
                             {"fp64_flops", 1e11, 1e14},
                             {"tf32_flops", 1e12, 3e15},
                             {"bf16_flops", 1e13, 6e15},
                             {"fp16_flops", 1e12, 6e15},
                             {"fp8_flops", 1e14, 2e16},
                             {"fp4_flops", 1e15, 4e16},
                             {"int8_ops", 1e12, 2e16},
                             {"int16_ops", 1e10, 1e14},
                             {"memory_bytes", 1 << 30, 600.0 * (1 << 30)},
                             {"bandwidth_bytes_per_s", 1e10, 2e13},
                             {"link_bytes_per_s", 5e9, 1e12},
                             {"interconnect_bytes_per_s", 5e10, 5e12},
                             {"launch_s", 1e-7, 1e-4},
                             {"tdp_w", 0.1, 3000},
                             {"base_clock_hz", 5e8, 6e9},
                             {"boost_clock_hz", 5e7, 6e9},
                             {"l2_bytes", 1e5, 1e9},
                             {"l3_bytes", 1e6, 1e9},
                             {"multiprocessors", 1, 400},
                             {"fp32_lanes", 100, 40000},
                             {"fp32_matrix_flops", 1e13, 2e14},
                             {"chips", 2, 8},
                             {"cores", 1, 256},
                             {"threads", 1, 512},
                             {"fp32_flops_per_cycle", 4, 128},
                             {"pes", 1, 1e6}};

TEST(DeviceRegistry, HasTheDevicesOfTheTracks) {
  int gpus = 0, others = 0;
  for (const PublishedDevice& device : published_devices())
    ++(device.kind == "gpu" ? gpus : others);
  EXPECT_GE(gpus, 60);
  EXPECT_GE(others, 12);
  for (const char* name : {"V100",
                           "TitanX",
                           "P100",
                           "GTX1080",
                           "RTX2070",
                           "K80",
                           "A100",
                           "H100",
                           "K20X",
                           "A40",
                           "RTX6000",
                           "RTX 4080",
                           "RTX 3090",
                           "L4",
                           "GTX 970",
                           "GTX 1080 Ti",
                           "Tahiti 7970",
                           "Tesla P4",
                           "NVIDIA GeForce RTX 3060",
                           "RTX 3080",
                           "RTX 4070 Ti",
                           "TITAN RTX",
                           "A100-SXM4-80GB",
                           "L40",
                           "GH200",
                           "NVIDIA B200",
                           "GB200",
                           "AMD Instinct MI210",
                           "MI250",
                           "RTX Pro 6000",
                           "B300",
                           "GB300",
                           "Intel Arc Pro B60",
                           "Xavier",
                           "Eyeriss",
                           "GAP9",
                           "NDP120",
                           "i7-3820",
                           "NVIDIA A100-SXM-80GB",
                           "NVIDIA H200-SXM-141GB",
                           "NVIDIA Jetson AGX Orin",
                           "AMD EPYC 7742 64-Core Processor",
                           "Ampere Altra Q80-30"})
    EXPECT_NE(find_device(name), nullptr) << name;
}

TEST(DeviceRegistry, EveryFigureIsKnownPlausibleAndSourced) {
  for (const PublishedDevice& device : published_devices()) {
    SCOPED_TRACE(device.name);
    EXPECT_THAT(device.figures, Not(IsEmpty()));
    EXPECT_GE(device.year, 2010);
    EXPECT_LE(device.year, 2026);
    EXPECT_THAT((std::vector<std::string>{"gpu", "cpu", "accelerator"}), Contains(device.kind));
    for (const auto& [figure, value] : device.figures) {
      const Range* range = nullptr;
      for (const Range& known : kRanges)
        if (figure == known.figure) range = &known;
      ASSERT_NE(range, nullptr) << figure;
      EXPECT_GE(value, range->least) << figure;
      EXPECT_LE(value, range->most) << figure;
      EXPECT_THAT(device.source_of(figure), HasSubstr("https://")) << figure;
    }
    for (const PublishedDevice::Source& source : device.sources)
      for (const std::string& figure : source.figures)
        EXPECT_TRUE(device.figure(figure)) << "a source of what is not there: " << figure;
  }
}

TEST(DeviceRegistry, GpusHaveWhatCostModelsNeed) {
  int linked = 0, gpus = 0;
  for (const PublishedDevice& device : published_devices()) {
    if (device.kind != "gpu") continue;
    SCOPED_TRACE(device.name);
    for (const char* figure : {"fp32_flops", "memory_bytes", "bandwidth_bytes_per_s", "tdp_w"})
      EXPECT_TRUE(device.figure(figure)) << figure;
    ++gpus;
    linked += device.figure("link_bytes_per_s").has_value();
    // Fewer bits are never slower, where they are published at all.
    const double half = device.figure("fp16_flops").value_or(1e18);
    EXPECT_GE(half, device.figure("bf16_flops").value_or(0));
    EXPECT_GE(device.figure("fp8_flops").value_or(1e18), device.figure("bf16_flops").value_or(0));
    EXPECT_GE(device.figure("fp4_flops").value_or(1e18), device.figure("fp8_flops").value_or(0));
    EXPECT_GE(device.figure("bandwidth_bytes_per_s").value_or(0),
              device.figure("link_bytes_per_s").value_or(0));
  }
  EXPECT_GE(linked, gpus - 4) << "modules without a slot have none";
}

TEST(DeviceRegistry, SaysWhichSourcesCouldNotBeOpened) {
  const PublishedDevice* device = find_device("B200");
  ASSERT_NE(device, nullptr);
  ASSERT_NE(device->find_source("fp4_flops"), nullptr);
  EXPECT_FALSE(device->find_source("fp4_flops")->opened);
  EXPECT_TRUE(find_device("T4")->find_source("int8_ops")->opened);
  EXPECT_EQ(device->find_source("cores"), nullptr);
}

TEST(DeviceRegistry, RatesFollowFromLanesAndClocks) {
  for (const PublishedDevice& device : published_devices()) {
    SCOPED_TRACE(device.name);
    if (device.kind == "gpu") {
      const double rate = 2 * *device.figure("fp32_lanes") * *device.figure("boost_clock_hz");
      // Some count two instructions a cycle and lane.
      const double doubled = device.name == "AMD Instinct MI300X" ? 2 : 1;
      EXPECT_NEAR(*device.figure("fp32_flops") / rate / doubled, 1, 0.1);
      EXPECT_GE(device.figure("fp16_flops").value_or(1e18), *device.figure("fp32_flops"));
      EXPECT_LE(device.figure("base_clock_hz").value_or(0), *device.figure("boost_clock_hz"));
      // Bytes a FLOP: memory between too slow to be true and too fast.
      const double balance = *device.figure("bandwidth_bytes_per_s") / *device.figure("fp32_flops");
      EXPECT_GT(balance, 0.005);
      EXPECT_LT(balance, 0.3);
    }
    if (device.kind == "cpu") {
      const double rate = *device.figure("cores") * *device.figure("base_clock_hz") *
                          *device.figure("fp32_flops_per_cycle");
      EXPECT_NEAR(*device.figure("fp32_flops") / rate, 1, 1e-6);
      EXPECT_GE(*device.figure("threads"), *device.figure("cores"));
    }
  }
}

TEST(DeviceRegistry, NoNameStandsForTwoDevices) {
  std::set<std::string> names;
  for (const PublishedDevice& device : published_devices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    for (const std::string& alias : device.aliases)
      EXPECT_TRUE(names.insert(alias).second) << alias << " of " << device.name;
    EXPECT_EQ(find_device(device.name), &device) << device.name;
    for (const std::string& alias : device.aliases) EXPECT_EQ(find_device(alias), &device) << alias;
  }
}

TEST(DeviceRegistry, FindsWhatDriversAndPeopleWrite) {
  const auto name = [](const char* spelling) {
    const PublishedDevice* device = find_device(spelling);
    return device ? device->name : std::string();
  };
  EXPECT_EQ(name("NVIDIA GeForce GTX 1080 Ti"), "NVIDIA GeForce GTX 1080 Ti");
  EXPECT_EQ(name("GeForce GTX 1080/PCIe/SSE2"), "NVIDIA GeForce GTX 1080");
  EXPECT_EQ(name("Tesla V100-SXM2-32GB"), "NVIDIA Tesla V100 SXM2 32 GB");
  EXPECT_EQ(name("NVIDIA A100-SXM4-80GB"), "NVIDIA A100 SXM4 80 GB");
  EXPECT_EQ(name("nvidia h100 80gb hbm3"), "NVIDIA H100 SXM5 80 GB");
  EXPECT_EQ(name("Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz"), "Intel Xeon Platinum 8380");
  EXPECT_EQ(name("Intel(R) Core(TM) i7-3820 CPU @ 3.60GHz"), "Intel Core i7-3820");
  EXPECT_EQ(name("titan x"), "NVIDIA TITAN X (Pascal)");
  EXPECT_EQ(name("AMD EPYC"), "") << "a family is no device";
  EXPECT_EQ(name(""), "");
  EXPECT_EQ(name("RTX 9090"), "");
}

TEST(DeviceRegistry, NamesNeighboursOfAnUnknownSpelling) {
  EXPECT_THAT(near_devices("GTX 1090"), Contains("NVIDIA GeForce GTX 1080"));
  EXPECT_THAT(near_devices("EPYC 7743"), Contains("AMD EPYC 7742"));
  EXPECT_THAT(near_devices("quantum abacus"), IsEmpty());
}

TEST(DeviceRegistry, ABrokenFileNamesTheDevice) {
  const Error none = thrown_by([] { parse_devices("[]", "x.json"); });
  EXPECT_EQ(none.code(), OMEN_INVALID_DATA);
  const Error entry = thrown_by(
      [] { parse_devices(R"({"format_version": 1, "devices": [{"name": "A"}]})", "x.json"); });
  EXPECT_THAT(entry.what(), HasSubstr("x.json: device 1"));
}

}  // namespace
}  // namespace omen::telemetry
