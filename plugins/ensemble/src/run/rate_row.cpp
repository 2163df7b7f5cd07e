// SPDX-License-Identifier: Apache-2.0
// Divides the CPU seconds of a run between preprocessing and training by the clocks of its stages.
#include "run/rate_row.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "run/rank_files.hpp"

namespace omen::ensemble {
namespace {

// A processor that other jobs share stretches the wall time of a step, but not its CPU time.
double training_seconds(const RunJob& job, const StageSums& stages) {
  const StageTotals& train = stages.of(Stage::kTrain);
  return job.devices == "cpu" ? train.cpu_s : train.wall_s;
}

}  // namespace

std::optional<std::string> rate_row(const RunJob& job, const RunTotals& totals,
                                    const std::filesystem::path& directory) {
  const bool one_each = std::all_of(job.models.begin(), job.models.end(),
                                    [](const ModelChoice& model) { return model.ranks == 1; });
  if (!one_each || job.ranks != static_cast<std::int64_t>(job.models.size())) return {};
  if (totals.samples == 0 || job.sink || job.train_rate > 0) return {};
  const StageSums stages = read_stages(directory, job.ranks);
  const auto samples = static_cast<double>(totals.samples);
  const double train_cpu = stages.of(Stage::kTrain).cpu_s + stages.of(Stage::kValidate).cpu_s +
                           stages.of(Stage::kCheckpoint).cpu_s;
  const double moved = stages.of(Stage::kSend).cpu_s + stages.of(Stage::kWait).cpu_s;
  // Queues and threads between the stages are there for what is prepared.
  const double prepare_cpu = std::max(0.0, totals.cpu_s - train_cpu - moved);
  std::ostringstream out;
  out << "pipeline,n_nodes,cores_per_node,preprocessors,ranks_per_node,train_rate,sample_bytes,"
         "images,images_per_s,cpu_s_per_image,prepare_cpu_s_per_image,train_cpu_s_per_image\n"
      << design_name(job.design) << ',' << job.ranks << ',' << ::sysconf(_SC_NPROCESSORS_ONLN)
      << ',' << job.preprocessors << ',' << totals.host_ranks << ','
      << samples / training_seconds(job, stages) << ','
      << job.channels * job.side * job.side * 4 + 4 << ','
      << totals.samples / job.ranks / job.epochs << ','
      << samples / static_cast<double>(job.ranks) / totals.run_s << ',' << totals.cpu_s / samples
      << ',' << prepare_cpu / samples << ',' << train_cpu / samples << '\n';
  return out.str();
}

}  // namespace omen::ensemble
