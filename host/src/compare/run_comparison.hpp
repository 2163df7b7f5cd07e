// SPDX-License-Identifier: Apache-2.0
// Carries a plan through: jobs, statistics, and the files of a run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/mpi_jobs.hpp"
#include "compare/plan.hpp"
#include "compare/run_record.hpp"

namespace omen::host {

class JsonWriter;

struct CompareSettings {
  std::filesystem::path runs_dir = "runs";
  std::string baseline;  // empty: the first contestant
  std::optional<double> rope;
  bool self_check = false;
  std::filesystem::path run_dir;  // empty: below runs_dir
  RankLeader* ranks = nullptr;    // where a launcher started several
};

// What a comparison is told by the program that it is part of, and tells it; all must be set.
struct CompareFrame {
  std::string command;  // that began it, as a shell would take it
  std::int32_t screen_level = OMEN_LOG_WARN;
  std::function<void(JsonWriter& json)> begin_record;  // opens run.json; the object stays open
  JobProgress progress;
  std::function<void()> end_progress;
  std::function<double()> elapsed;  // seconds since the program began
};

struct FinishedRun {
  Comparison comparison;
  RunRecord record;
};

// Continues an unfinished run of the same plan, whose state directory it settles. Writes run.json,
// losses.csv, compare.json and compare.html. Interrupted by the user it throws OMEN_CANCELLED with
// what was kept.
FinishedRun run_comparison(ComparePlan& plan, const CompareSettings& settings,
                           const CompareFrame& frame, const std::vector<std::string>& warnings);

// "3 of 10 folds".
std::string folds_text(std::size_t done, std::size_t all);

}  // namespace omen::host
