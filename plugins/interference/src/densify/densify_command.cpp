// SPDX-License-Identifier: Apache-2.0
// Fills every group of a table and scores all methods both ways.
#include "densify/densify_command.hpp"

#include <cmath>
#include <map>
#include <omen/figure.hpp>

#include "characterise/job_table.hpp"
#include "densify/fill.hpp"

namespace omen::interference {
namespace {

using Groups = std::map<std::string, Measurements>;

Groups groups_of(const JobTable& table, const DensifyOptions& options) {
  const std::vector<double>&value = table.column(options.column),
        &batch = table.column(options.batch);
  Groups groups;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    // A row that was filled before is no measurement.
    if (std::isnan(value[row]) || std::isnan(batch[row]) || table.is_set(kSyntheticColumn, row))
      continue;
    const std::string name = table.is_text(options.group)
                                 ? table.text(options.group, row)
                                 : std::to_string(std::lround(table.column(options.group)[row]));
    groups[name].batch.push_back(batch[row]);
    groups[name].value.push_back(value[row]);
  }
  if (groups.empty())
    throw Error(OMEN_INVALID_DATA, "no row has both a batch size and a value of " + options.column);
  return groups;
}

std::vector<double> grid_of(const DensifyOptions& options, const Measurements& measured) {
  if (options.grid.empty())
    return original_grid(*std::min_element(measured.batch.begin(), measured.batch.end()));
  std::vector<double> grid;
  for (const std::string& text : listed_columns(options.grid)) {
    char* end = nullptr;
    grid.push_back(std::strtod(text.c_str(), &end));
    if (end == text.c_str() || *end != '\0' || !(grid.back() > 0))
      throw Error(OMEN_INVALID_ARGUMENT, "'" + text + "' is no batch size", "Use: --grid 8,16,32.");
  }
  return grid;
}

FillOptions fill_options(const DensifyOptions& options, CurveMethod method) {
  FillOptions made;
  made.method = method;
  made.abscissa = parse_abscissa(options.abscissa);
  made.low = options.low;
  made.high = options.high;
  made.monotone = options.monotone;
  return made;
}

Table filled_table(const Groups& groups, const DensifyOptions& options, const Run& run) {
  std::vector<std::string> group;
  std::vector<double> batch, value, deviation;
  std::vector<bool> synthetic, has_bar;
  Figure figure(options.column + " over batch size");
  figure.x_axis(FigureAxis("batch size").logarithmic()).y_axis({options.column});
  const FillOptions how = fill_options(options, parse_curve_method(options.method));
  for (const auto& [name, measured] : groups) {
    std::vector<double> x, y;
    for (const Filled& row : fill(measured, grid_of(options, measured), how)) {
      group.push_back(name);
      batch.push_back(row.batch);
      value.push_back(row.value);
      deviation.push_back(row.deviation);
      has_bar.push_back(row.deviation > 0);
      synthetic.push_back(row.is_synthetic);
      x.push_back(row.batch);
      y.push_back(row.value);
    }
    figure.lines(name, x, y);
  }
  put_figure(run, "densified", figure.json());
  return TableBuilder()
      .add_strings("group", group)
      .add("batch", std::move(batch))
      .add(options.column, std::move(value))
      .add("deviation", std::move(deviation))
      .valid(has_bar)
      .add_bools(kSyntheticColumn, synthetic)
      .finish();
}

// Every method on every group: the circular protocol of the original and what it cannot see.
Table quality_table(const Groups& groups, const DensifyOptions& options) {
  std::vector<std::string> method;
  std::vector<double> mse, rmse, mae, honest, honest_mse, honest_rmse;
  std::vector<bool> known;
  for (const CurveMethod each : all_curve_methods()) {
    const FillOptions how = fill_options(options, each);
    double squares = 0, absolute = 0, count = 0, out = 0, out_squares = 0, left_out = 0;
    for (const auto& [name, measured] : groups) {
      if (measured.batch.size() < 3) continue;
      const std::vector<double> grid = grid_of(options, measured);
      const FillErrors errors = original_errors(measured, grid, how, options.legacy_swap);
      squares += errors.mse * static_cast<double>(errors.count);
      absolute += errors.mae * static_cast<double>(errors.count);
      count += static_cast<double>(errors.count);
      for (const double miss : leave_one_out(measured, grid, how)) {
        out += miss;
        out_squares += miss * miss;
        ++left_out;
      }
    }
    method.emplace_back(curve_name(each));
    known.push_back(count > 0 && left_out > 0);
    mse.push_back(known.back() ? squares / count : 0);
    rmse.push_back(std::sqrt(mse.back()));
    mae.push_back(known.back() ? absolute / count : 0);
    honest.push_back(known.back() ? out / left_out : 0);
    honest_mse.push_back(known.back() ? out_squares / left_out : 0);
    honest_rmse.push_back(std::sqrt(honest_mse.back()));
  }
  return TableBuilder()
      .add_strings("method", method)
      .add("remade_mse", std::move(mse))
      .valid(known)
      .add("remade_rmse", std::move(rmse))
      .valid(known)
      .add("remade_mae", std::move(mae))
      .valid(known)
      .add("left_out_mse", std::move(honest_mse))
      .valid(known)
      .add("left_out_rmse", std::move(honest_rmse))
      .valid(known)
      .add("left_out_mae", std::move(honest))
      .valid(known)
      .finish();
}

}  // namespace

std::vector<Option<DensifyOptions>> DensifyOptions::spec() {
  using O = DensifyOptions;
  return options(
      opt(&O::column, "column", "what to fill"),
      opt(&O::group, "group", "column whose rows are one curve"),
      opt(&O::batch, "batch", "column with the batch size"),
      opt(&O::method, "method", "the curve")
          .choices("linear", "pchip", "barycentric", "krogh", "cubicspline", "spline2_interp",
                   "spline2_smooth", "process"),
      opt(&O::abscissa, "abscissa", "what the curve is drawn over")
          .choices("index", "batch", "log2"),
      opt(&O::grid, "grid", "batch sizes to fill, such as 8,16,32; empty: those of the original"),
      opt(&O::low, "low", "least value").range(-1e12, 1e12),
      opt(&O::high, "high", "greatest value").range(-1e12, 1e12),
      opt(&O::monotone, "monotone", "no value leaves the range of its measured neighbours"),
      opt(&O::legacy_swap, "legacy_swap",
          "score as the publication did, with two values exchanged"));
}

int DensifyCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                        const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "densify needs a table of jobs",
                "Use: omen interference densify JOBS.csv --column util_pct --group model.");
  const JobTable table = JobTable::read(args[0]);
  run.step(-1, "fill");
  const Groups groups = groups_of(table, options_);
  out.put("filled", filled_table(groups, options_, run));
  out.put("quality", quality_table(groups, options_));
  return 0;
}

Component densify_component() {
  return command<DensifyCommand, DensifyOptions>(
      "interference.densify", "values at batch sizes that nobody measured, and how good they are");
}

}  // namespace omen::interference
