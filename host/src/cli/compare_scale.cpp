// SPDX-License-Identifier: Apache-2.0
// A comparison that several processes share: ranks of a launcher, or elements of a job array.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "cli/compare_run.hpp"
#include "compare/run_directory.hpp"
#include "compare/slurm_script.hpp"
#include "text/log.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostShares = 64;
// What omen itself takes beside the workers that --memory limits.
constexpr std::uint64_t kOwnMemory = 512u << 20;

// Flags of --emit itself, and those that the script sets; all take a value.
constexpr std::array<std::string_view, 7> kScriptFlags{"--emit", "--shares", "--output", "-o",
                                                       "--jobs", "-j",       "--run-dir"};

std::vector<std::string> without_script_flags(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto flag =
        std::find_if(kScriptFlags.begin(), kScriptFlags.end(), [&](std::string_view name) {
          const bool one_letter = name.size() == 2;
          return word == name ||
                 (word.starts_with(name) && (one_letter || word[name.size()] == '='));
        });
    if (flag == kScriptFlags.end())
      kept.push_back(word);
    else if (word == *flag)
      ++i;
  }
  return kept;
}

}  // namespace

int follow_compare(const Globals& globals, const CompareRequest& request, RankLink& link) {
  // Rank 0 says what there is to say.
  set_log_level(OMEN_LOG_ERROR);
  Globals quiet = globals;
  quiet.quiet = true;
  std::optional<Session> session;
  ComparePlan plan;
  const auto make_work = [&] {
    std::vector<std::string> warnings;
    session.emplace(quiet, request.run, request.flags, "compare", "");
    plan =
        make_plan(session->registry(), session->flags(), plan_request(*session, request), warnings);
    return rank_work(plan);
  };
  follow_leader(link, make_work, {});
  return kOk;
}

int run_share(Session& session, ComparePlan& plan, const CompareRequest& request) {
  const JobShare share = parse_share(request.only_jobs);
  const std::vector<Job> jobs = plan_jobs(plan), mine = jobs_of_share(jobs, share);
  const RunDirectory run = RunDirectory::at(request.run_dir, plan_digest(jobs), true);
  const std::string log_name = "log-" + std::to_string(share.index) + ".txt";
  configure_log({screen_level(session.globals()), run.path() / log_name, {}});
  plan.run.state_dir = run.path() / "state";
  run_jobs(plan, mine, run.results(), local_runner(plan, {}),
           [&](std::size_t done, std::size_t all) {
             session.progress().update(static_cast<double>(done) / static_cast<double>(all),
                                       folds_text(done, all).c_str());
           });
  session.progress().finish();
  note(session.globals(), folds_text(mine.size(), jobs.size()) + " are in " + run.path().string());
  return kOk;
}

int emit_array(Session& session, const ComparePlan& plan, const CompareRequest& request) {
  const std::vector<Job> jobs = plan_jobs(plan);
  const unsigned at_once = std::max(1u, request.jobs);
  unsigned threads = 1;
  for (const PlannedTask& task : plan.tasks)
    threads = std::max(threads, task.task.threads_per_fold);
  std::vector<std::string> words = without_script_flags(session.globals().command_line);
  words.insert(words.end(), {"--jobs", std::to_string(at_once)});

  SlurmArray array;
  array.program = fs::read_symlink("/proc/self/exe");
  array.directory = fs::current_path();
  array.command = shell_words(words);
  array.id = plan_digest(jobs).substr(0, 8);
  array.run_dir =
      fs::absolute(request.run_dir.empty() ? fs::path(request.runs_dir) / ("slurm-" + array.id)
                                           : fs::path(request.run_dir))
          .lexically_normal();
  array.jobs = jobs.size();
  array.shares = std::min(jobs.size(), request.shares ? request.shares : kMostShares);
  array.cpus = at_once * threads;
  if (request.run.memory_bytes > 0) array.memory = at_once * request.run.memory_bytes + kOwnMemory;
  const std::string script = slurm_script(array);
  if (request.output.empty()) {
    print(script);
  } else {
    write_text(request.output, script);
    note(session.globals(), "submit it with: sh " + shell_words({request.output}));
  }
  return kOk;
}

}  // namespace omen::host::cli
