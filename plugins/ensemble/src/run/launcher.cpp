// SPDX-License-Identifier: Apache-2.0
// The parent of the ranks: mpirun or srun as a child, heartbeats as files.
#include "run/launcher.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <omen/error.hpp>
#include <omen/telemetry/job.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "run/machine_log.hpp"
#include "run/rank_files.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLook = 500ms, kSilence = 8s, kGrace = 5s;

struct Watched {
  std::int64_t beat = -1;
  Clock::time_point heard = Clock::now();
  RankStatus status;
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// The last lines of what the launcher printed; the first cause stands before its long summary.
std::string first_complaint(const fs::path& log) {
  std::istringstream in(text_of(log));
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of("-\t ") != std::string::npos) return line;
  return {};
}

// Ranks of other hosts have numbers that belong to somebody else here.
bool is_rank(std::int64_t process) {
  if (process <= 0) return false;
  const std::string words = text_of("/proc/" + std::to_string(process) + "/cmdline");
  return words.find(std::string("ensemble\0rank", 13)) != std::string::npos;
}

class RankWatch {
 public:
  RankWatch(const RunJob& job, const fs::path& directory, telemetry::Job& child)
      : job_(job), directory_(directory), child_(child) {
    ranks_.resize(static_cast<std::size_t>(job.ranks));
  }

  // A rank that was alive and is silent for too long, and for how many seconds.
  std::optional<std::pair<std::int64_t, double>> silent() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Watched& rank = ranks_[i];
      if (const auto status = read_status(status_file(directory_, static_cast<std::int64_t>(i)))) {
        if (status->beat != rank.beat) rank.heard = Clock::now();
        rank.beat = status->beat;
        rank.status = *status;
      }
      const bool started = rank.beat >= 0;
      const std::chrono::duration<double> quiet = Clock::now() - rank.heard;
      if (started && !rank.status.done && quiet > kSilence)
        return std::pair(static_cast<std::int64_t>(i), quiet.count());
    }
    return {};
  }
  // Of the ranks that still train: those that left earlier wait for them.
  double mean_step() const {
    double sum = 0, longest = 0;
    int training = 0;
    for (const Watched& rank : ranks_) {
      const auto step = static_cast<double>(rank.status.step);
      longest = std::max(longest, step);
      if (rank.status.done) continue;
      sum += step;
      ++training;
    }
    return training > 0 ? sum / training : longest;
  }

  // A stopped process takes no SIGTERM, so ranks of this host get what nobody can refuse.
  void end_all() {
    ::kill(child_.pid(), SIGTERM);
    const bool ended = child_.wait(std::chrono::nanoseconds(kGrace).count());
    for (const Watched& rank : ranks_)
      if (is_rank(rank.status.process)) ::kill(static_cast<pid_t>(rank.status.process), SIGKILL);
    if (ended || child_.wait(std::chrono::nanoseconds(kGrace).count())) return;
    ::kill(child_.pid(), SIGKILL);
    child_.wait(std::chrono::nanoseconds(kGrace).count());
  }

  [[noreturn]] void explain_end() const {
    for (std::int64_t i = 0; i < job_.ranks; ++i) {
      const std::string text = text_of(error_file(directory_, i));
      if (text.empty()) continue;
      const std::size_t line = text.find('\n');
      throw Error(OMEN_UNAVAILABLE, "rank " + std::to_string(i) + ": " + text.substr(0, line),
                  line == std::string::npos ? "" : text.substr(line + 1));
    }
    const telemetry::JobEnd& end = child_.end();
    throw Error(
        OMEN_UNAVAILABLE,
        "a rank died: the launcher ended with " +
            (end.signal ? "signal " + std::to_string(end.signal) : std::to_string(end.exit_code)) +
            " (" + first_complaint(directory_ / "launcher.log") + ")",
        "The last checkpoints are kept: the same command goes on from them.");
  }

 private:
  const RunJob& job_;
  const fs::path directory_;
  telemetry::Job& child_;
  std::vector<Watched> ranks_;
};

// Ranks get one thread for LibTorch's operators; what a launcher told us is not theirs.
std::vector<std::pair<std::string, std::string>> rank_environment() {
  return {{"OMP_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}};
}

}  // namespace

std::vector<std::string> launch_words(Launcher launcher, const RunJob& job,
                                      const fs::path& directory) {
  const std::string omen = fs::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words;
  if (launcher == Launcher::kSrun) {
    words = {"srun", "--mpi=pmix", "--kill-on-bad-exit=1", "-n", std::to_string(job.ranks)};
  } else {
    words = {"mpirun",
             "--oversubscribe",
             "--bind-to",
             "none",
             "--mca",
             "mpi_yield_when_idle",
             "1",
             "-n",
             std::to_string(job.ranks)};
    // Containers run as root, and Open MPI refuses that unless it is told twice.
    if (::geteuid() == 0) words.insert(words.begin() + 1, "--allow-run-as-root");
  }
  words.insert(words.end(), {omen, "ensemble", "rank", fs::absolute(directory).string(), "-q"});
  return words;
}

void run_ranks(Launcher launcher, const RunJob& job, const fs::path& directory,
               const Progress& progress) {
  std::vector<std::string> words = {"/bin/sh", "-c", "exec \"$@\" > \"$0\" 2>&1 < /dev/null",
                                    (directory / "launcher.log").string()};
  for (const std::string& word : launch_words(launcher, job, directory)) words.push_back(word);
  telemetry::Job child = telemetry::Job::start(words, rank_environment());
  RankWatch watch(job, directory, child);
  const MachineLog machine(directory, child.pid());
  try {
    while (!child.wait(std::chrono::nanoseconds(kLook).count())) {
      if (const auto silent = watch.silent()) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "shows no sign of life for %.1f s", silent->second);
        throw Error(OMEN_UNAVAILABLE, "rank " + std::to_string(silent->first) + " " + text.data(),
                    "The last checkpoints are kept: the same command goes on from them.");
      }
      progress(watch.mean_step());
    }
  } catch (...) {
    watch.end_all();
    throw;
  }
  if (child.end().signal != 0 || child.end().exit_code != 0) watch.explain_end();
}

}  // namespace omen::ensemble
