// SPDX-License-Identifier: Apache-2.0
// Runs of a perf table that cannot have finished, found beside their neighbours.
#ifndef OMEN_TELEMETRY_TRACE_FAILURES_HPP
#define OMEN_TELEMETRY_TRACE_FAILURES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace omen::telemetry {

// One row of a table of jobs that recorded how long each took and not how it ended.
struct PerfRun {
  std::string group;  // what neighbours share: device, network, optimiser, data set
  double size = 0;    // batch size
  double work = 0;    // epochs, or anything else that the samples processed are in proportion to
  double seconds = 0;
};

struct PerfVerdict {
  bool suspect = false;
  // Throughput over that of the neighbours of the next smaller size that are not suspect; nothing
  // where there is no such neighbour.
  std::optional<double> throughput_ratio;
  double largest_ratio = 0;  // that a run which finished can have
  std::int64_t neighbours = 0;
};

// A larger batch does more work a step, so a step takes at least about as long: throughput grows at
// most in proportion to the batch. A run that beats this by `factor` ended early, which on a device
// of fixed memory is what running out of it looks like. Groups are judged from their smallest
// size on, which is taken as good.
std::vector<PerfVerdict> find_failed_runs(const std::vector<PerfRun>& runs, double factor = 1.5);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_TRACE_FAILURES_HPP
