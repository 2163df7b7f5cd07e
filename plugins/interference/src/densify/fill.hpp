// SPDX-License-Identifier: Apache-2.0
// Filling batch sizes that were not measured, and how good that is.
#pragma once

#include <vector>

#include "densify/curve.hpp"

namespace omen::interference {

enum class Abscissa { kIndex, kBatch, kLog2Batch };
Abscissa parse_abscissa(const std::string& name);
const char* abscissa_name(Abscissa abscissa);

struct Measurements {
  std::vector<double> batch, value;
};

struct FillOptions {
  CurveMethod method = CurveMethod::kLinear;
  Abscissa abscissa = Abscissa::kLog2Batch;
  double low = 0, high = 100;  // values are kept within
  bool monotone = false;       // between neighbours no value leaves their range
};

// Column of a filled table: whether nobody measured the row.
inline constexpr const char* kSyntheticColumn = "synthetic";

struct Filled {
  double batch, value, deviation;
  bool is_synthetic;
};

// A row for each batch of the grid and each measured one, ascending. kIndex counts these rows.
std::vector<Filled> fill(const Measurements& measured, const std::vector<double>& grid,
                         const FillOptions& options);

struct FillErrors {
  double mse = 0, rmse = 0, mae = 0;
  std::size_t count = 0;
};
FillErrors errors_of(const std::vector<double>& said, const std::vector<double>& truth);

// The original protocol: fill, forget what was measured, fill again from what was filled, and
// compare with the measurements. Any curve that passes through its nodes looks good by it.
// `swapped` compares the third and fourth of five measurements with each other, as the publication
// did.
std::vector<double> remade(const Measurements& measured, const std::vector<double>& grid,
                           const FillOptions& options);
FillErrors original_errors(const Measurements& measured, const std::vector<double>& grid,
                           const FillOptions& options, bool swapped);

// Each measured point between two others, from the others; absolute misses.
std::vector<double> leave_one_out(const Measurements& measured, const std::vector<double>& grid,
                                  const FillOptions& options);

// The 21 batch sizes of the original; `least`: the smallest measured, 2 or 10.
std::vector<double> original_grid(double least);

}  // namespace omen::interference
