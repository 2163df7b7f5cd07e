// SPDX-License-Identifier: Apache-2.0
// All statistics of a recorded trace: phases, energy, time of a step, CPU time, and how it ended.
#ifndef OMEN_TELEMETRY_TRACE_STATS_HPP
#define OMEN_TELEMETRY_TRACE_STATS_HPP

#include <optional>
#include <string>
#include <vector>

#include "omen/telemetry/rows.hpp"
#include "omen/telemetry/summary.hpp"
#include "omen/telemetry/trace_energy.hpp"
#include "omen/telemetry/trace_outcome.hpp"
#include "omen/telemetry/trace_phases.hpp"
#include "omen/telemetry/trace_steps.hpp"

namespace omen::telemetry {

struct TraceStatsOptions {
  // Metrics whose phases are looked for; empty: utilisation, power and memory of devices, the
  // machine's CPU and the job's.
  std::vector<std::string> metrics;
  // Rated power of all processors, for an estimate of energy where no counter measures it; 0: none.
  double processor_tdp_w = 0;
};

struct SeriesPhases {
  std::string metric;
  std::int32_t device = Sample::kWholeMachine;
  std::int32_t pid = 0;
  Phases phases;
  LegacyPhases legacy;
  double mean = 0, min = 0, p95 = 0, max = 0;
  // The greatest mean over consecutive windows of 30 s, which trackers call the maximum.
  double max_30s = 0;
  std::int64_t rows = 0, dropped_rows = 0;
};

struct WorkloadStats {
  std::int64_t workload_id = 0;
  std::vector<SeriesPhases> series;
  std::vector<Energy> energy;
  std::optional<StepTime> step;
  // Integrals of the cores' shares: everything but idle, and user time alone.
  std::optional<double> busy_core_s, user_core_s;
  RunOutcome outcome;
};

struct TraceStats {
  std::vector<WorkloadStats> workloads;
  std::int64_t series_left_out = 0;  // beyond the first 64
};

// One pass over the rows, in memory that does not grow with their number.
TraceStats trace_stats(const OpenRows& open, const TraceStatsOptions& options = {});

// A Plotly figure: every series of `stats` with its phases as coloured stripes.
std::string phases_plot_json(const OpenRows& open, const TraceStats& stats,
                             const std::string& title);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_TRACE_STATS_HPP
