// SPDX-License-Identifier: Apache-2.0
// Spreads the jobs of a comparison over ranks: rank 0 hands them out and works on them, too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compare/jobs.hpp"
#include "compare/mpi_link.hpp"

namespace omen::host {

// What a rank knows and does; made from a plan, or by hand in tests.
struct RankWork {
  std::vector<Job> jobs;           // of the whole plan
  std::vector<std::string> facts;  // "what: value"; the same on every rank, or the run is refused
  std::function<JobResult(const Job& job, const RunHooks& hooks)> run;
  std::function<JobResult(std::string bytes)> read;
  std::function<std::string(const Job& job)> name;  // for people
};
// Borrows the plan.
RankWork rank_work(const ComparePlan& plan);

// Rank 0. One job at a time and rank, the next one to whoever is free. The job of a lost rank goes
// to another; a job that took three ranks with it ends the run.
class RankLeader {
 public:
  explicit RankLeader(std::unique_ptr<RankLink> link);
  ~RankLeader();  // dismisses
  RankLeader(const RankLeader&) = delete;
  RankLeader& operator=(const RankLeader&) = delete;

  // Waits until every rank has its plan; OMEN_INVALID_DATA names the rank whose plan differs.
  // The runner must not outlive the leader.
  JobRunner runner(RankWork work, RunHooks hooks);
  // Ends the other ranks; this process goes on alone.
  void dismiss();
  // The last thing a rank 0 does, when everything is printed: Open MPI 4's mpirun waits for ever
  // for a rank that died on another host, so it is told to end where that happened.
  void release_launcher() const;

 private:
  class Dispatch;
  struct Rank {
    enum class State { kPlanning, kIdle, kBusy, kGone } state = State::kPlanning;
    std::string host;
    std::size_t job = 0;  // while busy: index into the list being run
  };

  void gather(const RankWork& work, const RunHooks& hooks);
  void greet(int from, const std::string& body, const RankWork& work);

  std::unique_ptr<RankLink> link_;
  std::vector<Rank> ranks_;
  bool lost_elsewhere_ = false;
};

// Every other rank: plans, works on what it is given, and returns when rank 0 says so or is lost.
// Where `plan` throws, rank 0 reports it.
void follow_leader(RankLink& link, const std::function<RankWork()>& plan, const RunHooks& hooks);

}  // namespace omen::host
