// SPDX-License-Identifier: Apache-2.0
// Figures of the registry become one chip's rates.
#include "step/device.hpp"

#include <algorithm>

namespace omen::driple {

const std::vector<std::string>& device_figures() {
  static const std::vector<std::string> names = {"fp32_flops",       "fp32_matrix_flops",
                                                 "tf32_flops",       "fp16_flops",
                                                 "bf16_flops",       "fp8_flops",
                                                 "fp4_flops",        "int8_ops",
                                                 "memory_bytes",     "bandwidth_bytes_per_s",
                                                 "multiprocessors",  "tdp_w",
                                                 "link_bytes_per_s", "interconnect_bytes_per_s",
                                                 "launch_s",         "chips"};
  return names;
}

double Device::matrix_peak(opgraph::Precision precision) const {
  using opgraph::Precision;
  switch (precision) {
    case Precision::fp64:
    case Precision::fp32:
      return matrix32;
    case Precision::tf32:
      return tf32;
    case Precision::bf16:
    case Precision::fp16:
      return half;
    case Precision::fp8:
    case Precision::int8:
      return fp8;
    case Precision::fp4:
      return fp4;
  }
  return matrix32;
}

std::optional<Device> device_of(const FigureSource& figure) {
  const auto known = [&](const char* name) {
    const std::optional<double> value = figure(name);
    return value && *value > 0 ? *value : 0.0;
  };
  const double chips = std::max(known("chips"), 1.0);
  Device device;
  device.fp32 = known("fp32_flops") / chips;
  device.bandwidth = known("bandwidth_bytes_per_s") / chips;
  device.multiprocessors = known("multiprocessors") / chips;
  if (device.fp32 == 0 || device.bandwidth == 0 || device.multiprocessors == 0) return std::nullopt;
  device.matrix32 = std::max(device.fp32, known("fp32_matrix_flops") / chips);
  device.tf32 = std::max(device.matrix32, known("tf32_flops") / chips);
  // Rates of tensor units with sums in fp32 stand under bf16 where a vendor halves them.
  const double half = known("bf16_flops") > 0 ? known("bf16_flops") : known("fp16_flops");
  device.half = std::max(device.fp32, half / chips);
  device.fp8 = std::max(device.half, std::max(known("fp8_flops"), known("int8_ops")) / chips);
  device.fp4 = std::max(device.fp8, known("fp4_flops") / chips);
  device.memory = known("memory_bytes") / chips;
  device.power = known("tdp_w") / chips;
  device.link = known("link_bytes_per_s");
  device.interconnect = std::max(known("interconnect_bytes_per_s") / 2 / chips, device.link);
  device.launch = known("launch_s");
  return device;
}

}  // namespace omen::driple
