// SPDX-License-Identifier: Apache-2.0
// The conversation of ranks. To a rank: J(ob), S(top). From a rank: H(ello with its facts),
// U(nable), R(esult), B(ye).
#include "compare/mpi_jobs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <unistd.h>

#include "omen/error.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLook = 200ms;       // how often cancellation is looked at
constexpr auto kByePatience = 10s;  // a cancelled worker takes up to a few seconds
constexpr int kMostLosses = 3;

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

// Fields with their length in front, as texts of errors hold anything.
std::string pack(char kind, const std::vector<std::string>& fields) {
  std::string body(1, kind);
  for (const std::string& field : fields) body += std::to_string(field.size()) + ":" + field;
  return body;
}

std::vector<std::string> unpack(const std::string& body) {
  std::vector<std::string> fields;
  for (std::size_t at = 1; at < body.size();) {
    const std::size_t colon = body.find(':', at);
    if (colon == std::string::npos) break;
    const std::size_t size = std::stoull(body.substr(at, colon - at));
    fields.push_back(body.substr(colon + 1, size));
    at = colon + 1 + size;
  }
  return fields;
}

std::string unable(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  return pack('U', {std::to_string(ours ? ours->code() : OMEN_INTERNAL), error.what(),
                    ours ? ours->hint() : ""});
}

Error unpack_error(const std::string& body, const std::string& prefix) {
  std::vector<std::string> fields = unpack(body);
  fields.resize(3);
  return Error(static_cast<omen_status>(std::atoi(fields[0].c_str())), prefix + fields[1],
               fields[2]);
}

bool cancelled(const RunHooks& hooks) {
  return interrupted() || (hooks.is_cancelled && hooks.is_cancelled());
}

// One job at a time on a thread of its own; what became of it goes to rank 0.
class JobThread {
 public:
  JobThread(RankLink& link, const RankWork& work, const RunHooks& hooks)
      : link_(link), work_(work), hooks_(hooks) {
    hooks_.is_cancelled = [this, asked = hooks.is_cancelled] {
      return stop_.load() || (asked && asked());
    };
    thread_ = std::thread([this] { loop(); });
  }
  ~JobThread() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  void give(Job job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = std::move(job);
    }
    wake_.notify_all();
  }

 private:
  void loop() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || job_; });
      if (stop_) return;
      const Job job = *std::exchange(job_, std::nullopt);
      lock.unlock();
      std::string report = outcome(job);
      if (!stop_) link_.send(0, std::move(report));
    }
  }

  std::string outcome(const Job& job) {
    try {
      return pack('R', {job.key, work_.run(job, hooks_).bytes});
    } catch (const std::exception& error) {
      return unable(error);
    }
  }

  RankLink& link_;
  const RankWork& work_;
  RunHooks hooks_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stop_{false};
  std::optional<Job> job_;
  std::thread thread_;
};

// Facts come in the order of the plan, so the first that differs is the cause of the others.
std::string difference(const std::vector<std::string>& here,
                       const std::vector<std::string>& there) {
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (i >= there.size()) return "it has nothing for " + here[i];
    if (here[i] != there[i]) return "it has " + there[i] + ", rank 0 has " + here[i];
  }
  return here.size() < there.size() ? "rank 0 has nothing for " + there[here.size()] : "";
}

}  // namespace

RankWork rank_work(const ComparePlan& plan) {
  RankWork work;
  work.jobs = plan_jobs(plan);
  work.facts.push_back("omen: " OMEN_VERSION);
  for (const PlannedContestant& contestant : plan.contestants)
    work.facts.push_back("library of " + contestant.facts.label + ": " +
                         contestant.facts.library_sha256);
  for (const PlannedTask& task : plan.tasks)
    work.facts.push_back("task " + task.task.name + ": " + task.task.hash);
  work.facts.push_back("jobs: " + plan_digest(work.jobs));
  work.run = [&plan](const Job& job, const RunHooks& hooks) { return run_job(plan, job, hooks); };
  work.read = read_job_result;
  work.name = [&plan](const Job& job) {
    const PlannedTask& task = plan.tasks[job.task];
    return plan.contestants[job.contestant].facts.label + " on " + task.task.name + ", fold " +
           task.folds[job.fold].name;
  };
  return work;
}

