// SPDX-License-Identifier: Apache-2.0
// Runs the kernels one after the other, each in a process of its own, and fits the correction.
#include "opencl/calibrate_command.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "graph/calibration.hpp"
#include "omen/pending_file.hpp"
#include "opencl/forecast.hpp"
#include "opencl/measured_run.hpp"
#include "opencl/own_kernels.hpp"
#include "opencl/profiler.hpp"
#include "opencl/record.hpp"

namespace omen::loadbalance {
namespace {

constexpr const char* kCalibrate = "loadbalance.calibrate";

SplitOptions options_of(const OwnKernel& kernel, const CalibrateOptions& options) {
  SplitOptions made;
  made.kernel = kernel.name;
  made.global = kernel.global;
  made.local = kernel.local;
  made.arg = kernel.args;
  made.on = options.on;
  made.repeats = options.repeats;
  made.kernel_timeout = options.kernel_timeout;
  return made;
}

struct Row {
  std::string kernel;
  MeasuredRun measured;
  std::optional<Forecast> predicted;
};

Table rows_table(const std::vector<Row>& rows, const Calibration* fitted) {
  std::vector<std::string> kernels;
  std::vector<double> first, second, share, predicted_first, predicted_second;
  std::vector<bool> known;
  for (const Row& row : rows) {
    kernels.push_back(row.kernel);
    first.push_back(row.measured.alone_ms(0));
    second.push_back(row.measured.alone_ms(1));
    share.push_back(row.measured.split_share);
    known.push_back(fitted && row.predicted && row.predicted->first_ms && row.predicted->second_ms);
    predicted_first.push_back(known.back() ? *row.predicted->first_ms * std::exp(fitted->log_cpu)
                                           : 0);
    predicted_second.push_back(known.back() ? *row.predicted->second_ms * std::exp(fitted->log_gpu)
                                            : 0);
  }
  const Metadata ms = {{"omen.unit", "ms"}};
  TableBuilder builder;
  builder.add_strings("kernel", kernels)
      .add("first_device", std::move(first), ms)
      .add("second_device", std::move(second), ms)
      .add("best_split", std::move(share), {{"omen.unit", "%"}});
  if (fitted) {
    builder.add("corrected_first", std::move(predicted_first), ms).valid(known);
    builder.add("corrected_second", std::move(predicted_second), ms).valid(known);
  }
  return builder.finish();
}

std::vector<CalibrationPoint> points_of(const std::vector<Row>& rows) {
  std::vector<CalibrationPoint> points;
  for (const Row& row : rows)
    if (row.predicted && row.predicted->first_ms && row.predicted->second_ms)
      points.push_back({*row.predicted->first_ms, *row.predicted->second_ms,
                        row.measured.alone_ms(0), row.measured.alone_ms(1)});
  return points;
}

Table result_table(const Calibration& fitted, const std::string& file) {
  const auto factor = [](double log) {
    char text[48];
    std::snprintf(text, sizeof text, "%.3g x the predicted time", std::exp(log));
    return std::string(text);
  };
  return TableBuilder()
      .add_strings("what", {"first device", "second device", "kernels", "kept in"})
      .add_strings("value", {fitted.cpu + ": " + factor(fitted.log_cpu),
                             fitted.gpu + ": " + factor(fitted.log_gpu),
                             std::to_string(fitted.kernels), file})
      .finish();
}

}  // namespace

int CalibrateCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                          const Run& run) {
  if (!args.empty())
    throw Error(OMEN_INVALID_ARGUMENT,
                "calibrate takes no argument, but '" + args[0] + "' was given",
                "see its options with: omen loadbalance calibrate --help");
  const std::string directory = run.scratch_dir().empty()
                                    ? std::filesystem::temp_directory_path().string()
                                    : run.scratch_dir();
  const auto count = static_cast<std::size_t>(options_.kernels);
  std::vector<Row> rows;
  std::string why;
  for (std::size_t i = 0; i < count; ++i) {
    const OwnKernel& kernel = divisible_kernels()[i];
    run.step(static_cast<double>(i) / static_cast<double>(count), kernel.name);
    const std::string path = directory + "/" + kernel.name + ".cl";
    replace_file(path, kernel.source);
    const SplitOptions settings = options_of(kernel, options_);
    const KernelLaunch job = prepare_launch(run, path, settings);
    const auto tables = kernel_tables(run, path, settings, kernel.name,
                                      static_cast<double>(job.range.group_items()),
                                      static_cast<double>(job.buffer_bytes()));
    Row row{kernel.name, measure_run(run, path, settings, shares::kFind, 50), std::nullopt};
    if (!row.measured.agreement.equal)
      throw Error(OMEN_INTERNAL,
                  std::string("kernel ") + kernel.name +
                      " gives other results when it is divided on these devices",
                  "choose other devices with --on");
    row.predicted = forecast(run, tables, options_.predictor, options_.model, why, true);
    if (!options_.record.empty()) record_run(options_.record, tables, row.measured);
    rows.push_back(std::move(row));
  }
  const std::vector<CalibrationPoint> points = points_of(rows);
  if (points.empty()) {
    log(OMEN_LOG_WARN, kCalibrate, "no correction was fitted: " + why);
    out.put("kernels", rows_table(rows, nullptr));
    return 0;
  }
  Calibration fitted = fit_calibration(points);
  fitted.cpu = rows[0].measured.devices[0].name;
  fitted.gpu = rows[0].measured.devices[1].name;
  const std::filesystem::path file =
      options_.file.empty() ? calibration_file() : std::filesystem::path(options_.file);
  write_calibration(fitted, file);
  out.put("kernels", rows_table(rows, &fitted));
  out.put("result", result_table(fitted, file.string()));
  return 0;
}

}  // namespace omen::loadbalance
