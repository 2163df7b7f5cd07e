// SPDX-License-Identifier: Apache-2.0
// Runs the pipeline with trainers that drop their batches, for several numbers of ranks and
// workers.
#include "run/pipeline_profiler.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <omen/join.hpp>
#include <omen/near_names.hpp>
#include <set>
#include <sstream>

#include "data/image_source.hpp"
#include "run/machine_log.hpp"
#include "run/number_list.hpp"
#include "run/rank_files.hpp"
#include "run/run_options.hpp"
#include "run/run_report.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct PipelineOptions {
  std::string design = "shared-memory", ranks = "1,2", workers = "1", recipe = "inception", columns;
  std::int64_t preprocessors = 1, batch = 64, epochs = 1, queue = 4, repeats = 1;
  int size = 32;
  bool scaled_decode = false;

  static std::vector<Option<PipelineOptions>> spec() {
    using O = PipelineOptions;
    return options(
        opt(&O::design, "design", "how ranks share preprocessed images")
            .choices("none", "all-shared", "single-broadcast", "multi-broadcast", "shared-memory"),
        opt(&O::ranks, "ranks", "numbers of ranks to measure, such as 1,2,4"),
        opt(&O::workers, "workers", "numbers of threads for each of decoding and preprocessing"),
        opt(&O::preprocessors, "preprocessors", "ranks that preprocess, at most all")
            .range(1, 100000),
        opt(&O::batch, "batch", "samples of a batch").range(1, 1e6),
        opt(&O::epochs, "epochs", "walks over the images").range(1, 1e6),
        opt(&O::queue, "queue", "blocks that may wait for a trainer").range(1, 65536),
        opt(&O::repeats, "repeats", "runs of each setting; their mean is reported, too")
            .range(1, 1000),
        opt(&O::size, "size", "width and height of what networks see").range(8, 1024),
        opt(&O::recipe, "recipe", "crops, flips and colours")
            .choices("inception", "fast", "cifar", "lenet"),
        opt(&O::scaled_decode, "scaled_decode", "let the decoder make large images smaller"),
        opt(&O::columns, "columns",
            "metrics to report, such as images_per_s,decode.cpu_s; empty: all"));
  }
};

std::string source_in(const std::string& workload_json) {
  const json workload = json::parse(workload_json, nullptr, false);
  if (workload.is_object())
    if (const auto words = workload.find("command"); words != workload.end() && words->is_array() &&
                                                     words->size() == 1 &&
                                                     words->front().is_string())
      return words->front().get<std::string>();
  throw Error(OMEN_INVALID_ARGUMENT, "the workload names no images",
              "Write: omen profile --with ensemble.pipeline -- images.epd, or synthetic:1024");
}

using Metrics = std::map<std::string, double>;

// "peak" is the best mean rate of a number of ranks over all numbers of workers.
constexpr const char* kRate = "images_per_s";
constexpr const char* kPeak = "peak.images_per_s";
constexpr const char* kWorkers = "workers";
constexpr const char* kWhole[] = {"ranks", kWorkers, kRate, "cpu_s", "cpu_s_per_image", kPeak};
// "per_s" is what one thread of the stage does while it works.
constexpr const char* kOfStages[] = {"count", "wall_s", "cpu_s", "per_s", "bytes"};
constexpr const char* kQueues[] = {"to_decode", "to_preprocess", "to_train"};

// Everything that a run can tell; which of it there is depends on the design.
std::vector<std::string> metric_names() {
  std::vector<std::string> names(std::begin(kWhole), std::end(kWhole));
  for (const std::string stage : kStageNames)
    for (const char* total : kOfStages) names.push_back(stage + "." + total);
  for (const char* queue : kQueues) names.push_back(std::string("queue.") + queue + ".fill");
  names.insert(names.end(), std::begin(kMachineMeans), std::end(kMachineMeans));
  return names;
}

