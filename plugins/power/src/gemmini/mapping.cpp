// SPDX-License-Identifier: Apache-2.0
// Counts rows of the array and lines of memory from the loops of a mapping.
#include "gemmini/mapping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

namespace omen::power {
namespace {

constexpr double kSide = 16, kLineBytes = 64, kFarBytes = 512;
constexpr std::string_view kLoopLetters = "CKPQRS";
constexpr std::string_view kOfWeights = "CKRS", kOfInputs = "CPQRS", kOfOutputs = "KPQ";

struct Factor {
  char loop;
  double bound;
};

struct Levels {
  std::vector<Factor> outer;  // of memory, from outside
  LoopSizes inner{1, 1, 1, 1, 1, 1};
  LoopSizes spatial{1, 1, 1, 1, 1, 1};  // part of the inner ones
};

std::optional<Levels> parse_levels(const std::string& mapping) {
  Levels made;
  std::istringstream words(mapping);
  int level = -1;
  for (std::string word; words >> word;) {
    if (word == "-") continue;
    if (word[0] == 'L' && word.find('[') != std::string::npos) {
      ++level;
      continue;
    }
    char* end = nullptr;
    const double bound = std::strtod(word.c_str() + 1, &end);
    if (level < 0 || !(bound >= 1) || (*end != '\0' && *end != 'X')) return std::nullopt;
    if (word[0] == 'N' && bound == 1) continue;
    const std::size_t loop = kLoopLetters.find(word[0]);
    if (loop == std::string_view::npos) return std::nullopt;
    if (level == 0)
      made.outer.push_back({word[0], bound});
    else
      made.inner[loop] *= bound;
    if (level > 0 && *end == 'X') made.spatial[loop] *= bound;
  }
  if (level != 3) return std::nullopt;
  return made;
}

bool holds(std::string_view letters, char loop) {
  return letters.find(loop) != std::string_view::npos;
}

// How often a tile is loaded: the innermost run of loops that do not concern it leaves it in place.
double loads(const std::vector<Factor>& outer, std::string_view of) {
  double count = 1;
  bool in_place = true;
  for (auto factor = outer.rbegin(); factor != outer.rend(); ++factor) {
    if (factor->bound == 1 || (in_place && !holds(of, factor->loop))) continue;
    in_place = false;
    count *= factor->bound;
  }
  return count;
}

double parts(double size, double unit) {
  return std::ceil(size / unit);
}

// Tiles of a product of matrices are counted in blocks of 16, and RTL runs show that a block covers
// as much as the mapping spreads over the array.
void cut_into_blocks(Levels& levels, const LoopSizes& sizes) {
  const double block = *std::max_element(levels.spatial.begin(), levels.spatial.end());
  for (const Loop loop : {Loop::c, Loop::k, Loop::p}) {
    const auto at = static_cast<std::size_t>(loop);
    levels.inner[at] = std::min(sizes[at], block * parts(levels.inner[at], kSide));
    bool cut = false;
    for (Factor& factor : levels.outer)
      if (factor.loop == kLoopLetters[at]) {
        factor.bound = cut ? 1 : parts(sizes[at], levels.inner[at]);
        cut = true;
      }
    if (!cut) levels.outer.push_back({kLoopLetters[at], parts(sizes[at], levels.inner[at])});
  }
}

}  // namespace

std::optional<TiledWork> tile(const LoopSizes& sizes, double stride, const std::string& mapping) {
  std::optional<Levels> levels = parse_levels(mapping);
  if (!levels) return std::nullopt;
  const auto inner = [&](Loop loop) { return size_of(levels->inner, loop); };
  LoopSizes covered = levels->inner;
  for (const Factor& factor : levels->outer)
    covered[kLoopLetters.find(factor.loop)] *= factor.bound;
  for (std::size_t i = 0; i < kLoops; ++i)
    if (covered[i] < sizes[i]) return std::nullopt;
  if (size_of(sizes, Loop::q) * size_of(sizes, Loop::r) * size_of(sizes, Loop::s) == 1)
    cut_into_blocks(*levels, sizes);
  TiledWork made;
  double distinct_outputs = 1;
  for (const Factor& factor : levels->outer) {
    made.tiles *= factor.bound;
    if (holds(kOfOutputs, factor.loop)) distinct_outputs *= factor.bound;
  }
  const double window = inner(Loop::r) * inner(Loop::s);
  const double passes = made.tiles * window * parts(inner(Loop::c), kSide) *
                        parts(inner(Loop::k), kSide) * inner(Loop::q);
  made.rows_in_block = std::fmod(inner(Loop::p), kSide);
  made.full_rows = passes * (inner(Loop::p) - made.rows_in_block);
  made.blocks = made.rows_in_block > 0 ? passes : 0;
  const double weights = loads(levels->outer, kOfWeights) * window * inner(Loop::c) *
                         parts(inner(Loop::k), kLineBytes);
  made.weight_again = made.tiles * window * inner(Loop::c) * parts(inner(Loop::k), kLineBytes);
  const double filters = size_of(sizes, Loop::k), channels = size_of(sizes, Loop::c);
  if (inner(Loop::k) >= filters)
    made.weight_lines = weights;
  else if (filters >= kFarBytes && inner(Loop::k) <= kLineBytes)
    made.weight_far_parts = weights;
  else
    made.weight_parts = weights;
  const double high = (inner(Loop::p) - 1) * stride + inner(Loop::r),
               wide = (inner(Loop::q) - 1) * stride + inner(Loop::s);
  const double inputs =
      loads(levels->outer, kOfInputs) * high * wide * parts(inner(Loop::c), kLineBytes);
  made.input_again = made.tiles * high * wide * parts(inner(Loop::c), kLineBytes);
  (inner(Loop::c) >= channels ? made.input_lines : made.input_parts) = inputs;
  const double pixels = inner(Loop::p) * inner(Loop::q) * parts(inner(Loop::k), kSide);
  (filters < kSide ? made.narrow_output_rows : made.output_rows) = distinct_outputs * pixels;
  made.sums_moved = 2 * std::max(0.0, loads(levels->outer, kOfOutputs) - distinct_outputs) * pixels;
  return made;
}

}  // namespace omen::power