// One list of jobs, from the first to the last result.
class RankLeader::Dispatch {
 public:
  Dispatch(RankLeader& leader, const RankWork& work, const RunHooks& hooks,
           const std::vector<Job>& jobs, const JobDone& done)
      : leader_(leader),
        work_(work),
        hooks_(hooks),
        jobs_(jobs),
        done_(done),
        losses_(jobs.size()),
        own_(*leader.link_, work, hooks) {
    for (std::size_t i = 0; i < jobs.size(); ++i) waiting_.push_back(i);
  }

  void run() {
    while (finished_ < jobs_.size()) {
      if (cancelled(hooks_)) throw Error(OMEN_CANCELLED, "interrupted");
      hand_out();
      if (const auto event = leader_.link_->wait(kLook)) take(*event);
    }
  }

 private:
  using State = Rank::State;

  void hand_out() {
    for (std::size_t i = leader_.ranks_.size(); i-- > 0;) {
      Rank& rank = leader_.ranks_[i];
      if (rank.state != State::kIdle) continue;
      const auto next = std::find_if(waiting_.begin(), waiting_.end(),
                                     [&](std::size_t job) { return may_take(i, job); });
      if (next == waiting_.end()) continue;
      rank.state = State::kBusy;
      rank.job = *next;
      waiting_.erase(next);
      const Job& job = jobs_[rank.job];
      if (i == 0)
        own_.give(job);
      else
        leader_.link_->send(static_cast<int>(i), pack('J', {job.key}));
    }
  }

  // A job that took a rank with it comes to rank 0, whose end is the end of the run, last of all.
  bool may_take(std::size_t rank, std::size_t job) const {
    return rank > 0 || losses_[job] == 0 ||
           std::all_of(leader_.ranks_.begin() + 1, leader_.ranks_.end(),
                       [](const Rank& other) { return other.state == State::kGone; });
  }

  void take(const RankLink::Event& event) {
    Rank& rank = leader_.ranks_[static_cast<std::size_t>(event.from)];
    if (event.lost) {
      leader_.lost_elsewhere_ |= rank.host != leader_.ranks_[0].host;
      return lose(event.from, "is lost");
    }
    if (rank.state != State::kBusy) return;
    if (event.body[0] == 'U') {
      const Error error = unpack_error(event.body, "");
      if (event.from == 0) throw error;
      return lose(event.from, std::string("gives up: ") + error.what());
    }
    accept(rank, unpack(event.body));
  }

  void accept(Rank& rank, std::vector<std::string> fields) {
    const Job& job = jobs_[rank.job];
    fields.resize(2);
    rank.state = State::kIdle;
    try {
      if (fields[0] != job.key) throw Error(OMEN_INVALID_DATA, "the result of another job arrived");
      JobResult result = work_.read(std::move(fields[1]));
      ++finished_;
      done_(job, std::move(result));
    } catch (const Error& error) {
      if (error.code() != OMEN_INVALID_DATA) throw;
      again(rank.job, error.what());
    }
  }

  void lose(int from, const std::string& how) {
    Rank& rank = leader_.ranks_[static_cast<std::size_t>(from)];
    const bool busy = rank.state == State::kBusy;
    rank.state = State::kGone;
    const std::string who = "rank " + std::to_string(from) + " on " + rank.host + " " + how;
    if (busy)
      again(rank.job, who);
    else
      log(OMEN_LOG_WARN, "omen", who);
  }

  void again(std::size_t job, const std::string& why) {
    const std::string name = work_.name(jobs_[job]);
    log(OMEN_LOG_WARN, "omen", why + "; done again: " + name);
    if (++losses_[job] >= kMostLosses)
      throw Error(OMEN_INTERNAL,
                  std::to_string(kMostLosses) + " ranks were lost while they worked on " + name,
                  "Give it more memory, or leave it out; the same command goes on with the rest");
    waiting_.push_front(job);
  }

  RankLeader& leader_;
  const RankWork& work_;
  const RunHooks& hooks_;
  const std::vector<Job>& jobs_;
  const JobDone& done_;
  std::deque<std::size_t> waiting_;
  std::vector<int> losses_;
  std::size_t finished_ = 0;
  JobThread own_;
};

RankLeader::RankLeader(std::unique_ptr<RankLink> link)
    : link_(std::move(link)), ranks_(static_cast<std::size_t>(link_->size())) {
  ranks_[0].state = Rank::State::kIdle;
  ranks_[0].host = host_name();
}