std::set<std::string> wanted_metrics(const std::string& columns) {
  std::set<std::string> wanted;
  if (columns.empty()) return wanted;
  const std::vector<std::string> known = metric_names();
  for (const std::string& name : split(columns, ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::vector<std::string> near = near_names(name, known);
      throw Error(OMEN_INVALID_ARGUMENT, "columns: '" + name + "' is no metric of a pipeline",
                  (near.empty() ? "" : "Did you mean " + join(near, " or ") + "?  ") +
                      "Known are " + join(kWhole) + "; " + join(kOfStages) + " of " +
                      join(kStageNames) + ", such as decode.cpu_s; queue.to_train.fill with " +
                      "its like for to_decode and to_preprocess; and " + join(kMachineMeans) + ".");
    }
    wanted.insert(name);
  }
  return wanted;
}

// Sums of stages.csv over all ranks, and the mean fill of each queue.
void add_stages(const fs::path& directory, std::int64_t ranks, Metrics& metrics) {
  const StageSums stages = read_stages(directory, ranks);
  for (std::size_t i = 0; i < kStages; ++i) {
    const StageTotals& sum = stages.totals[i];
    if (sum.count == 0) continue;
    const std::string stage = kStageNames[i];
    metrics[stage + ".count"] = static_cast<double>(sum.count);
    metrics[stage + ".wall_s"] = sum.wall_s;
    metrics[stage + ".cpu_s"] = sum.cpu_s;
    if (sum.wall_s > 0) metrics[stage + ".per_s"] = static_cast<double>(sum.count) / sum.wall_s;
    metrics[stage + ".bytes"] = sum.bytes;
  }
}
void add_queues(const fs::path& directory, std::int64_t ranks, Metrics& metrics) {
  std::map<std::string, std::pair<double, double>> fills;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::ifstream in(directory / ("queues-" + std::to_string(rank) + ".csv"));
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::replace(line.begin(), line.end(), ',', ' ');
      std::istringstream cells(line);
      std::string queue;
      double time = 0, number = 0, capacity = 0, size = 0;
      if (!(cells >> time >> number >> queue >> capacity >> size) || capacity <= 0) continue;
      fills[queue].first += size / capacity;
      fills[queue].second += 1;
    }
  }
  for (const auto& [queue, fill] : fills)
    metrics["queue." + queue + ".fill"] = fill.first / fill.second;
}

class Counters {
 public:
  // Rows of several numbers of workers are told apart by a row that says which.
  Counters(const std::string& columns, bool tells_workers) : wanted_(wanted_metrics(columns)) {
    if (!wanted_.empty() && tells_workers) wanted_.insert(kWorkers);
    missing_ = wanted_;
  }
  void add(std::int64_t time, std::int64_t ranks, const std::string& prefix,
           const Metrics& metrics) {
    for (const auto& [name, value] : metrics) {
      if (!wanted_.empty() && !wanted_.count(name)) continue;
      missing_.erase(name);
      times_.push_back(time);
      devices_.push_back(static_cast<std::int32_t>(ranks));
      names_.push_back(prefix + name);
      values_.push_back(value);
    }
  }
  Table finish() {
    if (values_.empty())
      throw Error(OMEN_INVALID_ARGUMENT, "this design has no " + join(missing_),
                  "Leave --columns out once to see what it has.");
    if (!missing_.empty())
      log(OMEN_LOG_WARN, "ensemble.pipeline", "this design has no " + join(missing_));
    return TableBuilder()
        .add("workload_id", std::vector<std::int64_t>(values_.size(), 0))
        .add("t_ns", std::move(times_))
        .add("device", std::move(devices_))
        .add_categories("metric", names_)
        .add("value", std::move(values_))
        .finish();
  }

 private:
  std::set<std::string> wanted_, missing_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> times_;
  std::vector<std::int32_t> devices_;
  std::vector<double> values_;
};

