// SPDX-License-Identifier: Apache-2.0
// Places measurements on an axis, draws the curve, and keeps it within bounds.
#include "densify/fill.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <omen/error.hpp>

namespace omen::interference {
namespace {

using Numbers = std::vector<double>;

struct AbscissaName {
  Abscissa abscissa;
  const char* name;
};
constexpr AbscissaName kAbscissaNames[] = {
    {Abscissa::kIndex, "index"}, {Abscissa::kBatch, "batch"}, {Abscissa::kLog2Batch, "log2"}};

Numbers batches_of(const Measurements& measured, const Numbers& grid) {
  Numbers all = measured.batch;
  all.insert(all.end(), grid.begin(), grid.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double place(double batch, const Numbers& all, Abscissa abscissa) {
  if (!(batch > 0))
    throw Error(OMEN_INVALID_DATA, "a batch size is not above 0", "Leave such rows out.");
  if (abscissa == Abscissa::kBatch) return batch;
  if (abscissa == Abscissa::kLog2Batch) return std::log2(batch);
  return static_cast<double>(std::lower_bound(all.begin(), all.end(), batch) - all.begin());
}

std::unique_ptr<Curve> curve_of(const Measurements& measured, const Numbers& all,
                                const FillOptions& options) {
  Numbers x;
  for (const double batch : measured.batch) x.push_back(place(batch, all, options.abscissa));
  return make_curve(options.method, x, measured.value);
}

// Between neighbours a monotone fill does not overshoot.
double between_neighbours(double value, double batch, const Measurements& measured) {
  const double* below = nullptr;
  const double* above = nullptr;
  double nearest_below = -1, nearest_above = INFINITY;
  for (std::size_t i = 0; i < measured.batch.size(); ++i) {
    if (measured.batch[i] <= batch && measured.batch[i] > nearest_below) {
      nearest_below = measured.batch[i];
      below = &measured.value[i];
    }
    if (measured.batch[i] >= batch && measured.batch[i] < nearest_above) {
      nearest_above = measured.batch[i];
      above = &measured.value[i];
    }
  }
  if (!below || !above) return below ? *below : *above;
  return std::clamp(value, std::min(*below, *above), std::max(*below, *above));
}

}  // namespace

Abscissa parse_abscissa(const std::string& name) {
  for (const AbscissaName& known : kAbscissaNames)
    if (name == known.name) return known.abscissa;
  throw Error(OMEN_INVALID_ARGUMENT, "there is no abscissa '" + name + "'",
              "Known are index, batch and log2.");
}

const char* abscissa_name(Abscissa abscissa) {
  for (const AbscissaName& known : kAbscissaNames)
    if (known.abscissa == abscissa) return known.name;
  return "";
}

std::vector<double> original_grid(double least) {
  if (least < 10)
    return {2,   8,   14,  20,  26,  32,  51,  70,  90,  109, 128,
            154, 180, 205, 230, 256, 409, 562, 716, 869, 1024};
  return {10,  14,  19,  23,  28,  32,  51,  70,  90,  109, 128,
          154, 180, 205, 230, 256, 409, 562, 716, 869, 1024};
}

std::vector<Filled> fill(const Measurements& measured, const Numbers& grid,
                         const FillOptions& options) {
  const Numbers all = batches_of(measured, grid);
  const std::unique_ptr<Curve> curve = curve_of(measured, all, options);
  std::vector<Filled> rows;
  for (const double batch : all) {
    const auto at = std::find(measured.batch.begin(), measured.batch.end(), batch);
    if (at != measured.batch.end()) {
      rows.push_back(
          {batch, measured.value[static_cast<std::size_t>(at - measured.batch.begin())], 0, false});
      continue;
    }
    const double x = place(batch, all, options.abscissa);
    double value = std::clamp(curve->at(x), options.low, options.high);
    if (options.monotone) value = between_neighbours(value, batch, measured);
    rows.push_back({batch, value, curve->deviation(x), true});
  }
  return rows;
}

FillErrors errors_of(const Numbers& said, const Numbers& truth) {
  FillErrors errors;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const double miss = said[i] - truth[i];
    errors.mse += miss * miss;
    errors.mae += std::abs(miss);
  }
  errors.count = said.size();
  const double count = std::max(static_cast<double>(said.size()), 1.0);
  errors.mse /= count;
  errors.mae /= count;
  errors.rmse = std::sqrt(errors.mse);
  return errors;
}

std::vector<double> remade(const Measurements& measured, const Numbers& grid,
                           const FillOptions& options) {
  const Numbers all = batches_of(measured, grid);
  const std::unique_ptr<Curve> curve = curve_of(measured, all, options);
  Measurements synthetic;
  for (const double batch : all)
    if (std::find(measured.batch.begin(), measured.batch.end(), batch) == measured.batch.end()) {
      synthetic.batch.push_back(batch);
      synthetic.value.push_back(curve->at(place(batch, all, options.abscissa)));
    }
  const std::unique_ptr<Curve> again = curve_of(synthetic, all, options);
  Numbers values;
  for (const double batch : measured.batch)
    values.push_back(again->at(place(batch, all, options.abscissa)));
  return values;
}

FillErrors original_errors(const Measurements& measured, const Numbers& grid,
                           const FillOptions& options, bool swapped) {
  Measurements sorted;
  std::map<double, double> by_batch;
  for (std::size_t i = 0; i < measured.batch.size(); ++i)
    by_batch[measured.batch[i]] = measured.value[i];
  for (const auto& [batch, value] : by_batch) {
    sorted.batch.push_back(batch);
    sorted.value.push_back(value);
  }
  Numbers truth = sorted.value;
  if (swapped && truth.size() == 5) std::swap(truth[2], truth[3]);
  return errors_of(remade(sorted, grid, options), truth);
}

std::vector<double> leave_one_out(const Measurements& measured, const Numbers& grid,
                                  const FillOptions& options) {
  const auto [least, most] = std::minmax_element(measured.batch.begin(), measured.batch.end());
  const Numbers all = batches_of(measured, grid);
  Numbers misses;
  for (std::size_t out = 0; out < measured.batch.size(); ++out) {
    if (measured.batch[out] == *least || measured.batch[out] == *most) continue;
    Measurements rest;
    for (std::size_t i = 0; i < measured.batch.size(); ++i)
      if (i != out) {
        rest.batch.push_back(measured.batch[i]);
        rest.value.push_back(measured.value[i]);
      }
    double said =
        curve_of(rest, all, options)->at(place(measured.batch[out], all, options.abscissa));
    said = std::clamp(said, options.low, options.high);
    if (options.monotone) said = between_neighbours(said, measured.batch[out], rest);
    misses.push_back(std::abs(said - measured.value[out]));
  }
  return misses;
}

}  // namespace omen::interference
