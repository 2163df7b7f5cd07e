// SPDX-License-Identifier: Apache-2.0
// Whether two jobs should share a GPU, and what speaks for and against it.
#pragma once

#include <string>
#include <vector>

#include "pack/packing.hpp"
#include "pair/pair_forecast.hpp"

namespace omen::interference {

enum class PackPolicy { kProtect, kPack, kBalanced, kDeadline };
PackPolicy parse_policy(const std::string& name);

struct PackRules {
  PackPolicy policy = PackPolicy::kBalanced;
  double cap = 0.1;          // most slow-down of protected jobs, and of all with kProtect
  double hard_cap = 1;       // most slow-down of any job
  double least_gain = 1.05;  // both speeds together, with kPack
  double weight = 0.5;       // of saving against slow-down, with kBalanced
  double context_mib = 400;  // that a process takes beside its own memory
  double memory_share = 0.95;
};

// What the queue says of a job.
struct QueuedJob {
  std::string name, family;
  double solo_s = 1;
  double memory_mib = -1;  // -1: not known
  double deadline_s = -1;  // from now; -1: none
  bool is_protected = false;
  std::vector<std::string> never_with;  // names or families
};

struct PairVerdict {
  bool feasible = true;
  double score = 0;  // above 0: better than one after the other
  std::string reason;
  Packing expected{};
  double worst_1 = 0, worst_2 = 0;  // slow-downs at the lower ends of the speeds
};

// `capacity_mib`: of the GPU; 0 or less: not known, and then memory is not judged.
PairVerdict judge_pair(const QueuedJob& a, const QueuedJob& b, const Speed& speed_a,
                       const Speed& speed_b, double capacity_mib, const PackRules& rules);
// A job that does not fit even alone has a reason, any other none.
std::string refuses_alone(const QueuedJob& job, double capacity_mib, const PackRules& rules);
// Advice for a job that shares already: not empty where it runs slower than the interval allows.
std::string unpack_advice(double observed_rho, const Speed& expected);

}  // namespace omen::interference
