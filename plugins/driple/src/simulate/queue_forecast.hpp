// SPDX-License-Identifier: Apache-2.0
// What a predictor of the host believes of every job of a queue on every kind of GPU.
#pragma once

#include <omen/run.hpp>

#include "simulate/job_queue.hpp"
#include "simulate/queue_simulation.hpp"
#include "step/memory.hpp"

namespace omen::driple {

struct Forecaster {
  std::string predictor = "driple.step", model;  // an empty model is the default one
};

// Which of the devices a job may be given to. Where it fits none, those that come within a
// twentieth are worth a try: the need is an estimate, and a job that fails only arrives again.
std::vector<bool> worth_trying(const MemoryNeed& need,
                               const std::vector<std::optional<Device>>& devices);

// The graphs come from the front ends of the host, memory from the graph as in driple.allocate.
// Times that the rows do not bring come true as predicted. OMEN_INVALID_DATA where a row does not
// say how long its job is.
std::vector<QueuedJob> forecast(const std::vector<QueueRow>& rows,
                                const std::vector<std::string>& gpus, const Forecaster& who,
                                const Run& run);

}  // namespace omen::driple
