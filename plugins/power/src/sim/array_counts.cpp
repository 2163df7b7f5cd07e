// SPDX-License-Identifier: Apache-2.0
// Closed forms of systolic arrays, and the passes of a row-stationary one.
#include "sim/array_counts.hpp"

#include <algorithm>

namespace omen::power {
namespace {

// Filling and draining of a row-stationary array takes the rest.
constexpr double kRowStationaryBusy = 0.87;
// Words of filters, inputs and partial sums in an element of the published chip.
constexpr double kFilterWords = 224, kInputWords = 12, kSumWords = 24;
constexpr double kAllWords = kFilterWords + kInputWords + kSumWords;

// Two dimensions are laid over the array in folds, the third streams through.
struct Folded {
  double over_rows, over_cols, streamed;
  double fill;       // cycles of a fold beside the streamed ones
  double util_fill;  // the same as the utilisation counts it
};

Folded fold(Dataflow dataflow, double m, double k, double n, double rows, double cols) {
  switch (dataflow) {
    case Dataflow::ws:
      return {k, n, m, 2 * rows + cols - 2, 2 * rows + 2 * cols - 3};
    case Dataflow::is:
      return {k, m, n, 2 * rows + cols - 2, 2 * rows + 2 * cols - 3};
    default:
      return {m, n, k, rows + cols - 2, rows + cols - 2};
  }
}

ArrayCounts count_systolic(const ArrayLayer& layer, const Hardware& hw, Counting counting) {
  // Products of activations differ from image to image, so they do not share a stream.
  const double images = layer.second_changes ? 1 : hw.batch;
  const double repeats = layer.groups * hw.batch / images;
  const double m = layer.m * images, k = layer.k, n = layer.n;
  const Folded shape = fold(hw.dataflow, m, k, n, hw.rows, hw.cols);
  const double row_folds = ceil_div(shape.over_rows, hw.rows);
  const double col_folds = ceil_div(shape.over_cols, hw.cols);
  const double folds = row_folds * col_folds;
  ArrayCounts made;
  made.cycles = folds * (shape.streamed + shape.fill);
  made.ifmap_reads = m * k;
  made.filter_reads = k * n;
  made.ofmap_writes = m * n;
  switch (hw.dataflow) {
    case Dataflow::ws:
      made.ifmap_reads *= col_folds;
      made.ofmap_writes *= row_folds;
      break;
    case Dataflow::is:
      made.filter_reads *= col_folds;
      made.ofmap_writes *= row_folds;
      break;
    default:
      made.ifmap_reads *= col_folds;
      made.filter_reads *= row_folds;
  }
  const double room = hw.rows * hw.cols * folds;
  made.mapping_efficiency = shape.over_rows * shape.over_cols / room;
  made.compute_utilisation =
      made.mapping_efficiency * shape.streamed / (shape.streamed + shape.util_fill);
  made.cycles *= repeats;
  made.ifmap_reads *= repeats;
  made.filter_reads *= repeats;
  made.ofmap_writes *= repeats;
  if (counting == Counting::scale_sim) {
    made.cycles -= 1;
    if (hw.dataflow == Dataflow::os) made.ofmap_writes += folds * (hw.rows + hw.cols);
  }
  return made;
}

// Loops from outside: images, row folds, filter passes, channel passes. Channels run innermost, so
// filters and inputs are read anew in every pass and partial sums return between channel passes.
ArrayCounts count_row_stationary(const ArrayLayer& layer, const Hardware& hw) {
  const RowStationaryFit fit = fit_rows(layer, hw);
  const double halo = 1 + (fit.row_folds - 1) * std::max(0.0, layer.kh - layer.stride) / layer.rows;
  ArrayCounts made;
  made.cycles = layer.macs * hw.batch / fit.active / kRowStationaryBusy;
  made.ifmap_reads = layer.inputs * hw.batch * halo * fit.filter_passes;
  made.filter_reads = layer.k * layer.n * layer.groups * hw.batch * fit.row_folds;
  made.ofmap_writes = layer.outputs * hw.batch * (2 * fit.channel_passes - 1);
  made.mapping_efficiency = fit.active / (hw.rows * hw.cols);
  made.compute_utilisation = made.mapping_efficiency * kRowStationaryBusy;
  return made;
}

}  // namespace

RowStationaryFit fit_rows(const ArrayLayer& layer, const Hardware& hw) {
  const double kh = layer.kh, out_rows = layer.out_rows;
  RowStationaryFit fit;
  double high_folds = 1, copies_high = 1, copies_wide = 1;
  if (kh > hw.rows)
    high_folds = ceil_div(kh, hw.rows);
  else
    copies_high = floor_div(hw.rows, kh);
  if (out_rows > hw.cols)
    fit.row_folds = ceil_div(out_rows, hw.cols);
  else
    copies_wide = floor_div(hw.cols, out_rows);
  // Copies above each other first take the folds that did not fit beside each other.
  const double taken = std::min(copies_high, fit.row_folds);
  fit.row_folds = ceil_div(fit.row_folds, taken);
  copies_high = floor_div(copies_high, taken);
  fit.sets = copies_high * copies_wide;
  fit.active = kh * out_rows * fit.sets / (high_folds * fit.row_folds);
  const double words = hw.rf_b / (hw.bits_a / 8) / kAllWords;
  fit.filters_held = std::max(1.0, std::min({layer.n, floor_div(kSumWords * words, 1),
                                             floor_div(kFilterWords * words, layer.kw)}));
  fit.channels_held =
      std::max(1.0, std::min({layer.channels, floor_div(kInputWords * words, layer.kw),
                              floor_div(kFilterWords * words, layer.kw * fit.filters_held)}));
  fit.filter_passes = ceil_div(layer.n, fit.filters_held * fit.sets);
  fit.channel_passes = ceil_div(layer.channels, fit.channels_held) * high_folds;
  return fit;
}

ArrayCounts count_array(const ArrayLayer& layer, const Hardware& hardware, Counting counting) {
  return hardware.dataflow == Dataflow::rs ? count_row_stationary(layer, hardware)
                                           : count_systolic(layer, hardware, counting);
}

}  // namespace omen::power
