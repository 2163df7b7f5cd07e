// SPDX-License-Identifier: Apache-2.0
// Passes over the data: all active ranks walk them together, and those that are done leave.
#include "run/rank_run.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "data/epoch_order.hpp"
#include "run/rank_files.hpp"
#include "run/rank_models.hpp"
#include "run/sign_of_life.hpp"
#include "transport/ring.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

class RankRun {
 public:
  RankRun(const fs::path& directory, const RunJob& job, std::function<bool()> cancelled)
      : directory_(directory),
        job_(job),
        cancelled_(std::move(cancelled)),
        world_(Group::world()),
        images_(open_images(job.data)),
        shape_{job.block, job.channels, job.side},
        split_(split_samples(images_->size(), job.valid_share, job.preprocessing.seed)),
        log_(directory, world_.rank()),
        models_(job, world_, images_->classes(), log_, record_.clocks),
        life_(directory, world_.rank(), job, log_) {
    steps_per_epoch_ = static_cast<std::int64_t>(split_.train.size()) / job.batch;
    if (steps_per_epoch_ < 1)
      throw Error(OMEN_INVALID_ARGUMENT,
                  "'" + job.data + "' has " + std::to_string(split_.train.size()) +
                      " samples to train on, which do not fill a batch of " +
                      std::to_string(job.batch),
                  "Use a smaller --batch.");
  }

  void run() {
    Group group = world_.subset(everybody());
    host_ranks_ = world_.size_on_host();
    std::int64_t epoch = models_.resume(group, steps_per_epoch_);
    open_ring(group);
    startup_s_ = wall_seconds() - begin_;
    startup_cpu_s_ = process_cpu_seconds();
    bool first = true;
    for (; epoch < job_.epochs && group.is_member(); ++epoch) {
      train(group, epoch, first ? models_.first_step(epoch, steps_per_epoch_) : 0);
      const std::vector<double> accuracy = validate(group, epoch);
      models_.end_epoch(epoch, accuracy);
      group = remaining(group);
      first = false;
    }
    if (ring_) ring_->leave(reader_);
    finish();
  }

 private:
  std::vector<int> everybody() const {
    std::vector<int> all;
    for (int i = 0; i < world_.size(); ++i) all.push_back(i);
    return all;
  }

  // Rank 0 makes the ring, the others open it once it is there.
  void open_ring(const Group& group) {
    if (job_.design != Design::kSharedMemory) return;
    if (host_ranks_ < world_.size())
      throw Error(OMEN_INVALID_ARGUMENT,
                  "shared memory joins ranks of one host, but only " + std::to_string(host_ranks_) +
                      " of " + std::to_string(world_.size()) + " ranks are on this one",
                  "Use one host, or another design: --design all-shared.");
    if (group.rank() == 0) {
      ring_.emplace(Ring::create(job_.ring, shape_, static_cast<std::uint32_t>(job_.queue),
                                 steps_per_epoch_ * (job_.batch / job_.block), images_->classes()));
      ring_->head().next_block = first_block();
    }
    group.barrier();
    if (group.rank() != 0) ring_.emplace(Ring::open(job_.ring));
    reader_ = ring_->join(first_block(), ReaderState::kActive);
    group.barrier();
    // Mapped everywhere: the name is not needed any more, and no crash leaves it behind.
    if (group.rank() == 0) ::unlink(job_.ring.c_str());
  }
  std::int64_t first_block() const {
    return models_.first_step(models_.first_epoch(), steps_per_epoch_) * (job_.batch / job_.block);
  }

  std::unique_ptr<BlockStream> open_stream(const Group& group, const Pass& pass,
                                           std::int64_t begin) {
    const StreamSetup setup{*images_,
                            pass,
                            shape_,
                            job_.preprocessing,
                            record_,
                            begin,
                            job_.preprocessors,
                            static_cast<std::size_t>(job_.queue),
                            numbered_};
    numbered_ += pass.blocks();
    if (job_.design == Design::kNone) return make_local_stream(setup);
    if (job_.design == Design::kSharedMemory)
      return make_ring_stream(setup, group, *ring_, reader_,
                              job_.coupled ? RingPace::kSlowest : RingPace::kFastest);
    return make_message_stream(job_.design, setup, group);
  }

  void check_cancelled() const {
    if (cancelled_()) throw Error(OMEN_CANCELLED, "the run was cancelled");
  }

  char* next_block(BlockStream& stream) {
    const StageTimer timer(record_.clocks, Stage::kWait);
    return stream.next();
  }

