// SPDX-License-Identifier: Apache-2.0
// Fills a ring epoch after epoch; readers in any language come and go.
#include "serve/serve_command.hpp"

#include <unistd.h>

#include <atomic>
#include <thread>

#include "data/epoch_order.hpp"
#include "run/run_options.hpp"
#include "stage/stage_clock.hpp"
#include "transport/ring.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

struct ServeOptions {
  std::string data = "synthetic:1024", ring, recipe = "inception", damaged = "blank";
  std::int64_t epochs = 0, block = 32, slots = 16, sample_queue = 64, wait_for = 1;
  int workers = 1, size = 32, channels = 3;
  double patience = 60;
  bool scaled_decode = false;

  static std::vector<Option<ServeOptions>> spec() {
    using O = ServeOptions;
    return options(
        opt(&O::data, "data", "as for omen ensemble run"),
        opt(&O::ring, "ring", "file that readers open; empty: /dev/shm/omen-ring").path(),
        opt(&O::epochs, "epochs", "walks over the samples; 0: until the last reader has left")
            .range(0, 1e9),
        opt(&O::wait_for, "wait_for", "readers that must be there before the first epoch begins")
            .range(0, 64),
        opt(&O::block, "block", "samples of a slot; readers choose batches of their own")
            .range(1, 65536),
        opt(&O::slots, "slots", "slots of the ring: how far readers may be apart").range(2, 65536),
        opt(&O::workers, "workers", "threads for decoding, and as many for preprocessing")
            .range(1, 256),
        opt(&O::sample_queue, "sample_queue", "samples in the queues between stages").range(1, 1e6),
        opt(&O::size, "size", "width and height of what networks see").range(8, 1024),
        opt(&O::channels, "channels", "1: grey, 3: colours").range(1, 3),
        opt(&O::recipe, "recipe", "crops, flips and colours of training")
            .choices("inception", "fast", "cifar", "lenet"),
        opt(&O::damaged, "damaged", "an image that cannot be decoded becomes grey, or ends it all")
            .choices("blank", "stop"),
        opt(&O::patience, "patience",
            "seconds after which a reader that holds the others up is left behind")
            .range(1, 1e6)
            .unit("s"),
        opt(&O::scaled_decode, "scaled_decode", "let the decoder make large images smaller"));
  }
};

// Looks after the readers of a ring: lets them in between epochs, and drops who is dead or stuck.
class Readers {
 public:
  Readers(const Ring& ring, double patience) : ring_(ring), patience_(patience) {}

  int count(ReaderState wanted) const {
    int found = 0;
    for (std::size_t i = 0; i < kRingReaders; ++i)
      found += ring_.reader(i).state.load() == static_cast<std::uint32_t>(wanted);
    return found;
  }
  // Whoever waits starts with this block.
  void admit(std::int64_t block) const {
    for (std::size_t i = 0; i < kRingReaders; ++i) {
      RingReader& one = ring_.reader(i);
      auto joining = static_cast<std::uint32_t>(ReaderState::kJoining);
      if (one.state.load() != joining) continue;
      one.cursor.store(block);
      one.state.compare_exchange_strong(joining, static_cast<std::uint32_t>(ReaderState::kActive));
    }
  }
  // Called while a writer waits for `block`.
  void look_after(std::int64_t block) {
    const double now = wall_seconds();
    if (now < next_look_) return;
    next_look_ = now + 0.2;
    ring_.drop_dead_readers();
    if (block != stuck_at_) stuck_at_ = block, stuck_since_ = now;
    if (now - stuck_since_ < patience_) return;
    const std::int64_t oldest = block - static_cast<std::int64_t>(ring_.head().slots);
    for (std::size_t i = 0; i < kRingReaders; ++i)
      if (ring_.reader(i).state.load() == static_cast<std::uint32_t>(ReaderState::kActive) &&
          ring_.reader(i).cursor.load() <= oldest) {
        log(OMEN_LOG_WARN, "ensemble.serve-data",
            "reader " + std::to_string(ring_.reader(i).process) +
                " was left behind: it stands still");
        ring_.leave(i);
      }
  }

 private:
  const Ring& ring_;
  const double patience_;
  double next_look_ = 0, stuck_since_ = 0;
  std::int64_t stuck_at_ = -1;
};

