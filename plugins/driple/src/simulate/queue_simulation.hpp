// SPDX-License-Identifier: Apache-2.0
// A queue of jobs on several GPUs under a policy that believes some times while others come true.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omen::driple {

enum class Policy : std::uint8_t {
  predicted,    // a plan of all that waits, from believed times
  efficiency,   // in turn, on the kind of GPU that it uses best
  oracle,       // the same plan from the times that come true
  round_robin,  // in turn, one GPU after the other
};
inline constexpr std::string_view kPolicyWords[] = {"predicted", "efficiency", "oracle",
                                                    "round-robin"};
inline std::string_view word(Policy policy) {
  return kPolicyWords[static_cast<std::size_t>(policy)];
}
std::optional<Policy> policy_of(std::string_view text);

// Times by kind of GPU; NaN where a job cannot run there, or is believed not to.
struct QueuedJob {
  std::string name;
  double arrival_s = 0;
  std::vector<double> believed_s, true_s, use;
};

struct Fleet {
  std::vector<std::string> names;  // of the GPUs, as a chart shows them
  std::vector<std::size_t> kind;   // of each GPU
};

struct Placement {
  std::size_t job = 0, gpu = 0;
  double begin_s = 0, end_s = 0;
  bool failed = false;  // it ran out of memory and went back to the queue
};

struct Schedule {
  std::vector<Placement> placements;  // in the order in which they began
  std::vector<double> completion_s;   // of each job since its arrival; NaN where it never ended
  std::size_t failures = 0;           // placements that failed
  std::size_t refused = 0;            // jobs that no GPU would take
  double makespan_s = 0;
  double mean_completion_s() const;
};

// Plans are made anew when jobs arrive or come back, and when a GPU runs out of jobs while others
// wait. A job that fails holds its GPU for `failure_s`, arrives again and stays away from that
// kind.
Schedule simulate(const std::vector<QueuedJob>& jobs, const Fleet& fleet, Policy policy,
                  double failure_s);

}  // namespace omen::driple
