// SPDX-License-Identifier: Apache-2.0
// The jobs of a queue, and every way to run each: alone, or beside another in a sharing mode.
#pragma once

#include <map>
#include <omen/dataset.hpp>
#include <string>
#include <vector>

#include "pack/policy.hpp"

namespace omen::interference {

struct GpuKind {
  std::string name;         // empty: as the jobs say
  double capacity_mib = 0;  // 0: not known
};
// "v100:16160,p100:16280"; memory may be left out. OMEN_INVALID_ARGUMENT otherwise.
std::vector<GpuKind> parse_gpus(const std::string& text);

struct Queue {
  std::vector<std::int64_t> ids;
  std::vector<QueuedJob> jobs;
  std::vector<std::string> devices;  // on which a job runs now or may run; empty: anywhere
  std::vector<std::string> beside;   // with whom a job shares already; empty: with nobody
  std::vector<double> observed_rho;  // how fast it is there; NaN: not known
  std::vector<double> capacity_mib;  // of its GPU; NaN: not known
  std::map<std::int64_t, std::size_t> index;
};
// OMEN_INVALID_DATA for times, sizes or speeds below 0.
Queue read_queue(const Table& workloads);

// One row for each job and way; columns partner_X repeat what the partner has in column X.
Table list_ways(const Table& workloads, const Queue& queue, const std::vector<GpuKind>& gpus,
                const std::vector<std::string>& modes);

}  // namespace omen::interference
