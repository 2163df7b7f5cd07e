// SPDX-License-Identifier: Apache-2.0
// Training, validation and checkpoints of the models of one rank.
#include "run/rank_models.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <omen/error.hpp>
#include <omen/join.hpp>
#include <omen/pending_file.hpp>
#include <thread>

#include "run/model_outcome.hpp"

namespace omen::ensemble {
namespace {

constexpr std::int64_t kDone = std::numeric_limits<std::int64_t>::max();

// A limit on file sizes raises a signal that would end the rank; blocked, it is an error of write.
class FileLimitAsError {
 public:
  FileLimitAsError() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~FileLimitAsError() {
    const timespec now{};
    // One that is pending would be delivered with the old mask.
    if (!sigismember(&before_, SIGXFSZ))
      while (sigtimedwait(&set_, nullptr, &now) > 0) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileLimitAsError(const FileLimitAsError&) = delete;
  FileLimitAsError& operator=(const FileLimitAsError&) = delete;

 private:
  sigset_t set_{}, before_{};
};

// The device of a list such as "cuda:0,cuda:1" that belongs to this rank of the host.
std::string own_device(const std::string& devices) {
  const std::vector<std::string> all = split(devices, ',');
  return all[static_cast<std::size_t>(local_rank()) % all.size()];
}

ModelOutcome outcome_of(const ModelHistory& history) {
  return {model_state_name(history.state), history.step, history.epoch, history.losses,
          history.accuracy};
}

void write_classes(const std::filesystem::path& path, const std::vector<std::int32_t>& classes) {
  PendingFile file(path);
  file.append(classes.data(), classes.size() * sizeof(std::int32_t));
  file.commit();
}

}  // namespace

RankModels::RankModels(const RunJob& job, const Group& world, std::int64_t classes, RankLog& log,
                       StageClocks& clocks)
    : job_(job), log_(log), clocks_(clocks) {
  for (std::size_t i = 0; i < job.models.size(); ++i) {
    const ModelChoice& model = job.models[i];
    std::vector<int> ranks;
    for (std::int64_t member = 0; member < model.ranks; ++member)
      ranks.push_back(static_cast<int>(rank_of(job, i, member)));
    // Every rank takes part in dividing them.
    auto members = model.ranks > 1 ? std::make_shared<Group>(world.subset(ranks)) : nullptr;
    const auto own = std::find(ranks.begin(), ranks.end(), world.rank());
    if (own == ranks.end()) continue;
    TrainerSetup setup;
    setup.batch = job.batch;
    setup.channels = job.channels;
    setup.side = job.side;
    setup.classes = classes;
    setup.weight_decay = job.weight_decay;
    setup.patience = job.patience;
    setup.device = own_device(job.devices);
    setup.member = own - ranks.begin();
    setup.members = model.ranks;
    if (members)
      setup.sum = [members](float* values, std::size_t count) { members->sum(values, count, {}); };
    Place place;
    place.trainer = std::make_unique<Trainer>(model, std::move(setup));
    place.members = members;
    place.member = own - ranks.begin();
    places_.push_back(std::move(place));
  }
}

std::int64_t RankModels::resume(const Group& group, std::int64_t steps_per_epoch) {
  std::int64_t epoch = kDone, step = kDone;
  for (Place& place : places_) {
    std::string why;
    const auto path = checkpoint_file(job_, place.trainer->model());
    place.trainer->load_checkpoint(path, model_fingerprint(job_, place.trainer->model()), &why);
    if (!why.empty()) log_.note("checkpoint " + path.string() + " is not used: " + why);
    const ModelHistory& history = place.trainer->history();
    if (!place.trainer->trains()) continue;
    epoch = std::min(epoch, history.epoch);
    step = std::min(step, history.step);
  }
  const std::vector<std::int64_t> epochs = group.gather_numbers({epoch});
  const std::vector<std::int64_t> steps = group.gather_numbers({step});
  first_epoch_ = *std::min_element(epochs.begin(), epochs.end());
  const std::int64_t lowest = *std::min_element(steps.begin(), steps.end());
  if (first_epoch_ == kDone) return first_epoch_ = job_.epochs;
  first_step_ = std::min(lowest - first_epoch_ * steps_per_epoch, steps_per_epoch);
  return first_epoch_;
}

std::int64_t RankModels::first_step(std::int64_t epoch, std::int64_t) const {
  return epoch == first_epoch_ ? first_step_ : 0;
}

void RankModels::train(const BatchView& batch, std::int64_t step, double begun) {
  if (job_.sink) return;
  if (job_.train_rate > 0) {
    // Without a model there is no accelerator to wait for.
    if (places_.empty()) return;
    const StageTimer timer(clocks_, Stage::kTrain);
    std::this_thread::sleep_for(
        std::chrono::duration<double>(static_cast<double>(batch.count) / job_.train_rate));
    return;
  }
  for (Place& place : places_) {
    Trainer& trainer = *place.trainer;
    // Models that were ahead when the run stopped let these batches pass.
    if (!trainer.trains() || trainer.history().step != step) continue;
    const double from = wall_seconds();
    {
      const StageTimer timer(clocks_, Stage::kTrain);
      trainer.train(batch.pixels, batch.labels);
    }
    const double now = wall_seconds(), loss = trainer.history().losses.back();
    log_.step(trainer.model().name, step, now - from, now - begun, loss);
    if (!trainer.trains())
      log_.note(trainer.model().name + " diverged at step " + std::to_string(step));
    const bool due = job_.checkpoint_steps > 0 && (step + 1) % job_.checkpoint_steps == 0;
    if (due || !trainer.trains()) save(place);
  }
}

void RankModels::save(const Place& place) {
  if (place.member != 0) return;
  const StageTimer timer(clocks_, Stage::kCheckpoint);
  const ModelChoice& model = place.trainer->model();
  const FileLimitAsError guard;
  try {
    place.trainer->save_checkpoint(checkpoint_file(job_, model), model_fingerprint(job_, model));
    ++checkpoints_;
  } catch (const Error& error) {
    // The one before is still whole, and training can go on.
    ++failed_checkpoints_;
    log_.note("checkpoint of " + model.name + " was not written: " + error.what());
  }
}

void RankModels::begin_validation(std::int64_t epoch) {
  labels_.clear();
  for (Place& place : places_) {
    const bool here = place.trainer->history().epoch == epoch;
    place.validates = here && place.trainer->trains() && !job_.sink && job_.train_rate <= 0;
    if (place.validates) place.seen.clear();
    place.right = 0;
  }
}

void RankModels::validate(const BatchView& batch) {
  const StageTimer timer(clocks_, Stage::kValidate);
  labels_.insert(labels_.end(), batch.labels, batch.labels + batch.count);
  for (Place& place : places_) {
    if (!place.validates) continue;
    const auto seen = place.trainer->classify(batch.pixels, batch.count);
    for (std::int64_t i = 0; i < batch.count; ++i)
      place.right += seen[static_cast<std::size_t>(i)] == batch.labels[i];
    place.seen.insert(place.seen.end(), seen.begin(), seen.end());
  }
}

std::vector<double> RankModels::validated() const {
  std::vector<double> accuracy;
  for (const Place& place : places_)
    accuracy.push_back(place.validates && !labels_.empty()
                           ? static_cast<double>(place.right) / static_cast<double>(labels_.size())
                           : std::nan(""));
  return accuracy;
}

void RankModels::end_epoch(std::int64_t epoch, const std::vector<double>& accuracy) {
  if (job_.sink || job_.train_rate > 0) return;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    if (place.trainer->history().epoch != epoch || !place.trainer->trains()) continue;
    place.trainer->end_epoch(accuracy.empty() ? std::nan("") : accuracy[i], job_.epochs);
    if (!place.seen.empty() && place.member == 0) {
      write_classes(predictions_file(job_, place.trainer->model()), place.seen);
      write_classes(labels_file(job_), labels_);
    }
    save(place);
  }
}

bool RankModels::training() const {
  if (job_.sink || job_.train_rate > 0) return true;
  return std::any_of(places_.begin(), places_.end(),
                     [](const Place& place) { return place.trainer->trains(); });
}
bool RankModels::needed() const {
  return places_.empty() || training();
}
double RankModels::last_loss() const {
  if (places_.empty() || places_[0].trainer->history().losses.empty()) return std::nan("");
  return places_[0].trainer->history().losses.back();
}

void RankModels::write_results() const {
  if (job_.sink || job_.train_rate > 0) return;
  const FileLimitAsError guard;
  for (const Place& place : places_) {
    if (place.member != 0) continue;
    place.trainer->save_weights(weights_file(job_, place.trainer->model()));
    write_outcome(job_, place.trainer->model(), outcome_of(place.trainer->history()));
  }
}

}  // namespace omen::ensemble
