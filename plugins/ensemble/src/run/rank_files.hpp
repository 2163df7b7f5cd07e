// SPDX-License-Identifier: Apache-2.0
// What a rank leaves in the directory of its run: signs of life, steps, queues, stages, errors.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "stage/block_maker.hpp"

namespace omen::ensemble {

// A line that is overwritten twice a second.
struct RankStatus {
  std::int64_t beat = 0, process = 0;
  std::int64_t step = 0;  // over all epochs
  bool done = false;      // its files are written; it may wait for others in silence
  double loss = 0;        // of its first model
};
std::filesystem::path status_file(const std::filesystem::path& directory, std::int64_t rank);
void write_status(const std::filesystem::path& file, const RankStatus& status);
std::optional<RankStatus> read_status(const std::filesystem::path& file);

std::filesystem::path error_file(const std::filesystem::path& directory, std::int64_t rank);

// What a rank used, written once at its end.
struct RankSummary {
  double startup_s = 0, startup_cpu_s = 0;  // until its first block was asked for
  double run_s = 0, run_cpu_s = 0;          // from then on
  std::int64_t samples = 0;                 // that arrived for training
  double max_rss_bytes = 0;
  std::int64_t host_ranks = 1;  // ranks of its host
  std::int64_t checkpoints = 0, failed_checkpoints = 0;
};
// rank-N.json, stages-N.csv and damaged-N.csv.
void write_summary(const std::filesystem::path& directory, std::int64_t rank,
                   const RankSummary& summary, PreprocessingRecord& record);
std::optional<RankSummary> read_summary(const std::filesystem::path& directory, std::int64_t rank);

// Clocks of the stages of all ranks, added up.
struct StageSums {
  std::array<StageTotals, kStages> totals{};
  const StageTotals& of(Stage stage) const { return totals[static_cast<std::size_t>(stage)]; }
};
StageSums read_stages(const std::filesystem::path& directory, std::int64_t ranks);

// steps-N.csv and queues-N.csv, appended row by row.
class RankLog {
 public:
  RankLog(const std::filesystem::path& directory, std::int64_t rank);
  void step(const std::string& model, std::int64_t step, double compute_s, double full_s,
            double loss);
  void queues(double seconds, const std::vector<QueueFill>& fill);
  void note(const std::string& text);

 private:
  const std::int64_t rank_;
  std::ofstream steps_, queues_, notes_;
};

// Header and rows of the same file of all ranks, joined into one: steps.csv from steps-0.csv, ...
void join_rank_files(const std::filesystem::path& directory, const std::string& stem,
                     std::int64_t ranks, const std::filesystem::path& target);

}  // namespace omen::ensemble