// Means over the runs that had each metric.
class Means {
 public:
  void add(const Metrics& once) {
    for (const auto& [name, value] : once) {
      sums_[name] += value;
      ++counts_[name];
    }
  }
  Metrics finish() const {
    Metrics means = sums_;
    for (auto& [name, value] : means) value /= counts_.at(name);
    return means;
  }

 private:
  Metrics sums_;
  std::map<std::string, double> counts_;
};

// `device` of a row is the number of ranks: the table is the peak function.
class PipelineProfiler final : public Profiler {
 public:
  explicit PipelineProfiler(PipelineOptions options) : options_(std::move(options)) {}

  std::string probe() override {
    return json{{"launcher", "mpirun"}, {"designs", design_names()}}.dump();
  }

  TableStream collect(const std::string& workload_json, const Run& run) override {
    const std::vector<std::int64_t> all_workers = number_list(options_.workers, kWorkers);
    Counters counters(options_.columns, all_workers.size() > 1);
    const std::string source = source_in(workload_json);
    const std::string data = data_path(source, run.scratch_dir(), run.seed(), run);
    open_images(data);
    for (const std::int64_t ranks : number_list(options_.ranks, "ranks")) {
      double peak = 0;
      for (const std::int64_t workers : all_workers) {
        Means means;
        for (std::int64_t repeat = 0; repeat < options_.repeats; ++repeat) {
          const Metrics once = measure(data, ranks, workers, run);
          means.add(once);
          if (options_.repeats > 1) counters.add(runs_, ranks, "", once);
        }
        const Metrics mean = means.finish();
        counters.add(runs_, ranks, options_.repeats > 1 ? "mean." : "", mean);
        peak = std::max(peak, mean.at(kRate));
      }
      counters.add(runs_, ranks, "", {{kPeak, peak}});
    }
    return counters.finish();
  }

 private:
  Metrics measure(const std::string& data, std::int64_t ranks, std::int64_t workers,
                  const Run& run) {
    RunOptions wanted;
    wanted.models = "tiny*" + std::to_string(ranks);
    wanted.design = options_.design;
    wanted.preprocessors = std::min(options_.preprocessors, ranks);
    wanted.batch = options_.batch;
    wanted.epochs = options_.epochs;
    wanted.queue = options_.queue;
    wanted.workers = static_cast<int>(workers);
    wanted.size = options_.size;
    wanted.recipe = options_.recipe;
    wanted.scaled_decode = options_.scaled_decode;
    RunJob job = job_of(wanted, run.seed(), "cpu", data);
    job.sink = true;
    const fs::path directory =
        fs::path(run.scratch_dir()) / ("pipeline-" + std::to_string(++runs_));
    fs::create_directories(directory);
    job.state = directory.string();
    write_job(directory, job);
    const std::string stage = std::to_string(ranks) + " ranks";
    run_ranks(Launcher::kMpirun, job, directory, [&](double) { run.step(-1, stage.c_str()); });
    const RunTotals totals = totals_of(job, directory);
    const auto samples = static_cast<double>(totals.samples);
    Metrics metrics{{"ranks", static_cast<double>(ranks)},
                    {kWorkers, static_cast<double>(workers)},
                    {kRate, samples / static_cast<double>(ranks) / totals.run_s},
                    {"cpu_s", totals.cpu_s},
                    {"cpu_s_per_image", totals.cpu_s / samples}};
    add_stages(directory, ranks, metrics);
    add_queues(directory, ranks, metrics);
    metrics.merge(machine_means(directory));
    return metrics;
  }

  PipelineOptions options_;
  std::int64_t runs_ = 0;
};

}  // namespace

Component pipeline_profiler_component() {
  return profiler<PipelineProfiler, PipelineOptions>(
      "ensemble.pipeline", "rate at which ranks are fed, CPU seconds of stages and fill of queues");
}

}  // namespace omen::ensemble