RankLeader::~RankLeader() {
  dismiss();
}

JobRunner RankLeader::runner(RankWork work, RunHooks hooks) {
  return [this, work = std::move(work), hooks = std::move(hooks)](const std::vector<Job>& jobs,
                                                                  const JobDone& done) {
    gather(work, hooks);
    Dispatch(*this, work, hooks, jobs, done).run();
  };
}

void RankLeader::gather(const RankWork& work, const RunHooks& hooks) {
  const auto planning = [&] {
    return std::any_of(ranks_.begin(), ranks_.end(),
                       [](const Rank& rank) { return rank.state == Rank::State::kPlanning; });
  };
  while (planning()) {
    if (cancelled(hooks)) throw Error(OMEN_CANCELLED, "interrupted");
    const auto event = link_->wait(kLook);
    if (!event) continue;
    if (event->lost) {
      ranks_[static_cast<std::size_t>(event->from)].state = Rank::State::kGone;
      log(OMEN_LOG_WARN, "omen", "rank " + std::to_string(event->from) + " is lost");
    } else {
      greet(event->from, event->body, work);
    }
  }
}

void RankLeader::greet(int from, const std::string& body, const RankWork& work) {
  std::vector<std::string> fields = unpack(body);
  const std::string who = "rank " + std::to_string(from);
  if (body[0] == 'U') throw unpack_error(body, who + " cannot take part: ");
  Rank& rank = ranks_[static_cast<std::size_t>(from)];
  rank.host = fields.at(0);
  fields.erase(fields.begin());
  if (const std::string found = difference(work.facts, fields); !found.empty())
    throw Error(OMEN_INVALID_DATA,
                who + " on " + rank.host + " would compute something else: " + found,
                "Use the same omen, plugins, tasks and data on every host");
  rank.state = Rank::State::kIdle;
}

void RankLeader::release_launcher() const {
  if (!lost_elsewhere_) return;
  const pid_t launcher = getppid();
  std::string name;
  std::ifstream("/proc/" + std::to_string(launcher) + "/comm") >> name;
  if (name != "mpirun" && name != "mpiexec" && name != "orterun") return;
  // What was printed passes through the launcher.
  std::this_thread::sleep_for(kLook);
  kill(launcher, SIGTERM);
}

void RankLeader::dismiss() {
  if (!link_) return;
  const std::unique_ptr<RankLink> link = std::move(link_);
  const auto living = [&] {
    return std::any_of(ranks_.begin() + 1, ranks_.end(),
                       [](const Rank& rank) { return rank.state != Rank::State::kGone; });
  };
  bool together = true;
  for (const Rank& rank : ranks_) together &= rank.state != Rank::State::kGone;
  for (std::size_t i = 1; i < ranks_.size(); ++i)
    link->send(static_cast<int>(i), pack('S', {together ? "together" : "alone"}));
  const auto deadline = Clock::now() + kByePatience;
  while (living() && Clock::now() < deadline) {
    const auto event = link->wait(kLook);
    if (!event || (!event->lost && event->body[0] != 'B')) continue;
    together &= !event->lost;
    ranks_[static_cast<std::size_t>(event->from)].state = Rank::State::kGone;
  }
  link->leave(together && !living());
}

void follow_leader(RankLink& link, const std::function<RankWork()>& plan, const RunHooks& hooks) {
  RankWork work;
  try {
    work = plan();
    std::vector<std::string> fields{host_name()};
    fields.insert(fields.end(), work.facts.begin(), work.facts.end());
    link.send(0, pack('H', fields));
  } catch (const std::exception& error) {
    link.send(0, unable(error));
  }
  std::optional<JobThread> thread(std::in_place, link, work, hooks);
  while (true) {
    const auto event = link.wait(kLook);
    if (!event) continue;
    if (event->lost) return link.leave(false);
    std::vector<std::string> fields = unpack(event->body);
    fields.resize(1);
    if (event->body[0] == 'S') {
      thread.reset();
      link.send(0, pack('B', {}));
      return link.leave(fields[0] == "together");
    }
    const auto job = std::find_if(work.jobs.begin(), work.jobs.end(),
                                  [&](const Job& known) { return known.key == fields[0]; });
    if (job != work.jobs.end()) thread->give(*job);
  }
}

}  // namespace omen::host
