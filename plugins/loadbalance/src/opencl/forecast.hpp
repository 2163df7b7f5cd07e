// SPDX-License-Identifier: Apache-2.0
// What a predictor of this track says about a kernel before it runs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "omen/host.hpp"
#include "opencl/split_options.hpp"

namespace omen::loadbalance {

struct Interval {
  std::optional<double> low, high;  // both or none
};

struct Forecast {
  std::string predictor, status;
  double share = 50;  // percent for the first device
  std::optional<double> first_ms, second_ms, gain;
  Interval share_interval, first_interval, second_interval;
};

// Graph and features of one kernel as a predictor reads them: workloads with wgsize and input_size,
// nodes and edges. One workload with id 0.
std::map<std::string, Table> kernel_tables(const Run& run, const std::string& path,
                                           const SplitOptions& options, const std::string& kernel,
                                           double wgsize, double input_bytes);

// Nothing where the predictor is not installed, has no model or refuses; `why` then says so.
std::optional<Forecast> forecast(const Run& run, const std::map<std::string, Table>& tables,
                                 const std::string& predictor, const std::string& model,
                                 std::string& why, bool without_calibration = false);

}  // namespace omen::loadbalance
