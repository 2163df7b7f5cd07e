// SPDX-License-Identifier: Apache-2.0
// Small files that people can read while a run goes on.
#include "run/rank_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <omen/descriptor.hpp>
#include <omen/pending_file.hpp>
#include <sstream>

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path numbered(const fs::path& directory, const std::string& stem, std::int64_t rank,
                  const char* suffix) {
  return directory / (stem + "-" + std::to_string(rank) + suffix);
}

}  // namespace

fs::path status_file(const fs::path& directory, std::int64_t rank) {
  return numbered(directory, "rank", rank, ".status");
}
fs::path error_file(const fs::path& directory, std::int64_t rank) {
  return numbered(directory, "rank", rank, ".error");
}

void write_status(const fs::path& file, const RankStatus& status) {
  std::ostringstream text;
  text << status.beat << ' ' << status.process << ' ' << status.step << ' ' << status.done << ' '
       << status.loss << " .\n";
  // One short write in place: no rename twice a second, and never longer than before by much.
  const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  const std::string line = text.str();
  // A status that cannot be written shows as silence.
  if (out.open() && ::pwrite(out.get(), line.data(), line.size(), 0) < 0) return;
}

std::optional<RankStatus> read_status(const fs::path& file) {
  std::ifstream in(file);
  RankStatus status;
  std::string loss, end;
  if (!(in >> status.beat >> status.process >> status.step >> status.done >> loss >> end) ||
      end != ".")
    return {};
  // Streams do not read "nan".
  status.loss = std::strtod(loss.c_str(), nullptr);
  return status;
}

void write_summary(const fs::path& directory, std::int64_t rank, const RankSummary& summary,
                   PreprocessingRecord& record) {
  std::ostringstream stages;
  stages << "rank,stage,count,wall_s,cpu_s,bytes\n";
  for (std::size_t i = 0; i < kStages; ++i) {
    const StageTotals sum = record.clocks.of(static_cast<Stage>(i));
    stages << rank << ',' << kStageNames[i] << ',' << sum.count << ',' << sum.wall_s << ','
           << sum.cpu_s << ',' << sum.bytes << '\n';
  }
  replace_file(numbered(directory, "stages", rank, ".csv"), stages.str());
  std::ostringstream damaged;
  damaged << "rank,sample,reason\n";
  const std::lock_guard lock(record.mutex);
  for (const auto& [sample, reason] : record.damaged)
    damaged << rank << ',' << sample << ",\"" << reason << "\"\n";
  replace_file(numbered(directory, "damaged", rank, ".csv"), damaged.str());
  const json out{{"startup_s", summary.startup_s},
                 {"startup_cpu_s", summary.startup_cpu_s},
                 {"run_s", summary.run_s},
                 {"run_cpu_s", summary.run_cpu_s},
                 {"samples", summary.samples},
                 {"max_rss_bytes", summary.max_rss_bytes},
                 {"host_ranks", summary.host_ranks},
                 {"checkpoints", summary.checkpoints},
                 {"failed_checkpoints", summary.failed_checkpoints}};
  replace_file(numbered(directory, "rank", rank, ".json"), out.dump(2) + "\n");
}

std::optional<RankSummary> read_summary(const fs::path& directory, std::int64_t rank) {
  std::ifstream in(numbered(directory, "rank", rank, ".json"));
  const json from = json::parse(in, nullptr, false);
  if (!from.is_object()) return {};
  RankSummary summary;
  summary.startup_s = from.value("startup_s", 0.0);
  summary.startup_cpu_s = from.value("startup_cpu_s", 0.0);
  summary.run_s = from.value("run_s", 0.0);
  summary.run_cpu_s = from.value("run_cpu_s", 0.0);
  summary.samples = from.value("samples", std::int64_t{0});
  summary.max_rss_bytes = from.value("max_rss_bytes", 0.0);
  summary.host_ranks = from.value("host_ranks", std::int64_t{1});
  summary.checkpoints = from.value("checkpoints", std::int64_t{0});
  summary.failed_checkpoints = from.value("failed_checkpoints", std::int64_t{0});
  return summary;
}

StageSums read_stages(const fs::path& directory, std::int64_t ranks) {
  StageSums sums;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::ifstream in(numbered(directory, "stages", rank, ".csv"));
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::replace(line.begin(), line.end(), ',', ' ');
      std::istringstream cells(line);
      std::string stage;
      std::int64_t number = 0;
      StageTotals one;
      if (!(cells >> number >> stage >> one.count >> one.wall_s >> one.cpu_s >> one.bytes))
        continue;
      const auto known = std::find(kStageNames.begin(), kStageNames.end(), stage);
      if (known == kStageNames.end()) continue;
      StageTotals& sum = sums.totals[static_cast<std::size_t>(known - kStageNames.begin())];
      sum.count += one.count;
      sum.wall_s += one.wall_s;
      sum.cpu_s += one.cpu_s;
      sum.bytes += one.bytes;
    }
  }
  return sums;
}

RankLog::RankLog(const fs::path& directory, std::int64_t rank)
    : rank_(rank),
      steps_(numbered(directory, "steps", rank, ".csv")),
      queues_(numbered(directory, "queues", rank, ".csv")),
      notes_(numbered(directory, "rank", rank, ".log")) {
  steps_ << "rank,model,step,compute_s,full_s,extra_s,loss\n";
  queues_ << "t,rank,queue,capacity,size\n";
}

void RankLog::step(const std::string& model, std::int64_t step, double compute_s, double full_s,
                   double loss) {
  steps_ << rank_ << ',' << model << ',' << step << ',' << compute_s << ',' << full_s << ','
         << full_s - compute_s << ',' << loss << '\n';
}
void RankLog::queues(double seconds, const std::vector<QueueFill>& fill) {
  for (const QueueFill& one : fill)
    queues_ << seconds << ',' << rank_ << ',' << one.queue << ',' << one.capacity << ',' << one.size
            << '\n';
}
void RankLog::note(const std::string& text) {
  notes_ << text << std::endl;
}

void join_rank_files(const fs::path& directory, const std::string& stem, std::int64_t ranks,
                     const fs::path& target) {
  std::ostringstream all;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::ifstream in(numbered(directory, stem, rank, ".csv"));
    std::string line;
    for (bool head = true; std::getline(in, line); head = false)
      if (!head || all.tellp() == 0) all << line << '\n';
  }
  replace_file(target, all.str());
}

}  // namespace omen::ensemble
