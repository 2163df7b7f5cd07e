// SPDX-License-Identifier: Apache-2.0
// Forward, backward, update; with members the gradients travel as one flat buffer.
#include "train/trainer.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <omen/container.hpp>
#include <omen/error.hpp>
#include <omen/torch/device.hpp>
#include <omen/torch/training.hpp>
#include <optional>

#include "data/counter_random.hpp"
#include "train/network.hpp"

namespace omen::ensemble {
namespace {

constexpr const char* kCheckpointFormat = "ensemble-model/1";
constexpr double kMomentum = 0.9;
constexpr std::uint64_t kDropoutKey = 0x64726f;

struct StateEntry {
  ModelState state;
  const char* name;
};
constexpr StateEntry kStateTable[] = {{ModelState::kTraining, "training"},
                                      {ModelState::kFinished, "finished"},
                                      {ModelState::kStoppedEarly, "stopped early"},
                                      {ModelState::kDiverged, "diverged"}};

// Plain, heavy-ball and Adam updates with their state.
class Updates {
 public:
  Updates(const ModelChoice& model, double decay, std::vector<at::Tensor> parameters)
      : kind_(model.optimiser), rate_(model.learning_rate), decay_(decay), all_(parameters) {
    const at::NoGradGuard constant;
    if (kind_ == Optimiser::kMomentum)
      for (const at::Tensor& one : all_) speed_.push_back(at::zeros_like(one));
    if (kind_ == Optimiser::kAdam) {
      torch_kit::AdamOptions options;
      options.weight_decay = decay_;
      adam_.emplace(parameters, options);
    }
  }
  void step() {
    if (adam_) return adam_->step(rate_);
    const at::NoGradGuard constant;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].grad().defined()) continue;
      at::Tensor change = all_[i].grad().add(all_[i], decay_);
      if (!speed_.empty()) change = speed_[i].mul_(kMomentum).add_(change);
      all_[i].sub_(change, rate_);
    }
  }
  void forget_gradients() {
    for (at::Tensor& one : all_) one.mutable_grad() = at::Tensor();
  }
  std::vector<at::Tensor> state() const { return adam_ ? adam_->state() : speed_; }
  void restore(const std::vector<at::Tensor>& state) {
    const at::NoGradGuard constant;
    if (adam_) return adam_->restore(state);
    for (std::size_t i = 0; i < speed_.size(); ++i) speed_[i].copy_(state.at(i));
  }

 private:
  Optimiser kind_;
  double rate_, decay_;
  std::vector<at::Tensor> all_, speed_;
  std::optional<torch_kit::Adam> adam_;
};

}  // namespace

struct Trainer::Torch {
  std::unique_ptr<Network> net;
  std::optional<Updates> updates;
  c10::Device device = at::kCPU;

  at::Tensor images(float* pixels, std::int64_t count, const TrainerSetup& setup) const {
    return at::from_blob(pixels, {count, setup.channels, setup.side, setup.side}, at::kFloat)
        .to(device);
  }
  // Gradients, the loss and running statistics of all members, added in one message.
  double sum_members(double loss, const TrainerSetup& setup) const {
    const at::NoGradGuard constant;
    std::vector<at::Tensor> sums, buffers;
    for (const torch_kit::NamedTensor& each : net->state().entries())
      if (each.trainable && each.tensor.grad().defined())
        sums.push_back(each.tensor.grad());
      else if (!each.trainable && each.tensor.is_floating_point())
        buffers.push_back(each.tensor);
    for (at::Tensor& buffer : buffers) buffer.div_(static_cast<double>(setup.members));
    sums.insert(sums.end(), buffers.begin(), buffers.end());
    std::vector<at::Tensor> flat;
    for (const at::Tensor& one : sums) flat.push_back(one.detach().to(at::kCPU).reshape({-1}));
    at::Tensor own_loss = at::empty({1});
    own_loss.fill_(loss);
    flat.push_back(own_loss);
    at::Tensor all = at::cat(flat).contiguous();
    setup.sum(all.data_ptr<float>(), static_cast<std::size_t>(all.numel()));
    std::int64_t at = 0;
    for (at::Tensor& one : sums) {
      one.copy_(all.slice(0, at, at + one.numel()).reshape(one.sizes()));
      at += one.numel();
    }
    return all[at].item<double>();
  }
};

const char* model_state_name(ModelState state) {
  for (const StateEntry& entry : kStateTable)
    if (entry.state == state) return entry.name;
  return "";
}

void prepare_torch(unsigned threads) {
  at::set_num_threads(static_cast<int>(threads));
  at::globalContext().setDeterministicAlgorithms(true, true);
}

Trainer::Trainer(const ModelChoice& model, TrainerSetup setup)
    : model_(model), setup_(std::move(setup)), torch_(std::make_unique<Torch>()) {
  torch_->device = torch_kit::pick_device(setup_.device);
  torch_->net =
      is_built_in(model.source)
          ? make_built_in(model.source, {setup_.channels, setup_.side, setup_.classes}, model.seed)
          : open_torch_script(model.source);
  for (const torch_kit::NamedTensor& each : torch_->net->state().entries())
    if (!torch_->device.is_cpu()) at::Tensor(each.tensor).set_data(each.tensor.to(torch_->device));
  torch_->updates.emplace(model_, setup_.weight_decay, torch_->net->state().parameters());
}
Trainer::~Trainer() = default;

