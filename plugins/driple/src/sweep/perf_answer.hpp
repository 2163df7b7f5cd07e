// SPDX-License-Identifier: Apache-2.0
// Labels of traces as rows of a perf table, and perf tables as answers of verbs.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

#include "sweep/perf_table.hpp"
#include "sweep/trace_labels.hpp"

namespace omen::driple {

// A row for each resource of the trace; one without numbers where it holds none.
void append_rows(PerfTable& table, const std::vector<std::string>& job, const TraceLabels& labels,
                 const std::string& outcome);

// Puts the table `perf`: columns of the job, resource, shares, times, evidence and outcome.
void put_perf(const PerfTable& table, const TablesOut& out);

}  // namespace omen::driple
