// SPDX-License-Identifier: Apache-2.0
// How jobs are spread over ranks, with ranks that are threads and jobs that do nothing.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/mpi_jobs.hpp"
#include "omen/error.hpp"

namespace omen::host {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// The mailboxes of all ranks; a killed rank says nothing more and hears that rank 0 is lost.
class Hub {
 public:
  explicit Hub(int size) : boxes_(static_cast<std::size_t>(size)) {}

  void put(int to, RankLink::Event event) {
    const std::lock_guard lock(mutex_);
    if (dead_.count(event.from) || dead_.count(to)) return;
    boxes_[static_cast<std::size_t>(to)].push_back(std::move(event));
    changed_.notify_all();
  }

  std::optional<RankLink::Event> take(int rank, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[static_cast<std::size_t>(rank)];
    if (!changed_.wait_for(lock, patience, [&] { return !box.empty(); })) return {};
    RankLink::Event event = std::move(box.front());
    box.pop_front();
    return event;
  }

  void kill(int rank) {
    const std::lock_guard lock(mutex_);
    if (!dead_.insert(rank).second) return;
    for (int other = 0; other < size(); ++other)
      if (other != rank && (rank == 0 || other == 0))
        boxes_[static_cast<std::size_t>(other)].push_back({rank, true, {}});
    boxes_[static_cast<std::size_t>(rank)].push_back({0, true, {}});
    changed_.notify_all();
  }

  int size() const { return static_cast<int>(boxes_.size()); }
  std::atomic<int> left_together{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<RankLink::Event>> boxes_;
  std::set<int> dead_;
};

class HubLink final : public RankLink {
 public:
  HubLink(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return hub_.size(); }
  void send(int to, std::string body) override { hub_.put(to, {rank_, false, std::move(body)}); }
  std::optional<Event> wait(std::chrono::milliseconds patience) override {
    return hub_.take(rank_, patience);
  }
  void leave(bool together) override { hub_.left_together += together; }

 private:
  Hub& hub_;
  int rank_;
};

// What one rank does with a job: the test sees who it was.
using Body = std::function<std::string(int rank, const Job& job, const RunHooks& hooks)>;

RankWork work_of(int rank, int jobs, const Body& body) {
  RankWork work;
  for (int i = 0; i < jobs; ++i)
    work.jobs.push_back({0, 0, static_cast<std::size_t>(i), "job" + std::to_string(i)});
  work.facts = {"omen: 1", "task t: 12ab"};
  work.run = [rank, body](const Job& job, const RunHooks& hooks) {
    JobResult result;
    result.bytes = body(rank, job, hooks);
    return result;
  };
  work.read = [](std::string bytes) {
    if (bytes.size() == 7) throw Error(OMEN_INVALID_DATA, "damaged");
    JobResult result;
    result.bytes = std::move(bytes);
    return result;
  };
  work.name = [](const Job& job) { return job.key; };
  return work;
}

class MpiJobs : public testing::Test {
 protected:
  void start(int ranks, int jobs, Body body) {
    hub_ = std::make_unique<Hub>(ranks);
    jobs_ = jobs;
    body_ = std::move(body);
    for (int rank = 1; rank < ranks; ++rank)
      followers_.emplace_back([this, rank] {
        HubLink link(*hub_, rank);
        follow_leader(link, [&] { return plan_of(rank); }, {});
      });
    leader_.emplace(std::make_unique<HubLink>(*hub_, 0));
  }

  // Fails the test where a job comes twice.
  std::map<std::string, std::string> run(RunHooks hooks = {}) {
    std::map<std::string, std::string> results;
    const RankWork work = work_of(0, jobs_, body_);
    leader_->runner(work, std::move(hooks))(work.jobs, [&](const Job& job, JobResult result) {
      EXPECT_TRUE(results.emplace(job.key, result.bytes).second) << job.key << " came twice";
    });
    return results;
  }

  omen::Error run_error() {
    try {
      run();
    } catch (const omen::Error& error) {
      return error;
    }
    ADD_FAILURE() << "the run ended well";
    return omen::Error(OMEN_OK, "");
  }

  void end() {
    leader_.reset();
    for (std::thread& follower : followers_) follower.join();
    followers_.clear();
  }
  void TearDown() override { end(); }

