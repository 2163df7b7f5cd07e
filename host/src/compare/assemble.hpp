// SPDX-License-Identifier: Apache-2.0
// From finished jobs to a comparison: pairing, statistics, verdicts, costs, curves.
#pragma once

#include <vector>

#include "compare/jobs.hpp"

namespace omen::host {

struct AssemblySettings {
  std::size_t baseline = 0;
  std::optional<double> rope;  // instead of each task's own
  unsigned threads = 1;        // changes no result
};

// `results` in the order of `jobs`. Fills everything but id, time, command line, machine, directory
// and seconds, which the caller knows.
Comparison assemble(const ComparePlan& plan, const std::vector<Job>& jobs,
                    const std::vector<JobResult>& results, const AssemblySettings& settings);

}  // namespace omen::host