class ServeCommand final : public Command {
 public:
  explicit ServeCommand(ServeOptions options) : options_(std::move(options)) {}

  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override {
    if (!args.empty())
      throw Error(OMEN_INVALID_ARGUMENT, "serve-data takes no words, but got '" + args[0] + "'",
                  "Name the images with --data.");
    const auto images = open_images(data_path(options_.data, run.scratch_dir(), run.seed(), run));
    const BlockShape shape{options_.block, options_.channels == 1 ? 1 : 3, options_.size};
    const Pass layout{0, true, options_.block, split_samples(images->size(), 0, run.seed()).train};
    const fs::path path =
        options_.ring.empty() ? Ring::default_directory() / "omen-ring" : fs::path(options_.ring);
    if (fs::exists(path)) take_over(path);
    const Ring ring = Ring::create(path, shape, static_cast<std::uint32_t>(options_.slots),
                                   layout.blocks(), images->classes());
    const auto unlink_at_end = [](const fs::path* file) { ::unlink(file->c_str()); };
    const std::unique_ptr<const fs::path, decltype(unlink_at_end)> named(&path, unlink_at_end);
    serve(*images, shape, layout, ring, run);
    put_stages(out);
    return 0;
  }

 private:
  // A ring whose server was killed is in nobody's way; anything else is not ours to remove.
  static void take_over(const fs::path& path) {
    if (!Ring::open(path).is_orphan())
      throw Error(OMEN_INVALID_STATE, "'" + path.string() + "' is served already",
                  "Choose another --ring.");
    log(OMEN_LOG_INFO, "ensemble.serve-data",
        "'" + path.string() + "' was left behind by a server that died, and is replaced");
    fs::remove(path);
  }

  void serve(const ImageSource& images, const BlockShape& shape, const Pass& layout,
             const Ring& ring, const Run& run) {
    Readers readers(ring, options_.patience);
    while (readers.count(ReaderState::kJoining) < options_.wait_for) {
      ring.drop_dead_readers();
      run.step(0, "wait for readers");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const std::int64_t blocks = layout.blocks();
    const double begin = process_cpu_seconds();
    for (std::int64_t epoch = 0; options_.epochs == 0 || epoch < options_.epochs; ++epoch) {
      readers.admit(epoch * blocks);
      if (options_.epochs == 0 && readers.count(ReaderState::kActive) == 0) break;
      serve_epoch(images, shape, layout, ring, readers, epoch, run);
    }
    ring.close();
    cpu_s_ = process_cpu_seconds() - begin;
    // What lies in the ring can still be read; the mapping of a reader outlives the name.
  }

  void serve_epoch(const ImageSource& images, const BlockShape& shape, const Pass& layout,
                   const Ring& ring, Readers& readers, std::int64_t epoch, const Run& run) {
    Pass pass = layout;
    pass.epoch = epoch;
    pass.samples = epoch_order(layout.samples, run.seed(), epoch);
    const PreprocessingOptions preprocessing{
        parse_recipe(options_.recipe).value(),
        run.seed(),
        options_.scaled_decode,
        options_.damaged == "stop" ? Damaged::kStop : Damaged::kBlank,
        options_.workers,
        static_cast<std::size_t>(options_.sample_queue)};
    const std::int64_t first = epoch * pass.blocks();
    // An epoch that everybody left was not filled to its end.
    ring.head().next_block.store(first);
    std::atomic<bool> given_up{false};
    BlockMaker maker(
        images, pass, shape, preprocessing, {0, 1, pass.blocks()},
        [&](std::int64_t index) -> char* {
          if (options_.epochs == 0 && readers.count(ReaderState::kActive) == 0) return nullptr;
          return ring.claim(first + index, RingPace::kSlowest, [&] {
            readers.look_after(first + index);
            return given_up.load() || run.cancelled();
          });
        },
        record_);
    try {
      while (const char* block = maker.next()) {
        const std::int64_t index = reinterpret_cast<const BlockHead*>(block)->index;
        ring.publish(first + index);
        run.step(static_cast<double>(index) / static_cast<double>(pass.blocks()),
                 ("epoch " + std::to_string(epoch)).c_str());
      }
    } catch (...) {
      given_up = true;
      maker.stop();
      ring.close();
      throw;
    }
    run.step(1, "epoch");
  }

  void put_stages(const TablesOut& out) {
    std::vector<std::string> names;
    std::vector<std::int64_t> counts;
    std::vector<double> cpu;
    for (const Stage stage : {Stage::kRead, Stage::kDecode, Stage::kPreprocess}) {
      const StageTotals sum = record_.clocks.of(stage);
      names.emplace_back(kStageNames[static_cast<std::size_t>(stage)]);
      counts.push_back(sum.count);
      cpu.push_back(sum.cpu_s);
    }
    out.put("stages", TableBuilder()
                          .add_strings("stage", names)
                          .add("samples", counts)
                          .add("cpu_s", cpu)
                          .finish());
    out.put("server", TableBuilder()
                          .add("samples", std::vector<std::int64_t>{counts.back()})
                          .add("cpu_s", std::vector<double>{cpu_s_})
                          .finish());
  }

  ServeOptions options_;
  PreprocessingRecord record_;
  double cpu_s_ = 0;  // from the first epoch on
};

}  // namespace

Component serve_component() {
  return command<ServeCommand, ServeOptions>(
      "ensemble.serve-data", "preprocess images once for all processes of this host that train");
}

}  // namespace omen::ensemble
