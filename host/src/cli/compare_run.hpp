// SPDX-License-Identifier: Apache-2.0
// Carries a plan through: jobs, statistics, and the files of a run; what `compare` and `rerun`
// share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "compare/plan.hpp"
#include "compare/run_record.hpp"

namespace omen::host::cli {

struct CompareSettings {
  std::filesystem::path runs_dir = "runs";
  std::string baseline;  // empty: the first contestant
  std::optional<double> rope;
  bool self_check = false;
};

struct FinishedRun {
  Comparison comparison;
  RunRecord record;
};

// Continues an unfinished run of the same plan. Writes run.json, losses.csv, compare.json and
// compare.html. Interrupted by the user it throws OMEN_CANCELLED with what was kept.
FinishedRun run_comparison(Session& session, const ComparePlan& plan,
                           const CompareSettings& settings, std::vector<std::string> warnings);

// Words as a shell would take them.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace omen::host::cli
