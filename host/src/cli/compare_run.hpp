// SPDX-License-Identifier: Apache-2.0
// Carries a plan through: jobs, statistics, and the files of a run; what `compare` and `rerun`
// share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare_request.hpp"
#include "cli/session.hpp"
#include "compare/mpi_jobs.hpp"
#include "compare/plan.hpp"
#include "compare/run_record.hpp"

namespace omen::host::cli {

struct CompareSettings {
  std::filesystem::path runs_dir = "runs";
  std::string baseline;  // empty: the first contestant
  std::optional<double> rope;
  bool self_check = false;
  std::filesystem::path run_dir;  // empty: below runs_dir
  RankLeader* ranks = nullptr;    // where a launcher started several
};

struct FinishedRun {
  Comparison comparison;
  RunRecord record;
};

// Continues an unfinished run of the same plan. Writes run.json, losses.csv, compare.json and
// compare.html. Interrupted by the user it throws OMEN_CANCELLED with what was kept.
FinishedRun run_comparison(Session& session, const ComparePlan& plan,
                           const CompareSettings& settings, std::vector<std::string> warnings);

PlanRequest plan_request(const Session& session, const CompareRequest& request);

// The share of the jobs that --only-jobs names, kept in --run-dir.
int run_share(Session& session, const ComparePlan& plan, const CompareRequest& request);
// `--emit slurm`.
int emit_array(Session& session, const ComparePlan& plan, const CompareRequest& request);
// Every rank but the first: works on what rank 0 hands out, and prints nothing.
int follow_compare(const Globals& globals, const CompareRequest& request, RankLink& link);

std::int32_t screen_level(const Globals& globals);
std::string folds_text(std::size_t done, std::size_t all);
// Words as a shell would take them.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace omen::host::cli
