// SPDX-License-Identifier: Apache-2.0
// Bounds and features of single operations.
#include "step/op_work.hpp"

#include <algorithm>
#include <cmath>

namespace omen::driple {
namespace {

using opgraph::Op;
using opgraph::OpClass;
using opgraph::Precision;

// Winograd's F(4x4, 3x3) multiplies 36 times where the direct form does 144 times
// (doi:10.1109/CVPR.2016.435).
constexpr double kWinogradSaving = 4;
constexpr double kTile = 128;

bool is_narrow(Precision precision) {
  return precision == Precision::fp8 || precision == Precision::int8 || precision == Precision::fp4;
}

bool is_wide(Precision precision) {
  return precision == Precision::fp32 || precision == Precision::fp64;
}

float log_of(double value) {
  return static_cast<float>(std::log(std::max(value, 1e-9)));
}

double at_least_one(std::int64_t value) {
  return static_cast<double>(std::max<std::int64_t>(value, 1));
}

// Blocks that a device works on at once, and how much of the last round and of the tiles is empty.
struct Tiling {
  double waves = 0, last_wave = 0, rows = 0, columns = 0;
};
Tiling tiling_of(double batch, double m, double n, const Device& device) {
  const double down = std::ceil(m / kTile), across = std::ceil(n / kTile);
  const double waves = batch * down * across / device.multiprocessors;
  return {waves, std::ceil(waves) / waves, down * kTile / m, across * kTile / n};
}

// Where few kinds of devices were measured, dimensions would tell them apart by their grids:
// leaving them out is better on families of GPUs that were left out.
bool sees_dimensions(Family family) {
  return family == Family::convolution || family == Family::prefill;
}
// Of cards whose limit is not published.
constexpr double kUsualPower = 250;  // W

// On fp32 units power decides how much of the peak rate lasts: as watts, and for each rate.
enum PowerColumn : int { kRatio = 5, kWattsOfRate = 10, kWatts = 11 };
void describe_wide_product(const Op& op, const Device& device, OpFeatures& f) {
  const double power = device.power > 0 ? device.power : kUsualPower;
  f[0] = op.batch > 1 ? 1 : 0;
  f[1] = log_of(std::min(at_least_one(op.m), at_least_one(op.n)));
  f[3] = log_of(at_least_one(op.k));
  f[4] = 0;
  f[kWattsOfRate] = log_of(power / device.matrix32 * 1e12);
  f[kWatts] = log_of(power);
}

// How long a product on tensor units takes says nothing more about its efficiency beyond this.
constexpr double kLongKernel = 20;  // us

void describe_blocks(const Op& op, Family family, const Device& device, const Bound& bound,
                     OpFeatures& f) {
  const double batch = at_least_one(op.batch), m = at_least_one(op.m), n = at_least_one(op.n);
  const bool attention = family == Family::prefill || family == Family::decode;
  // Images of a convolution are rows of one product.
  const Tiling tiling = family == Family::convolution ? tiling_of(1, batch * m, n, device)
                        : attention                   ? tiling_of(batch, m, 1, device)
                                                      : tiling_of(batch, m, n, device);
  f[4] = log_of(op.flops / std::max(op.bytes_read + op.bytes_written, 1.0));
  f[6] = log_of(tiling.waves);
  if (family == Family::decode) return;
  f[5] = log_of(bound.compute / std::max(bound.memory, 1e-12));
  f[7] = log_of(tiling.last_wave);
  f[8] = log_of(tiling.rows);
  f[9] = log_of(tiling.columns);
}

// From one device to the next over a link; no library that was measured needs less.
constexpr double kHop = 0.5e-6;  // s

double ring_hops(const Op& op) {
  const double ranks = at_least_one(op.ranks);
  if (op.kind == OpClass::send) return 1;
  return (op.kind == OpClass::all_reduce ? 2 : 1) * (ranks - 1);
}

// Libraries choose their protocol by the size; how it compares with the hops says what limits.
enum CollectiveColumn : int { kBytes = 1, kOverHops = 5 };
void describe_collective(const Op& op, const Device& device, OpFeatures& f) {
  f[0] = log_of(at_least_one(op.ranks));
  f[kBytes] = log_of(std::max(op.bytes_read, op.bytes_written));
  f[kOverHops] = log_of(bound_of(op, device).seconds() / (kHop * ring_hops(op)));
  f[2] = op.kind == OpClass::all_reduce ? 1 : 0;
  f[3] = op.kind == OpClass::all_to_all ? 1 : 0;
  f[4] = device.interconnect > device.link ? 1 : 0;  // without links of their own all go over PCIe
}

// Traffic has no tiles; what kind of pass it is takes their place.
void describe_traffic(const Op& op, OpFeatures& f) {
  const bool softmax = op.kind == OpClass::softmax, norm = op.kind == OpClass::norm;
  const bool activation = op.kind == OpClass::activation;
  double row = 1;
  for (const std::int64_t extent : op.shape)
    if (extent > 0) row = static_cast<double>(extent);
  // Only passes of single elements were measured with several inputs; all other kinds of traffic
  // are asked about as copies.
  if (op.kind == OpClass::elementwise)
    f[0] = log_of(op.bytes_read / std::max(op.bytes_written, 1.0));
  f[1] = softmax || norm ? log_of(row) : 0;
  f[2] = softmax ? 1 : 0;
  f[3] = norm ? 1 : 0;
  f[4] = activation ? 1 : 0;
}

}  // namespace

bool takes_winograd(const Op& op) {
  return op.kind == OpClass::conv && op.kernel == 9 && op.stride == 1 && op.groups <= 1;
}

const char* family_word(Family family) {
  constexpr const char* kWords[kFamilyCount] = {"product32", "product16", "product8", "convolution",
                                                "prefill",   "decode",    "traffic",  "collective"};
  return kWords[static_cast<std::size_t>(family)];
}

bool is_collective(OpClass kind) {
  return kind == OpClass::all_reduce || kind == OpClass::all_gather ||
         kind == OpClass::reduce_scatter || kind == OpClass::all_to_all || kind == OpClass::send;
}

std::optional<Family> family_of(const Op& op) {
  if (is_collective(op.kind))
    return op.ranks > 1 ? std::optional(Family::collective) : std::nullopt;
  if (op.kernels <= 0) return std::nullopt;
  switch (op.kind) {
    case OpClass::matmul:
      return is_narrow(op.precision) ? Family::product8
             : is_wide(op.precision) ? Family::product32
                                     : Family::product16;
    case OpClass::conv:
    case OpClass::depthwise_conv:
      return Family::convolution;
    case OpClass::attention:
      return op.m > 1 ? Family::prefill : Family::decode;
    default:
      return Family::traffic;
  }
}

Bound bound_of(const Op& op, const Device& device) {
  if (is_collective(op.kind)) return {0, collective_volume(op) / device.interconnect};
  const bool on_matrices =
      op.kind == OpClass::matmul || op.kind == OpClass::conv || op.kind == OpClass::attention;
  const double peak = on_matrices ? device.matrix_peak(op.precision) : device.fp32;
  const double saving = takes_winograd(op) ? kWinogradSaving : 1;
  return {op.flops / saving / peak, (op.bytes_read + op.bytes_written) / device.bandwidth};
}

double reference_of(const Op& op, const Device& device) {
  const double bound = bound_of(op, device).seconds();
  return is_collective(op.kind) ? bound + kHop * ring_hops(op) : bound;
}

double collective_volume(const Op& op) {
  const double ranks = at_least_one(op.ranks), bytes = std::max(op.bytes_read, op.bytes_written);
  if (op.kind == OpClass::send) return bytes;
  const double ring = (ranks - 1) / ranks * bytes;
  return op.kind == OpClass::all_reduce ? 2 * ring : ring;
}

std::vector<std::vector<int>> hidden_features(Family family) {
  if (family == Family::collective) return {{kBytes}, {kOverHops}};
  if (family != Family::product32) return {};
  return {{kWatts}, {kWattsOfRate, kRatio}, {kWattsOfRate}};
}

OpFeatures op_features(const Op& op, Family family, const Device& device) {
  OpFeatures f{};
  const Bound bound = bound_of(op, device);
  const double bytes = std::max(op.bytes_read + op.bytes_written, 1.0);
  const double microseconds = bound.seconds() * 1e6;
  if (family == Family::traffic) {
    describe_traffic(op, f);
    f[13] = log_of(microseconds);
    return f;
  }
  if (family == Family::collective) {
    describe_collective(op, device, f);
    return f;
  }
  describe_blocks(op, family, device, bound, f);
  if (family == Family::product32) {
    describe_wide_product(op, device, f);
    return f;
  }
  const bool attention = family == Family::prefill || family == Family::decode;
  const bool convolution = family == Family::convolution;
  if (sees_dimensions(family)) {
    f[0] = log_of(at_least_one(op.batch));
    f[1] = log_of(at_least_one(op.m));
    f[2] = log_of(at_least_one(op.n));
    f[3] = log_of(at_least_one(op.k));
    f[10] = log_of(at_least_one(convolution ? op.kernel : op.groups));
    f[11] = convolution ? static_cast<float>(op.stride) : 0;
    f[12] = log_of(bytes / device.multiprocessors);
  }
  f[13] = log_of(attention || sees_dimensions(family) ? microseconds
                                                      : std::min(microseconds, kLongKernel));
  return f;
}

}  // namespace omen::driple
