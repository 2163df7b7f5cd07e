// SPDX-License-Identifier: Apache-2.0
// What `compare` and `rerun` share.
#pragma once

#include <string>
#include <vector>

#include "cli/compare_request.hpp"
#include "cli/session.hpp"
#include "compare/run_comparison.hpp"

namespace omen::host::cli {

// run_comparison with the progress, the log and the command line of this session.
FinishedRun compare_in(Session& session, ComparePlan& plan, const CompareSettings& settings,
                       const std::vector<std::string>& warnings);

PlanRequest plan_request(const Session& session, const CompareRequest& request);

// The share of the jobs that --only-jobs names, kept in --run-dir.
int run_share(Session& session, ComparePlan& plan, const CompareRequest& request);
// `--emit slurm`.
int emit_array(Session& session, const ComparePlan& plan, const CompareRequest& request);
// Every rank but the first: works on what rank 0 hands out, and prints nothing.
int follow_compare(const Globals& globals, const CompareRequest& request, RankLink& link);

std::int32_t screen_level(const Globals& globals);
// Words as a shell would take them.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace omen::host::cli
