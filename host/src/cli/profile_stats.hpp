// SPDX-License-Identifier: Apache-2.0
// `omen profile stats` and `failures`, and the statistics that every recording ends with.
#pragma once

#include <string>

#include "cli/profile_request.hpp"
#include "omen/telemetry/trace_stats.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {

// A few lines: phases, energy, time of a step, and how the run ended. Ends without a newline; empty
// where nothing can be said.
std::string stats_text(const telemetry::TraceStats& stats);
// [{"workload_id": 0, "outcome": {...}, "phases": [...], "energy": [...], "step": {...}}, ...]
void put_stats(JsonWriter& json, const telemetry::TraceStats& stats);

// omen profile stats TRACE: all statistics of a recorded trace of any tool.
int run_profile_stats(const Globals& globals, const ProfileRequest& request);
// omen profile failures TABLE: runs of a perf table that cannot have finished.
int run_profile_failures(const Globals& globals, const ProfileRequest& request);

}  // namespace omen::host::cli
