// SPDX-License-Identifier: Apache-2.0
// What can be asked of a run, and what is refused.
#include "run/run_options.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <omen/join.hpp>

#include "data/generator.hpp"
#include "data/image_source.hpp"
#include "transport/ring.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSynthetic = "synthetic:";
constexpr std::uint32_t kMostSynthetic = 10'000'000;

[[noreturn]] void refused(const std::string& what, const std::string& hint) {
  throw Error(OMEN_INVALID_ARGUMENT, what, hint);
}

std::string host_of_parent() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void check_together(const RunJob& job) {
  if (job.batch % job.block != 0)
    refused("a block of " + std::to_string(job.block) + " samples does not divide a batch of " +
                std::to_string(job.batch),
            "Choose a divisor, or leave --block out.");
  if (job.design == Design::kWastefulBroadcast)
    refused("the published broadcast drops what it prepares, and is only predicted, not run",
            "Use --design multi-broadcast.");
  if (!job.coupled && job.design != Design::kSharedMemory && job.design != Design::kNone)
    refused(std::string("a decoupled pace needs shared memory: messages of ") +
                design_name(job.design) + " arrive once",
            "Use --design shared-memory.");
  if (job.preprocessors > job.ranks)
    refused(std::to_string(job.preprocessors) + " preprocessors on " + std::to_string(job.ranks) +
                " ranks",
            "Use at most as many as there are ranks.");
  for (const ModelChoice& model : job.models) {
    if (model.ranks > job.ranks)
      refused("model '" + model.name + "' divides its batches among " +
                  std::to_string(model.ranks) + " ranks, but there are " +
                  std::to_string(job.ranks),
              "Use more --ranks.");
    if (model.ranks > job.batch)
      refused("model '" + model.name + "' has more ranks than samples in a batch",
              "Use a larger --batch.");
  }
}

}  // namespace

std::vector<Option<RunOptions>> RunOptions::spec() {
  using O = RunOptions;
  return options(
      opt(&O::design, "design", "how ranks share preprocessed images")
          .choices("none", "all-shared", "single-broadcast", "multi-broadcast", "shared-memory")
          .no_effect_on_result(),
      opt(&O::models, "models",
          "networks to train: built-in names, TorchScript files, sweep tables; tiny*3: three"),
      opt(&O::data, "data",
          "packed JPEG, IDX or CIFAR-10 file, directory of images, or synthetic:COUNT[:WxH]"),
      opt(&O::ranks, "ranks", "processes; 0: one for each model, or for each part of one")
          .range(0, 100000)
          .no_effect_on_result(),
      opt(&O::preprocessors, "preprocessors", "ranks that preprocess, where the design lets choose")
          .range(1, 100000)
          .no_effect_on_result(),
      opt(&O::pace, "pace",
          "coupled: models wait for each other within the window; decoupled: a "
          "slow one makes again what it missed")
          .choices("coupled", "decoupled")
          .no_effect_on_result(),
      opt(&O::epochs, "epochs", "walks over the training samples").range(1, 1e9),
      opt(&O::batch, "batch", "samples of a step").range(1, 1e6),
      opt(&O::block, "block", "samples that travel together; 0: a batch")
          .range(0, 1e6)
          .no_effect_on_result(),
      opt(&O::queue, "queue", "blocks that may wait for a trainer")
          .range(1, 65536)
          .no_effect_on_result(),
      opt(&O::sample_queue, "sample_queue", "samples in the queues between stages")
          .range(1, 1e6)
          .no_effect_on_result(),
      opt(&O::workers, "workers", "threads of a rank for decoding, and as many for preprocessing")
          .range(1, 256)
          .no_effect_on_result(),
      opt(&O::size, "size", "width and height of what networks see").range(8, 1024),
      opt(&O::channels, "channels", "1: grey, 3: colours").range(1, 3),
      opt(&O::recipe, "recipe", "crops, flips and colours of training")
          .choices("inception", "fast", "cifar", "lenet"),
      opt(&O::scaled_decode, "scaled_decode", "let the decoder make large images smaller"),
      opt(&O::damaged, "damaged", "an image that cannot be decoded becomes grey, or ends the run")
          .choices("blank", "stop"),
      opt(&O::validation, "validation", "part of the samples that is kept for validation")
          .range(0, 0.9),
      opt(&O::patience, "patience", "epochs without a better validation that end a model; 0: none")
          .range(0, 1e6),
      opt(&O::checkpoint, "checkpoint", "steps between checkpoints; 0: one for each epoch")
          .range(0, 1e9)
          .no_effect_on_result(),
      opt(&O::optimiser, "optimiser", "of models that name none")
          .choices("sgd", "momentum", "adam"),
      opt(&O::learning_rate, "learning_rate", "of models that name none").range(1e-12, 1e6),
      opt(&O::weight_decay, "weight_decay", "of all models").range(0, 1),
      opt(&O::train_rate, "train_rate",
          "images/s of an emulated accelerator: ranks wait instead of training; 0: train")
          .range(0, 1e9)
          .advanced(),
      opt(&O::launcher, "launcher", "what starts the ranks")
          .choices("mpirun", "srun")
          .no_effect_on_result(),
      opt(&O::emit, "emit", "print a job file for a cluster instead of running")
          .choices("none", "slurm", "pbs")
          .no_effect_on_result());
}

