// SPDX-License-Identifier: Apache-2.0
// A schedule as a Gantt chart, and policies as curves of jobs that have ended.
#pragma once

#include <omen/host.hpp>

#include "simulate/queue_simulation.hpp"

namespace omen::driple {

// One row a placement: job, GPU, when, and whether it failed.
Table schedule_table(const std::vector<QueuedJob>& jobs, const Fleet& fleet,
                     const Schedule& schedule, Policy policy);

void put_schedule(const Run& run, const std::vector<QueuedJob>& jobs, const Fleet& fleet,
                  const Schedule& schedule, Policy policy);

// Policies and their schedules belong to each other by their places.
void put_completions(const Run& run, const std::vector<Policy>& policies,
                     const std::vector<Schedule>& schedules);

}  // namespace omen::driple
