// SPDX-License-Identifier: Apache-2.0
// Measures a training as it is, and asks the closed form for copies of it.
#include "advise/advise_command.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <omen/telemetry/job.hpp>
#include <optional>

#include "advise/marked_job.hpp"
#include "advise/preprocessing_cost.hpp"
#include "data/recipe.hpp"
#include "rate/sharing_advice.hpp"
#include "run/number_list.hpp"
#include "run/run_options.hpp"
#include "transport/ring.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRingSource = "RingReader";
constexpr std::int64_t kBlock = 32;

struct AdviseOptions {
  std::string copies = "1,2,4,8", data, recipe = "inception";
  std::int64_t batches = 100, images = 512;
  int size = 32, channels = 3;
  bool scaled_decode = false;

  static std::vector<Option<AdviseOptions>> spec() {
    using O = AdviseOptions;
    return options(
        opt(&O::copies, "copies", "numbers of trainings side by side"),
        opt(&O::batches, "batches", "batches to time, after which the job is ended; 0: let it end")
            .range(0, 1e9),
        opt(&O::data, "data",
            "images that serve-data would publish, to measure its cost; empty: the job's own"),
        opt(&O::images, "images", "images to measure that cost on").range(1, 1e6),
        opt(&O::size, "size", "width and height of what networks see").range(8, 1024),
        opt(&O::channels, "channels", "1: grey, 3: colours").range(1, 3),
        opt(&O::recipe, "recipe", "crops, flips and colours of serve-data")
            .choices("inception", "fast", "cifar", "lenet"),
        opt(&O::scaled_decode, "scaled_decode", "let the decoder make large images smaller"));
  }
};

// Serves the images to a job that reads them from a ring, and ends with it.
class Server {
 public:
  Server(const AdviseOptions& options, const std::string& data, std::uint64_t seed)
      : ring_((Ring::default_directory() / ("omen-advise-" + std::to_string(::getpid()))).string()),
        child_(telemetry::Job::start(words(options, data, seed), {})) {}
  ~Server() {
    ::kill(child_.pid(), SIGTERM);
    if (!child_.wait(std::chrono::nanoseconds(kPatience).count())) {
      ::kill(child_.pid(), SIGKILL);
      child_.wait(std::chrono::nanoseconds(kPatience).count());
    }
    std::error_code none;
    fs::remove(ring_, none);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  const std::string& ring() const noexcept { return ring_; }

 private:
  static constexpr std::chrono::seconds kPatience{5};

  std::vector<std::string> words(const AdviseOptions& options, const std::string& data,
                                 std::uint64_t seed) const {
    std::vector<std::string> all = {"/bin/sh",
                                    "-c",
                                    "exec \"$@\" > /dev/null 2>&1",
                                    "serve",
                                    fs::read_symlink("/proc/self/exe").string(),
                                    "ensemble",
                                    "serve-data",
                                    "--data",
                                    data,
                                    "--ring",
                                    ring_,
                                    "--size",
                                    std::to_string(options.size),
                                    "--channels",
                                    std::to_string(options.channels),
                                    "--recipe",
                                    options.recipe,
                                    "--seed",
                                    std::to_string(seed),
                                    "-q"};
    if (options.scaled_decode) all.emplace_back("--scaled-decode");
    return all;
  }

  const std::string ring_;
  telemetry::Job child_;
};

class AdviseCommand final : public Command {
 public:
  explicit AdviseCommand(AdviseOptions options) : options_(std::move(options)) {}

  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override {
    if (args.empty())
      throw Error(OMEN_INVALID_ARGUMENT, "advise needs the command of a training",
                  "Use: omen ensemble advise -- python train.py");
    const std::vector<std::int64_t> copies = number_list(options_.copies, "copies");
    const std::string data =
        options_.data.empty() ? "" : data_path(options_.data, run.scratch_dir(), run.seed(), run);
    const JobCosts job = measure_job(args, data, run);
    const bool reads_ring = job.source == kRingSource;
    if (reads_ring && data.empty())
      throw Error(OMEN_INVALID_ARGUMENT,
                  "the job reads from a ring, so that its images are prepared elsewhere",
                  "Name them: omen ensemble advise --data images/ -- python train.py");
    const double served = data.empty() ? job.prepare_cpu_s : measure_serving(data, run);
    put_job(job, served, reads_ring, out);
    put_advice(costs_of(job, served, reads_ring), copies, out);
    return 0;
  }

