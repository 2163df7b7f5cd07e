// SPDX-License-Identifier: Apache-2.0
// A recorded trace for people and for programs: one line, a table, a document, a comparison.
#pragma once

#include <string>

#include "omen/telemetry/summary.hpp"
#include "omen/telemetry/trace_stats.hpp"
#include "text/render.hpp"

namespace omen::host::cli {

// "5.01 s, exit 0; sampler 0.31 % of a core, late by 0.06 ms (p50) and 0.21 ms (p99), 0 of 50 ticks
// missed".
std::string trace_headline(const telemetry::Summary& summary);

// What people look at first, or every series; several workloads are shown as the mean over them.
TextTable trace_table(const telemetry::Summary& summary, bool all);

// {"format_version": 1, ..., "series": [...], "notes": [...]}.
std::string trace_json(const telemetry::Summary& summary, const telemetry::TraceStats& stats,
                       const std::string& profiler, const std::string& trace,
                       const std::string& plot);

// Means of two traces and how much the second differs; a star where the repetitions of both say
// that it is no noise (Welch's t above 3).
TextTable trace_diff(const telemetry::Summary& a, const telemetry::Summary& b, bool all);
std::string trace_diff_json(const telemetry::Summary& a, const telemetry::Summary& b);

// "rapl: no counters, hwmon: no sensors" for what the machine does not have; empty where there is
// nothing.
std::string absent_parts(const telemetry::Summary& summary, bool with_reasons);

}  // namespace omen::host::cli