  std::unique_ptr<Hub> hub_;
  int jobs_ = 0;
  Body body_;
  std::function<RankWork(int rank)> plan_of = [this](int rank) {
    return work_of(rank, jobs_, body_);
  };
  std::optional<RankLeader> leader_;
  std::vector<std::thread> followers_;
};

std::string wait_for_end(const RunHooks& hooks) {
  while (!hooks.is_cancelled()) std::this_thread::sleep_for(1ms);
  throw Error(OMEN_CANCELLED, "cancelled");
}

TEST_F(MpiJobs, EveryJobIsDoneOnceAndEveryRankWorks) {
  for (const int ranks : {1, 2, 4}) {
    std::mutex mutex;
    std::set<int> workers;
    start(ranks, 40, [&](int rank, const Job& job, const RunHooks&) {
      std::this_thread::sleep_for(2ms);
      const std::lock_guard lock(mutex);
      workers.insert(rank);
      return "result of " + job.key;
    });
    const auto results = run();
    EXPECT_EQ(results.size(), 40u);
    for (const auto& [key, bytes] : results) EXPECT_EQ(bytes, "result of " + key);
    EXPECT_EQ(workers.size(), static_cast<std::size_t>(ranks));
    end();
    EXPECT_EQ(hub_->left_together, ranks);
  }
}

TEST_F(MpiJobs, TheJobOfALostRankIsDoneAgainByAnother) {
  std::atomic<int> runs_of_job{0};
  start(4, 20, [&](int rank, const Job& job, const RunHooks& hooks) {
    if (job.key == "job1" && runs_of_job++ == 0) {
      hub_->kill(rank);
      wait_for_end(hooks);
    }
    return job.key;
  });
  EXPECT_EQ(run().size(), 20u);
  EXPECT_EQ(runs_of_job, 2);
  end();
  EXPECT_EQ(hub_->left_together, 0) << "MPI_Finalize would wait for the lost rank";
}

TEST_F(MpiJobs, RankZeroGoesOnAlone) {
  start(3, 12, [&](int rank, const Job& job, const RunHooks& hooks) {
    if (rank > 0) {
      hub_->kill(rank);
      wait_for_end(hooks);
    }
    std::this_thread::sleep_for(1ms);
    return job.key;
  });
  EXPECT_EQ(run().size(), 12u);
}

TEST_F(MpiJobs, AJobThatTakesThreeRanksEndsTheRunBeforeItReachesRankZero) {
  std::atomic<bool> reached{false};
  start(5, 6, [&](int rank, const Job& job, const RunHooks& hooks) {
    if (job.key != "job0") return job.key;
    if (rank == 0) reached = true;
    hub_->kill(rank);
    return wait_for_end(hooks);
  });
  const omen::Error error = run_error();
  EXPECT_THAT(error.what(), HasSubstr("3 ranks were lost while they worked on job0"));
  EXPECT_FALSE(reached);
}

TEST_F(MpiJobs, ARankWithAnotherPlanIsRefused) {
  plan_of = [this](int rank) {
    RankWork work = work_of(rank, jobs_, body_);
    if (rank == 2) work.facts[1] = "task t: 98fe";
    return work;
  };
  start(3, 4, [](int, const Job& job, const RunHooks&) { return job.key; });
  const omen::Error error = run_error();
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(error.what(), HasSubstr("rank 2 on "));
  EXPECT_THAT(error.what(), HasSubstr("it has task t: 98fe, rank 0 has task t: 12ab"));
  EXPECT_THAT(error.hint(), HasSubstr("on every host"));
}

TEST_F(MpiJobs, ARankThatCannotPlanIsNamedWithItsReason) {
  plan_of = [this](int rank) {
    if (rank == 1) throw Error(OMEN_NOT_FOUND, "plugin 'x' not found", "see: omen list");
    return work_of(rank, jobs_, body_);
  };
  start(2, 4, [](int, const Job& job, const RunHooks&) { return job.key; });
  const omen::Error error = run_error();
  EXPECT_EQ(error.code(), OMEN_NOT_FOUND);
  EXPECT_STREQ(error.what(), "rank 1 cannot take part: plugin 'x' not found");
  EXPECT_EQ(error.hint(), "see: omen list");
}

TEST_F(MpiJobs, ADamagedResultIsAskedForAgain) {
  std::atomic<int> runs{0};
  start(2, 3, [&](int, const Job& job, const RunHooks&) {
    return job.key == "job1" && runs++ == 0 ? "damaged" : job.key;
  });
  EXPECT_EQ(run().size(), 3u);
  EXPECT_EQ(runs, 2);
}

TEST_F(MpiJobs, ARankThatGivesUpIsLeftOut) {
  start(2, 8, [&](int rank, const Job& job, const RunHooks&) -> std::string {
    if (rank == 1) throw Error(OMEN_IO, "disk full");
    std::this_thread::sleep_for(1ms);
    return job.key;
  });
  EXPECT_EQ(run().size(), 8u);
}

TEST_F(MpiJobs, AnErrorOfRankZeroEndsTheRun) {
  start(2, 8, [&](int rank, const Job& job, const RunHooks& hooks) -> std::string {
    if (rank == 0) throw Error(OMEN_IO, "disk full");
    return job.key == "job7" ? wait_for_end(hooks) : job.key;
  });
  const omen::Error error = run_error();
  EXPECT_EQ(error.code(), OMEN_IO);
  EXPECT_STREQ(error.what(), "disk full");
}

TEST_F(MpiJobs, CancellingReachesJobsOfEveryRank) {
  std::atomic<int> running{0}, cancelled{0};
  start(3, 9, [&](int, const Job&, const RunHooks& hooks) -> std::string {
    ++running;
    while (!hooks.is_cancelled()) std::this_thread::sleep_for(1ms);
    ++cancelled;
    throw Error(OMEN_CANCELLED, "cancelled");
  });
  RunHooks hooks;
  hooks.is_cancelled = [&] { return running == 3; };
  EXPECT_THROW(run(hooks), Error);
  end();
  EXPECT_EQ(cancelled, 3);
}

TEST_F(MpiJobs, WithoutJobsTheRanksAreDismissed) {
  start(3, 0, [](int, const Job& job, const RunHooks&) { return job.key; });
  EXPECT_TRUE(run().empty());
  end();
  EXPECT_EQ(hub_->left_together, 3);
}

TEST(MpiFollower, EndsWhenRankZeroIsLost) {
  Hub hub(2);
  hub.kill(0);
  HubLink link(hub, 1);
  follow_leader(link, [] { return work_of(1, 4, {}); }, {});
  EXPECT_EQ(hub.left_together, 0);
}

}  // namespace
}  // namespace omen::host