void Trainer::train(float* pixels, const std::int32_t* labels) {
  // Members of a group take neighbouring parts of the batch.
  const std::int64_t from = setup_.batch * setup_.member / setup_.members;
  const std::int64_t to = setup_.batch * (setup_.member + 1) / setup_.members;
  const std::int64_t pixels_each = setup_.channels * setup_.side * setup_.side;
  at::manual_seed(
      CounterRandom({model_.seed, kDropoutKey, static_cast<std::uint64_t>(history_.step),
                     static_cast<std::uint64_t>(setup_.member)})
          .next());
  const at::Tensor images = torch_->images(pixels + from * pixels_each, to - from, setup_);
  const at::Tensor wanted =
      at::from_blob(const_cast<std::int32_t*>(labels) + from, {to - from}, at::kInt)
          .to(torch_->device, at::kLong);
  torch_->updates->forget_gradients();
  const double part = static_cast<double>(to - from) / static_cast<double>(setup_.batch);
  at::Tensor loss = at::cross_entropy_loss(torch_->net->forward(images, true), wanted);
  if (setup_.members > 1) loss = loss.mul(part);
  loss.backward();
  double value = loss.item<double>();
  if (setup_.members > 1) value = torch_->sum_members(value, setup_);
  history_.losses.push_back(value);
  ++history_.step;
  if (!std::isfinite(value))
    history_.state = ModelState::kDiverged;
  else
    torch_->updates->step();
}

std::vector<std::int32_t> Trainer::classify(float* pixels, std::int64_t count) {
  const at::NoGradGuard constant;
  const at::Tensor scores = torch_->net->forward(torch_->images(pixels, count, setup_), false);
  const at::Tensor best = scores.argmax(1).to(at::kCPU, at::kInt).contiguous();
  const auto* at = best.data_ptr<std::int32_t>();
  return {at, at + count};
}

void Trainer::end_epoch(double accuracy, std::int64_t epochs) {
  ++history_.epoch;
  if (!std::isnan(accuracy)) {
    const auto best = static_cast<std::size_t>(history_.best_epoch);
    if (history_.accuracy.empty() || accuracy > history_.accuracy[best])
      history_.best_epoch = static_cast<std::int64_t>(history_.accuracy.size());
    history_.accuracy.push_back(accuracy);
    const auto since =
        static_cast<std::int64_t>(history_.accuracy.size()) - 1 - history_.best_epoch;
    if (trains() && setup_.patience > 0 && since >= setup_.patience)
      history_.state = ModelState::kStoppedEarly;
  }
  if (trains() && history_.epoch >= epochs) history_.state = ModelState::kFinished;
}

void Trainer::save_checkpoint(const std::filesystem::path& path,
                              const std::string& fingerprint) const {
  container::Writer file;
  file.put_meta("format", kCheckpointFormat);
  file.put_meta("fingerprint", fingerprint);
  ArtifactWriter out(file.sink());
  const std::vector<at::Tensor> updates = torch_->updates->state();
  out.put<std::int64_t>("history/counts",
                        {history_.step, history_.epoch, static_cast<std::int64_t>(history_.state),
                         history_.best_epoch, static_cast<std::int64_t>(updates.size())});
  out.put("history/losses", history_.losses);
  out.put("history/accuracy", history_.accuracy);
  save_state(torch_->net->state(), out, "model/");
  for (std::size_t i = 0; i < updates.size(); ++i)
    torch_kit::put_tensor(out, "updates/" + std::to_string(i), updates[i]);
  file.write(path);
}

bool Trainer::load_checkpoint(const std::filesystem::path& path, const std::string& fingerprint,
                              std::string* why) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return false;
  try {
    const container::Reader file = container::Reader::open(path);
    const ArtifactReader in(file.source());
    if (in.meta("format") != kCheckpointFormat || in.meta("fingerprint") != fingerprint) {
      *why = "it belongs to another run";
      return false;
    }
    file.verify_digest();
    const auto counts = in.get<std::int64_t>("history/counts");
    if (counts.size() != 5) throw Error(OMEN_INVALID_DATA, "its counters are incomplete");
    std::vector<at::Tensor> updates;
    for (std::int64_t i = 0; i < counts[4]; ++i)
      updates.push_back(torch_kit::get_tensor(in, "updates/" + std::to_string(i)));
    {
      const at::NoGradGuard constant;
      load_state(torch_->net->state(), in, "model/");
    }
    torch_->updates->restore(updates);
    history_ = {counts[0],
                counts[1],
                static_cast<ModelState>(counts[2]),
                in.get<double>("history/losses"),
                in.get<double>("history/accuracy"),
                counts[3]};
    return true;
  } catch (const Error& error) {
    *why = error.what();
    return false;
  }
}

void Trainer::save_weights(const std::filesystem::path& path) const {
  container::Writer file;
  file.put_meta("format", "pt");
  file.put_meta("model", model_.source);
  ArtifactWriter out(file.sink());
  save_state(torch_->net->state(), out);
  file.write(path);
}

}  // namespace omen::ensemble
