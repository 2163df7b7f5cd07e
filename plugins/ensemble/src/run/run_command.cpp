// SPDX-License-Identifier: Apache-2.0
// The parent: prepares the job, starts and watches the ranks, reports.
#include "run/run_command.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "data/epoch_order.hpp"
#include "data/image_source.hpp"
#include "run/cluster_script.hpp"
#include "run/run_options.hpp"
#include "run/run_report.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// "step 12 of 40", and the part that is done of what this attempt found left: a run that goes on
// from its checkpoints has the pace of the steps since, and so has the time that omen says is left.
class StepProgress {
 public:
  StepProgress(const Run& run, std::int64_t steps) : run_(run), steps_(steps) {}
  void operator()(double step) {
    if (first_ < 0 && step > 0) first_ = step;
    const double all = static_cast<double>(steps_);
    const double done = first_ < 0 ? 0 : (step - first_) / std::max(1.0, all - first_);
    const std::string text =
        "step " + std::to_string(static_cast<std::int64_t>(step)) + " of " + std::to_string(steps_);
    run_.step(done, text.c_str());
  }

 private:
  const Run& run_;
  const std::int64_t steps_;
  double first_ = -1;
};

class RunCommand final : public Command {
 public:
  explicit RunCommand(RunOptions options) : options_(std::move(options)) {}

  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override {
    if (!args.empty())
      throw Error(OMEN_INVALID_ARGUMENT, "run takes no words, but got '" + args[0] + "'",
                  "Name networks with --models and images with --data.");
    if (options_.emit != "none") return emit(out, run);
    const bool keeps = !run.state_dir().empty();
    const fs::path place = keeps ? run.state_dir() : run.scratch_dir();
    const std::string data = data_path(options_.data, place, run.seed(), run);
    RunJob job = job_of(options_, run.seed(), run.devices(), data);
    job.state = (place / "models").string();
    const fs::path directory = place / "ranks";
    std::error_code none;
    // Checkpoints stay; what ranks of an earlier attempt said does not.
    fs::remove_all(directory, none);
    fs::create_directories(directory);
    fs::create_directories(job.state);
    write_job(directory, job);
    const std::int64_t steps = check_data(job) * job.epochs;
    StepProgress progress(run, steps);
    const double began = unix_seconds();
    run_ranks(launcher_of(options_.launcher), job, directory,
              [&progress](double step) { progress(step); });
    RunTotals totals = totals_of(job, directory);
    totals.began = began;
    totals.ended = unix_seconds();
    if (totals.damaged > 0)
      log(OMEN_LOG_WARN, "ensemble.run",
          std::to_string(totals.damaged) +
              " images could not be decoded and were grey; damaged.csv names them");
    if (totals.failed_checkpoints > 0)
      log(OMEN_LOG_WARN, "ensemble.run",
          std::to_string(totals.failed_checkpoints) + " checkpoints could not be written");
    if (!run.output_dir().empty()) write_output(job, totals, directory, run.output_dir());
    put_curves(job, run);
    put_tables(job, totals, out);
    return 0;
  }

 private:
  // Steps of an epoch. What is wrong with the data is said before any rank starts.
  std::int64_t check_data(const RunJob& job) const {
    const auto images = open_images(job.data);
    const auto train = static_cast<std::int64_t>(
        split_samples(images->size(), job.valid_share, job.preprocessing.seed).train.size());
    if (train < job.batch)
      throw Error(OMEN_INVALID_ARGUMENT,
                  "'" + options_.data + "' has " + std::to_string(train) +
                      " samples to train on, which do not fill a batch of " +
                      std::to_string(job.batch),
                  "Use a smaller --batch.");
    return train / job.batch;
  }

  int emit(const TablesOut& out, const Run& run) const {
    const RunJob job = job_of(options_, run.seed(), run.devices(), options_.data);
    const Cluster cluster = options_.emit == "slurm" ? Cluster::kSlurm : Cluster::kPbs;
    // Without -o a directory of its own is found for the figures of this call alone.
    fs::path place = run.state_dir().empty() ? "ensemble-run" : run.output_dir();
    if (!place.has_filename()) place = place.parent_path();
    const std::string script = cluster_script(cluster, options_, job, place.string());
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < script.size();) {
      const std::size_t end = script.find('\n', at);
      lines.push_back(script.substr(at, end - at));
      at = end + 1;
    }
    out.put("script",
            TableBuilder().metadata("omen.render", "text").add_strings("line", lines).finish());
    return 0;
  }

  RunOptions options_;
};

}  // namespace

Component run_component() {
  return command<RunCommand, RunOptions>(
      "ensemble.run", "train several networks at once on one pipeline of images");
}

}  // namespace omen::ensemble
