// SPDX-License-Identifier: Apache-2.0
// Accesses of each level of a memory hierarchy under an explicit loop nest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace omen::power {

// Filter rows and columns, output rows and columns, input channels, filters, images.
enum class LoopDim : std::uint8_t { r, s, p, q, c, m, n };
inline constexpr std::size_t kLoopDims = 7;
enum class Tensor : std::uint8_t { weights, inputs, outputs };
inline constexpr std::size_t kTensors = 3;

struct Loop {
  LoopDim dim = LoopDim::r;
  double bound = 1;
  bool spatial = false;
};

// A storage level with the loops that run inside it, the outermost first.
struct NestLevel {
  std::string name;
  std::array<bool, kTensors> keeps{};
  std::vector<Loop> loops;
};

struct LoopNest {
  std::vector<NestLevel> levels;  // the outermost first
  double stride_h = 1, stride_w = 1;
};

// Words of one tensor at one instance of a level.
struct Accesses {
  double tile = 0, reads = 0, fills = 0, updates = 0;
  double instances = 1;
};

struct NestCounts {
  std::vector<std::array<Accesses, kTensors>> levels;  // zeros for what a level does not keep
  double cycles = 1, computes = 1;
};

// A tile is what all loops at and inside a level touch. It is loaded anew whenever an outer loop
// that matters to it advances; where the innermost outer loop slides over inputs only the new part
// is. Spatial loops that do not matter to a tensor share one read, or add up one output.
NestCounts analyse(const LoopNest& nest);

}  // namespace omen::power
