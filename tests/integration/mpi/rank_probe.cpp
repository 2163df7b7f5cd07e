// SPDX-License-Identifier: Apache-2.0
// Jobs over real MPI ranks without plugins: rank_probe JOBS [RANK kill|stop|send|other-plan FILE].
// Rank 0 prints a digest of all results; the named rank falls over in the middle of its second job,
// stands still, dies while its result is on its way, or plans something else. FILE appears when
// that happens: the others leave it its jobs until then, however late it starts.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include <unistd.h>

#include "compare/mpi_jobs.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"

namespace {

using namespace omen::host;
using namespace std::chrono_literals;

constexpr std::size_t kResultBytes = 300'000;
constexpr int kFatalJob = 2;

struct Fate {
  int rank = -1;
  std::string kind;
  std::filesystem::path met = {};
};

bool comes(const Fate& fate) {
  return fate.rank >= 0 && fate.kind != "other-plan";
}

// Long enough for a rank that starts late, shorter than what the whole run may take.
void await(const Fate& fate) {
  for (int i = 0; i < 1500 && !std::filesystem::exists(fate.met); ++i)
    std::this_thread::sleep_for(20ms);
}

void meet(const Fate& fate) {
  std::ofstream(fate.met) << fate.kind;
  if (fate.kind == "kill") kill(getpid(), SIGKILL);
  if (fate.kind == "stop") kill(getpid(), SIGSTOP);
  // Dies about when the first packets of the result have left.
  if (fate.kind == "send")
    std::thread([] {
      std::this_thread::sleep_for(2ms);
      kill(getpid(), SIGKILL);
    }).detach();
}

RankWork probe_work(int jobs, int rank, const Fate& fate) {
  RankWork work;
  for (int i = 0; i < jobs; ++i)
    work.jobs.push_back({0, 0, static_cast<std::size_t>(i), "job" + std::to_string(i)});
  work.facts = {"jobs: " + std::to_string(jobs)};
  if (rank == fate.rank && fate.kind == "other-plan") work.facts = {"jobs: other"};
  work.run = [rank, fate, count = 0](const Job& job, const RunHooks&) mutable {
    std::this_thread::sleep_for(20ms);
    ++count;
    if (comes(fate) && rank == fate.rank && count == kFatalJob) meet(fate);
    if (comes(fate) && rank != fate.rank && count == kFatalJob) await(fate);
    JobResult result;
    result.bytes.resize(kResultBytes);
    std::uint64_t state = job.fold + 1;
    for (char& byte : result.bytes)
      byte = static_cast<char>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    return result;
  };
  work.read = [](std::string bytes) {
    JobResult result;
    result.bytes = std::move(bytes);
    return result;
  };
  work.name = [](const Job& job) { return job.key; };
  return work;
}

int lead(std::unique_ptr<RankLink> link, int jobs, const Fate& fate) {
  std::map<std::string, std::string> results;
  const RankWork work = probe_work(jobs, 0, fate);
  const JobDone done = [&](const Job& job, JobResult result) {
    if (!results.emplace(job.key, std::move(result.bytes)).second)
      throw omen::Error(OMEN_INTERNAL, job.key + " came twice");
  };
  std::optional<RankLeader> leader;
  if (link) {
    leader.emplace(std::move(link));
    leader->runner(work, {})(work.jobs, done);
    leader->dismiss();
  } else {
    for (const Job& job : work.jobs) done(job, work.run(job, {}));
  }
  std::string all;
  for (const auto& [key, bytes] : results) all += key + bytes;
  std::printf("%zu %s\n", results.size(), omen::container::sha256(all.data(), all.size()).c_str());
  std::fflush(stdout);
  if (leader) leader->release_launcher();
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 20;
  Fate fate;
  if (argc > 4) fate = {std::atoi(argv[2]), argv[3], argv[4]};
  std::unique_ptr<RankLink> link = join_ranks();
  if (!link || link->rank() == 0) return lead(std::move(link), jobs, fate);
  const int rank = link->rank();
  follow_leader(*link, [&] { return probe_work(jobs, rank, fate); }, {});
  return 0;
} catch (const omen::Error& error) {
  std::fprintf(stderr, "error: %s\n  hint: %s\n", error.what(), error.hint().c_str());
  return 1;
}