Launcher launcher_of(const std::string& name) {
  return name == "srun" ? Launcher::kSrun : Launcher::kMpirun;
}

RunJob job_of(const RunOptions& options, std::uint64_t seed, const std::string& devices,
              const std::string& data) {
  RunJob job;
  job.data = data;
  job.design = parse_design(options.design).value().design;
  job.coupled = parse_pace(options.pace).value();
  ModelChoice defaults;
  defaults.learning_rate = options.learning_rate;
  defaults.optimiser = parse_optimiser(options.optimiser).value();
  defaults.seed = seed;
  job.models = parse_models(options.models, defaults);
  job.ranks = options.ranks > 0 ? options.ranks : places_of(job.models);
  job.preprocessors = options.preprocessors;
  job.epochs = options.epochs;
  job.batch = options.batch;
  job.block = options.block > 0 ? options.block : options.batch;
  job.queue = options.queue;
  job.channels = options.channels == 2 ? 3 : options.channels;
  job.side = options.size;
  job.preprocessing = {parse_recipe(options.recipe).value(),
                       seed,
                       options.scaled_decode,
                       options.damaged == "stop" ? Damaged::kStop : Damaged::kBlank,
                       options.workers,
                       static_cast<std::size_t>(options.sample_queue)};
  job.valid_share = options.validation;
  job.patience = options.patience;
  job.checkpoint_steps = options.checkpoint;
  job.weight_decay = options.weight_decay;
  job.train_rate = options.train_rate;
  job.devices = devices;
  job.parent = ::getpid();
  job.host = host_of_parent();
  job.ring = (Ring::default_directory() / ("omen-ensemble-" + std::to_string(::getpid()))).string();
  check_together(job);
  return job;
}

std::string data_path(const std::string& data, const fs::path& place, std::uint64_t seed,
                      const Run& run) {
  if (!data.starts_with(kSynthetic)) return fs::absolute(data).string();
  GeneratorOptions options;
  options.seed = seed;
  unsigned count = 0;
  int width = options.width, height = options.height, used = 0;
  const std::string text = data.substr(kSynthetic.size());
  const int fields =
      std::sscanf(text.c_str(), "%u%n:%dx%d%n", &count, &used, &width, &height, &used);
  const bool whole = (fields == 1 || fields == 3) && static_cast<std::size_t>(used) == text.size();
  if (!whole || count < 1 || count > kMostSynthetic || width < 8 || height < 8 || width > 4096 ||
      height > 4096)
    refused("'" + data + "' is not understood",
            "Write synthetic:1024, or synthetic:1024:375x300 with a size of 8 to 4096.");
  options.width = width;
  options.height = height;
  const fs::path path = place / "synthetic.epd";
  if (!fs::exists(path))
    write_generated(path, count, options, [&run](double part) { run.step(part, "make images"); });
  return path.string();
}

}  // namespace omen::ensemble
