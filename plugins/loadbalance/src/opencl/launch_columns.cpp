// SPDX-License-Identifier: Apache-2.0
// Reads and checks the columns of a launch.
#include "opencl/launch_columns.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

// "input_size" as its flag is spelt.
std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

[[noreturn]] void throw_no_size(const std::string& name, const std::string& value) {
  throw Error(OMEN_INVALID_ARGUMENT, flag_of(name) + " is '" + value + "', not a size",
              "write a whole number above zero, such as 256, 64k or 1Mi");
}

std::string plain(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// Unknown where the column or a value is missing.
std::vector<double> size_column(const Table& workloads, const char* name) {
  std::vector<double> values(static_cast<std::size_t>(workloads.rows()),
                             std::numeric_limits<double>::quiet_NaN());
  const auto column = workloads.find(name);
  if (!column || workloads.rows() == 0) return values;
  if (is_text(workloads.type(*column)))
    throw_no_size(name, std::string(workloads.strings(*column)[0]));
  if (!is_number(workloads.type(*column))) return values;
  const std::vector<double> given = workloads.numbers(*column);
  bool any = false, positive = false;
  for (std::int64_t row = 0; row < workloads.rows(); ++row) {
    const double value = given[static_cast<std::size_t>(row)];
    if (workloads.is_null(*column, row) || std::isnan(value)) continue;
    if (value < 0 || value != std::floor(value)) throw_no_size(name, plain(value));
    any = true;
    positive |= value > 0;
    values[static_cast<std::size_t>(row)] = value;
  }
  if (any && !positive) throw_no_size(name, "0");
  return values;
}

// Sizes by dimension, as text or as one number.
std::vector<Sizes> sizes_column(const Table& workloads, const char* name) {
  std::vector<Sizes> sizes(static_cast<std::size_t>(workloads.rows()));
  const auto column = workloads.find(name);
  if (!column) return sizes;
  if (is_number(workloads.type(*column))) {
    const std::vector<double> values = size_column(workloads, name);
    for (std::size_t row = 0; row < sizes.size(); ++row)
      if (values[row] > 0) {
        sizes[row].count = 1;
        sizes[row].size[0] = static_cast<std::size_t>(values[row]);
      }
  } else if (is_text(workloads.type(*column))) {
    const StringColumn texts = workloads.strings(*column);
    for (std::int64_t row = 0; row < workloads.rows(); ++row)
      if (!texts.is_null(row))
        sizes[static_cast<std::size_t>(row)] = parse_sizes(texts[row], flag_of(name));
  }
  return sizes;
}

double product(const Sizes& sizes) {
  double items = 1;
  for (const std::size_t size : sizes.size) items *= static_cast<double>(size);
  return items;
}

}  // namespace

std::vector<LaunchFigures> launch_figures(const Table& workloads) {
  const std::vector<double> wgsize = size_column(workloads, "wgsize"),
                            input_size = size_column(workloads, "input_size");
  const std::vector<Sizes> global = sizes_column(workloads, "global"),
                           local = sizes_column(workloads, "local");
  std::vector<LaunchFigures> figures(wgsize.size());
  for (std::size_t row = 0; row < figures.size(); ++row) {
    LaunchFigures& one = figures[row];
    one.global = global[row];
    one.local = local[row];
    one.wgsize = local[row].count > 0 ? product(local[row]) : wgsize[row];
    one.input_size = input_size[row];
    if (std::isnan(one.input_size) && global[row].count > 0)
      one.input_size = static_cast<double>(kBytesPerItem) * product(global[row]);
  }
  return figures;
}

}  // namespace omen::loadbalance
