// SPDX-License-Identifier: Apache-2.0
// A convolution on a Gemmini array, and how a mapping cuts it into tiles.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace omen::power {

// Loops of a convolution: input channels, filters, output pixels in two directions, window.
enum class Loop : unsigned char { c, k, p, q, r, s };
inline constexpr std::size_t kLoops = 6;
using LoopSizes = std::array<double, kLoops>;
inline double size_of(const LoopSizes& sizes, Loop loop) {
  return sizes[static_cast<std::size_t>(loop)];
}

// What one run does to the array and to memory; lines have 64 bytes.
struct TiledWork {
  double tiles = 1;
  double full_rows = 0;  // rows of blocks of 16 pixels
  double blocks = 0;     // further blocks with fewer rows
  double rows_in_block = 0;
  // Lines that are read: whole rows of a matrix, parts of rows, and parts of rows far apart.
  double weight_lines = 0, weight_parts = 0, weight_far_parts = 0;
  double input_lines = 0, input_parts = 0;
  double output_rows = 0, narrow_output_rows = 0;
  double weight_again = 0, input_again = 0;  // as if no tile kept anything of the one before
  double sums_moved = 0;                     // rows of partial sums that leave and return
};

// `mapping` is Timeloop's text: levels from memory to registers, "L3[WIO] K48 - L2[WI] K16X - ...".
// Nothing where the text is none, or its factors do not multiply to the sizes.
std::optional<TiledWork> tile(const LoopSizes& sizes, double stride, const std::string& mapping);

}  // namespace omen::power
