// SPDX-License-Identifier: Apache-2.0
// Profiling of grids as a plugin.
#include <omen/plugin.hpp>

#include "sweep/operations_command.hpp"
#include "sweep/perf_command.hpp"
#include "sweep/sweep_command.hpp"

OMEN_PLUGIN("driple-sweep", "0.1.0", "Apache-2.0",
            omen::command<omen::driple::SweepCommand, omen::driple::SweepOptions>(
                "driple.sweep", "run a grid of jobs under telemetry, with a perf table of them"),
            omen::command<omen::driple::PerfCommand, omen::driple::PerfOptions>(
                "driple.perf", "perf table of traces, of a sweep, or of a published table, mended"),
            omen::command<omen::driple::OperationsCommand, omen::driple::OperationsOptions>(
                "driple.operations", "kinds of operations in graphs: frequencies and counts"))
