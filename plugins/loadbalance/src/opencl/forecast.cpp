// SPDX-License-Identifier: Apache-2.0
// Calls the front end and a predictor through the host.
#include "opencl/forecast.hpp"

#include <cmath>

namespace omen::loadbalance {
namespace {

Table with_columns(const Table& workloads, double wgsize, double input_bytes) {
  TableBuilder builder;
  for (std::size_t c = 0; c < workloads.columns(); ++c)
    if (workloads.name(c) != "wgsize" && workloads.name(c) != "input_size")
      builder.add_column(workloads, c);
  const auto rows = static_cast<std::size_t>(workloads.rows());
  return builder.add("wgsize", std::vector<double>(rows, wgsize))
      .add("input_size", std::vector<double>(rows, input_bytes))
      .finish();
}

std::optional<double> number(const Table& rows, const char* column) {
  const auto at = rows.find(column);
  if (!at || rows.rows() == 0 || !is_number(rows.type(*at))) return std::nullopt;
  const double value = rows.numbers(*at)[0];
  return std::isnan(value) ? std::nullopt : std::optional<double>(value);
}

Interval interval(const Table& rows, const std::string& column) {
  return {number(rows, (column + ".lo").c_str()), number(rows, (column + ".hi").c_str())};
}

}  // namespace

std::map<std::string, Table> kernel_tables(const Run& run, const std::string& path,
                                           const SplitOptions& options, const std::string& kernel,
                                           double wgsize, double input_bytes) {
  std::map<std::string, Table> tables =
      call::lower(run, "loadbalance.programl", path, front_end_options(options, kernel));
  tables["workloads"] = with_columns(tables.at("workloads"), wgsize, input_bytes);
  return tables;
}

std::optional<Forecast> forecast(const Run& run, const std::map<std::string, Table>& tables,
                                 const std::string& predictor, const std::string& model,
                                 std::string& why, bool without_calibration) {
  MemoryDataset in;
  for (const auto& [name, table] : tables) in.put(name, table);
  Forecast found;
  found.predictor = predictor;
  try {
    const Table rows = call::predict(run, predictor.c_str(), in.view(),
                                     without_calibration ? R"({"calibration": "none"})" : "", model)
                           .read_all();
    const auto status = rows.find("status");
    if (status && rows.rows() > 0) found.status = rows.strings(*status)[0];
    const std::optional<double> share = number(rows, "share");
    if (!share) {
      why = predictor + " gives no share: " + found.status;
      return std::nullopt;
    }
    found.share = *share;
    found.share_interval = interval(rows, "share");
    found.first_interval = interval(rows, "t_cpu_ms");
    found.second_interval = interval(rows, "t_gpu_ms");
    found.first_ms = number(rows, "t_cpu_ms");
    found.second_ms = number(rows, "t_gpu_ms");
    found.gain = number(rows, "gain");
  } catch (const Error& error) {
    if (error.code() == OMEN_CANCELLED) throw;
    why = error.what();
    return std::nullopt;
  }
  return found;
}

}  // namespace omen::loadbalance
