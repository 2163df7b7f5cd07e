// SPDX-License-Identifier: Apache-2.0
// Figures of the two papers as read off their graphics: curves, networks and totals.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/schedule.hpp"
#include "rate/calibration.hpp"

namespace omen::ensemble::checks {

using Row = std::map<std::string, std::string>;

// Where the files lie; nothing where OMEN_DATA does not hold them.
std::optional<std::string> data_directory();
// The rows of a file by column; throws where it cannot be read.
std::vector<Row> read_csv(const std::string& path);
double number(const Row& row, const std::string& column);

// A point of a peak curve; the group is its curve.
struct PeakPoint {
  std::string curve, pipeline;
  Measured measured;
};
std::vector<PeakPoint> peak_points(const std::string& directory);
std::vector<Measured> points_where(const std::vector<PeakPoint>& points,
                                   const std::function<bool(const PeakPoint&)>& wanted);

// The hundred networks; `kappa` scales their epochs.
std::vector<PlannedModel> fleet_networks(const std::string& directory, double kappa);

struct FleetTotals {
  std::int64_t accelerators = 0;
  double homogeneous = 0, fleet_g = 0, fleet_l = 0;  // s
};
std::vector<FleetTotals> fleet_totals(const std::string& directory);

}  // namespace omen::ensemble::checks
