// SPDX-License-Identifier: Apache-2.0
// Cycles of a Gemmini array: the slower of arithmetic and memory, with a few learnt costs.
#pragma once

#include <functional>
#include <omen/learn/matrix.hpp>
#include <string>
#include <vector>

#include "gemmini/mapping.hpp"

namespace omen::power {

struct MeasuredCycles {
  TiledWork work;
  double cycles = 0;
  std::string group;  // rows of one group are held out together
};

// Costs as logarithms: rows and the least rows of a block, lines of each kind, a tile, a start, and
// how far arithmetic and memory overlap. They stay near what one 64-byte line takes on an 8-byte
// bus; how near is chosen by holding out groups.
class CycleModel {
 public:
  // OMEN_INVALID_DATA for fewer than twenty rows.
  // `step` is called between parts of the work, and may throw.
  void fit(
      const std::vector<MeasuredCycles>& rows, const std::function<void()>& step = [] {});
  double cycles(const TiledWork& work) const;

  const learn::Vector& costs() const { return costs_; }
  void restore(learn::Vector costs) { costs_ = std::move(costs); }
  static learn::Index cost_count();
  // Absolute misses of logarithms on groups that were held out, ascending.
  const std::vector<double>& misses() const { return misses_; }

 private:
  learn::Vector costs_;
  std::vector<double> misses_;
};

}  // namespace omen::power