 private:
  JobCosts measure_job(const std::vector<std::string>& words, const std::string& data,
                       const Run& run) const {
    std::optional<Server> server;
    // Only a job that reads from a ring meets it.
    if (!data.empty()) server.emplace(options_, data, run.seed());
    return run_marked_job({words, options_.batches, fs::path(run.scratch_dir()) / "python",
                           server ? server->ring() : ""},
                          [&run] { run.step(-1, "time the batches of the job"); });
  }

  double measure_serving(const std::string& data, const Run& run) const {
    const PreprocessingOptions preprocessing{parse_recipe(options_.recipe).value(), run.seed(),
                                             options_.scaled_decode};
    return preprocessing_cpu_s(data, shape(), preprocessing, options_.images,
                               [&run](double part) { run.step(part, "preprocess images"); });
  }
  BlockShape shape() const { return {kBlock, options_.channels == 1 ? 1 : 3, options_.size}; }

  // A reader's own share of handing out batches stays with it, alone or not.
  CopyCosts costs_of(const JobCosts& job, double served, bool reads_ring) const {
    CopyCosts costs;
    costs.own_prepare_cpu_s = reads_ring ? served : job.prepare_cpu_s;
    costs.served_prepare_cpu_s = served;
    costs.train_cpu_s = job.train_cpu_s + (reads_ring ? job.prepare_cpu_s : 0);
    costs.train_wall_s = job.train_wall_s;
    costs.alone_wall_s = job.prepare_wall_s + job.train_wall_s;
    costs.sample_bytes = static_cast<double>(shape().floats_per_sample()) * sizeof(float);
    return costs;
  }

  static void put_job(const JobCosts& job, double served, bool reads_ring, const TablesOut& out) {
    const auto ms = [](double seconds) { return std::vector<double>{1000 * seconds}; };
    TableBuilder table;
    table.add_strings("batches_from", {job.source})
        .add("batches", std::vector<std::int64_t>{job.batches})
        .add("images", std::vector<std::int64_t>{job.images})
        .add("prepare_cpu_ms", ms(reads_ring ? served : job.prepare_cpu_s))
        .add("serve_cpu_ms", ms(served))
        .add("train_cpu_ms", ms(job.train_cpu_s))
        .add("train_per_s", std::vector<double>{1 / job.train_wall_s});
    out.put("job", table.finish());
  }

  static void put_advice(const CopyCosts& costs, const std::vector<std::int64_t>& copies,
                         const TablesOut& out) {
    const auto cores = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
    std::vector<double> alone, shared, saving, alone_rate, shared_rate;
    for (const std::int64_t n : copies) {
      const CopyForecast said = forecast_copies(costs, static_cast<double>(n), cores);
      alone.push_back(1000 * said.alone_cpu_s);
      shared.push_back(1000 * said.shared_cpu_s);
      saving.push_back(said.saving());
      alone_rate.push_back(said.alone_per_s);
      shared_rate.push_back(said.shared_per_s);
    }
    out.put("copies", TableBuilder()
                          .add("copies", copies)
                          .add("alone_cpu_ms", alone)
                          .add("shared_cpu_ms", shared)
                          .add("saving", saving)
                          .add("alone_per_s", alone_rate)
                          .add("shared_per_s", shared_rate)
                          .finish());
  }

  AdviseOptions options_;
};

}  // namespace

Component advise_component() {
  return command<AdviseCommand, AdviseOptions>(
      "ensemble.advise", "what copies of a training of yours would save by sharing its batches");
}

}  // namespace omen::ensemble
