// SPDX-License-Identifier: Apache-2.0
// A schedule as a Gantt chart, with the table behind it.
#pragma once

#include <omen/host.hpp>
#include <string>
#include <vector>

#include "plan/schedule.hpp"

namespace omen::ensemble {

// Trainings in the order of their begin: model, accelerators, begin_s, end_s.
Table span_table(const Schedule& schedule, const std::vector<std::string>& names);

// Hands the chart to the host; without an output directory nothing is drawn.
void put_gantt(const Run& run, const std::string& file, const std::string& title,
               const Schedule& schedule, const std::vector<std::string>& names);

}  // namespace omen::ensemble