  void train(const Group& group, std::int64_t epoch, std::int64_t first_step) {
    Pass pass{epoch, true, job_.block, epoch_order(split_.train, job_.preprocessing.seed, epoch)};
    pass.samples.resize(static_cast<std::size_t>(steps_per_epoch_ * job_.batch));
    const std::int64_t blocks_each = job_.batch / job_.block;
    const std::unique_ptr<BlockStream> stream = open_stream(group, pass, first_step * blocks_each);
    const SignOfLife::Watched watched(life_, *stream);
    std::int64_t step = epoch * steps_per_epoch_ + first_step;
    double begun = wall_seconds();
    for (std::int64_t filled = 0; char* block = next_block(*stream);) {
      check_cancelled();
      const BatchView batch = collect(BlockView(shape_, block), filled);
      if (++filled < blocks_each) continue;
      filled = 0;
      models_.train(batch, step, begun);
      samples_ += job_.batch;
      life_.at_step(++step, models_.last_loss());
      begun = wall_seconds();
    }
    group.barrier([this] { return cancelled_(); });
  }

  // A block that is a batch is used where it lies; parts of a batch are put together.
  BatchView collect(const BlockView& block, std::int64_t part) {
    if (job_.block == job_.batch) return {block.pixels(), block.labels(), job_.batch};
    const auto floats = static_cast<std::size_t>(shape_.floats_per_sample() * job_.block);
    batch_pixels_.resize(floats * static_cast<std::size_t>(job_.batch / job_.block));
    batch_labels_.resize(static_cast<std::size_t>(job_.batch));
    std::memcpy(batch_pixels_.data() + floats * static_cast<std::size_t>(part), block.pixels(),
                floats * sizeof(float));
    std::copy_n(block.labels(), job_.block, batch_labels_.begin() + part * job_.block);
    return {batch_pixels_.data(), batch_labels_.data(), job_.batch};
  }

  std::vector<double> validate(const Group& group, std::int64_t epoch) {
    if (split_.valid.empty()) return {};
    const Pass pass{epoch, false, job_.block, split_.valid};
    const std::unique_ptr<BlockStream> stream = open_stream(group, pass, 0);
    const SignOfLife::Watched watched(life_, *stream);
    models_.begin_validation(epoch);
    while (char* block = next_block(*stream)) {
      check_cancelled();
      const BlockView view(shape_, block);
      models_.validate({view.pixels(), view.labels(), view.head().count});
    }
    group.barrier([this] { return cancelled_(); });
    return models_.validated();
  }

  // Ranks whose models are all done leave the others.
  Group remaining(const Group& group) const {
    const std::vector<std::int64_t> needed = group.gather_numbers({models_.needed() ? 1 : 0});
    const std::vector<std::int64_t> training = group.gather_numbers({models_.training() ? 1 : 0});
    const bool anybody = std::count(training.begin(), training.end(), 1) > 0;
    std::vector<int> stay;
    for (int i = 0; i < group.size(); ++i)
      if (anybody && needed[static_cast<std::size_t>(i)]) stay.push_back(i);
    return group.subset(stay);
  }

  void finish() {
    RankSummary summary;
    summary.startup_s = startup_s_;
    summary.startup_cpu_s = startup_cpu_s_;
    summary.run_s = wall_seconds() - begin_ - startup_s_;
    summary.run_cpu_s = process_cpu_seconds() - startup_cpu_s_;
    summary.samples = samples_;
    summary.checkpoints = models_.checkpoints();
    summary.failed_checkpoints = models_.failed_checkpoints();
    summary.host_ranks = host_ranks_;
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    summary.max_rss_bytes = static_cast<double>(used.ru_maxrss) * 1024;
    write_summary(directory_, world_.rank(), summary, record_);
    models_.write_results();
  }

  const fs::path directory_;
  const RunJob& job_;
  const std::function<bool()> cancelled_;
  const double begin_ = wall_seconds();
  Group world_;
  const std::unique_ptr<ImageSource> images_;
  const BlockShape shape_;
  const SampleSplit split_;
  PreprocessingRecord record_;
  RankLog log_;
  RankModels models_;
  SignOfLife life_;
  std::optional<Ring> ring_;
  std::size_t reader_ = 0;
  std::int64_t steps_per_epoch_ = 0, numbered_ = 0, samples_ = 0, host_ranks_ = 1;
  double startup_s_ = 0, startup_cpu_s_ = 0;
  std::vector<float> batch_pixels_;
  std::vector<std::int32_t> batch_labels_;
};

}  // namespace

void run_rank(const fs::path& directory, const std::function<bool()>& cancelled) {
  const RunJob job = read_job(directory);
  // A thread more than the run was given would take time from other ranks.
  prepare_torch(1);
  Mpi mpi;
  const Group world = Group::world();
  try {
    if (world.size() != job.ranks)
      throw Error(
          OMEN_UNAVAILABLE,
          "the launcher started " + std::to_string(world.size()) + " ranks instead of " +
              std::to_string(job.ranks),
          "Use the launcher of Open MPI, and start omen ensemble run instead of the ranks.");
    RankRun(directory, job, cancelled).run();
  } catch (const Error& error) {
    std::ofstream(error_file(directory, world.rank())) << error.what() << '\n' << error.hint();
    throw;
  }
  mpi.finish();
}

}  // namespace omen::ensemble
