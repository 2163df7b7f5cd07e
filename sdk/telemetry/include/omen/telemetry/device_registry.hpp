// SPDX-License-Identifier: Apache-2.0
// Published figures of GPUs, processors and accelerators, for devices that nobody has at hand.
#ifndef OMEN_TELEMETRY_DEVICE_REGISTRY_HPP
#define OMEN_TELEMETRY_DEVICE_REGISTRY_HPP

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omen::telemetry {

// Figures are in SI units and say so in their names:
//   every kind    fp64_flops, fp32_flops, tf32_flops, bf16_flops, fp16_flops, fp8_flops, fp4_flops,
//                 int16_ops, int8_ops (dense peaks), memory_bytes, bandwidth_bytes_per_s, tdp_w,
//                 base_clock_hz, boost_clock_hz, l2_bytes,
//                 link_bytes_per_s (to the host, one direction),
//                 interconnect_bytes_per_s (between devices, all links, both directions),
//                 launch_s (between short kernels in a row; `omen doctor --devices` measures it)
//   gpu           multiprocessors, fp32_lanes, fp32_matrix_flops (where matrix units take fp32),
//                 chips (that programs see as devices of their own; the figures are of all)
//   cpu           cores, threads, fp32_flops_per_cycle (of a core), l3_bytes
//   accelerator   pes
struct PublishedDevice {
  std::string name;
  std::vector<std::string> aliases;
  std::string kind;  // "gpu", "cpu" or "accelerator"
  std::string vendor, architecture, note;
  int year = 0;
  std::map<std::string, double> figures;
  struct Source {
    std::string url;
    std::vector<std::string> figures;
    bool opened = true;  // false: it could not be opened when the figures were written down
  };
  std::vector<Source> sources;

  std::optional<double> figure(const std::string& key) const;
  // Where a figure was published; nullptr for one that is not there.
  const Source* find_source(const std::string& key) const;
  // Its address; empty for a figure that is not there.
  std::string source_of(const std::string& key) const;
};

// data/devices/*.json, compiled into the library; in the order of the files.
const std::vector<PublishedDevice>& published_devices();
// One such file. OMEN_INVALID_DATA with the device and what is wrong with it.
std::vector<PublishedDevice> parse_devices(std::string_view json, const std::string& origin);

// The device that a driver's or a user's spelling means: "Tesla V100-SXM2-16GB", "GTX1080",
// "AMD EPYC 7742 64-Core Processor", "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz". Every word of
// one of its names must occur; the name with most words wins. nullptr where none fits.
const PublishedDevice* find_device(std::string_view spelling);
// Names of devices that a spelling may have meant, best first.
std::vector<std::string> near_devices(std::string_view spelling, std::size_t most = 3);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_DEVICE_REGISTRY_HPP
