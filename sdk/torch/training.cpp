// SPDX-License-Identifier: Apache-2.0
// The training loop. Order and random numbers of a step follow from seed, epoch and step alone,
// so that a resumed run needs no generator state.
#include "omen/torch/training.hpp"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include "checkpoint.hpp"
#include "omen/container.hpp"

namespace omen::torch_kit {
namespace {

using Clock = std::chrono::steady_clock;

/// A large model is written no more often than takes a twentieth of the time.
constexpr double kSaveShare = 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The finaliser of splitmix64: neighbouring inputs give unrelated outputs.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t stream_seed(std::uint64_t seed, std::int64_t epoch, std::int64_t step) {
  return mix(mix(mix(seed) ^ static_cast<std::uint64_t>(epoch)) ^ static_cast<std::uint64_t>(step));
}

/// Fisher-Yates with our own draws, because std::shuffle differs between libraries.
std::vector<std::int64_t> epoch_order(std::int64_t items, bool shuffle, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(items));
  std::iota(order.begin(), order.end(), 0);
  if (!shuffle) return order;
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[(seed = mix(seed)) % i]);
  return order;
}

std::string describe(const TrainingTask& task, const TrainingOptions& o) {
  std::ostringstream text;
  text.precision(17);
  text << o.fingerprint << '\n'
       << o.max_epochs << ' ' << o.batch_items << ' ' << o.batch_cost << ' ' << o.shuffle << ' '
       << o.adam.learning_rate << ' ' << o.adam.beta1 << ' ' << o.adam.beta2 << ' '
       << o.adam.epsilon << ' ' << o.adam.weight_decay << ' ' << o.adam.decoupled_decay << ' '
       << static_cast<int>(o.schedule) << ' ' << o.warmup_epochs << ' ' << o.clip_norm << ' '
       << o.patience << ' ' << o.min_delta << ' ' << o.seed << ' ' << task.items << ' '
       << static_cast<bool>(task.validate) << '\n';
  for (const std::int64_t cost : task.cost) text << cost << ' ';
  for (const NamedTensor& e : task.state.entries()) {
    text << '\n' << e.name << ' ' << at::toString(e.tensor.scalar_type()) << ' ' << e.trainable;
    for (const std::int64_t n : e.tensor.sizes()) text << ' ' << n;
  }
  return text.str();
}

std::string fingerprint_of(const TrainingTask& task, const TrainingOptions& options) {
  const std::string text = describe(task, options);
  return container::sha256(text.data(), text.size());
}

class Trainer {
 public:
  Trainer(TrainingTask& task, const TrainingOptions& options, const TrainingHooks& hooks)
      : task_(task),
        options_(options),
        hooks_(hooks),
        adam_(task.state.parameters(), options.adam) {}

  TrainingResult run() {
    resume();
    last_save_ = Clock::now();
    save_pause_ = options_.checkpoint_seconds;
    while (now_.epoch < options_.max_epochs && !now_.stopped_early) run_epoch();
    save();
    if (!now_.best.empty()) task_.state.restore(now_.best);
    set_training(false);
    return {now_.epoch, now_.best_epoch, now_.best_loss, now_.stopped_early,
            resumed_,   now_.train_loss, now_.valid_loss};
  }

 private:
  void run_epoch() {
    const auto order =
        epoch_order(task_.items, options_.shuffle, stream_seed(options_.seed, now_.epoch, -1));
    const auto batches = plan_batches(order, task_.cost, options_.batch_items, options_.batch_cost);
    const auto steps = static_cast<std::int64_t>(batches.size());
    set_training(true);
    while (now_.step < steps) {
      report(steps);
      stop_if_cancelled();
      run_step(batches[static_cast<std::size_t>(now_.step)]);
      if (seconds_since(last_save_) >= save_pause_) save();
    }
    stop_if_cancelled();
    finish_epoch();
  }

  void run_step(const std::vector<std::int64_t>& batch) {
    at::manual_seed(stream_seed(options_.seed, now_.epoch, now_.step));
    adam_.zero_grad();
    const at::Tensor loss = task_.loss(batch);
    const double value = loss.item<double>();
    require_finite(value, "training loss");
    loss.backward();
    const double norm = adam_.clip_gradients(options_.clip_norm);
    if (options_.clip_norm > 0) require_finite(norm, "gradient norm");
    adam_.step(learning_rate());
    now_.loss_sum += value * static_cast<double>(batch.size());
    now_.items += static_cast<std::int64_t>(batch.size());
    ++now_.step;
  }

  void finish_epoch() {
    const double train_loss = now_.loss_sum / static_cast<double>(now_.items);
    now_.train_loss.push_back(train_loss);
    ++now_.epoch;
    now_.step = now_.items = 0;
    now_.loss_sum = 0;
    metric("train_loss", train_loss);
    if (task_.validate) {
      judge(validation_loss());
    } else {
      now_.best_loss = train_loss;
      now_.best_epoch = now_.epoch;
    }
  }

  double validation_loss() {
    set_training(false);
    const at::NoGradGuard no_grad;
    const double loss = task_.validate();
    require_finite(loss, "validation loss");
    now_.valid_loss.push_back(loss);
    metric("valid_loss", loss);
    return loss;
  }

  void judge(double loss) {
    if (loss < now_.best_loss - options_.min_delta || now_.best.empty()) {
      now_.best_loss = loss;
      now_.best_epoch = now_.epoch;
      now_.best = task_.state.snapshot();
    }
    now_.stopped_early = options_.patience > 0 && now_.epoch - now_.best_epoch >= options_.patience;
  }

  double learning_rate() const {
    double rate = options_.adam.learning_rate;
    const auto epoch = static_cast<double>(now_.epoch);
    if (now_.epoch < options_.warmup_epochs)
      rate *= (epoch + 1) / static_cast<double>(options_.warmup_epochs);
    if (options_.schedule == Schedule::kCosine)
      rate *=
          0.5 * (1 + std::cos(std::numbers::pi * epoch / static_cast<double>(options_.max_epochs)));
    return rate;
  }

  void resume() {
    if (options_.state_dir.empty()) return;
    fingerprint_ = fingerprint_of(task_, options_);
    Checkpoint found;
    std::string why;
    if (read_checkpoint(checkpoint_path(options_.state_dir), fingerprint_, &found, &why)) {
      now_ = std::move(found);
      task_.state.restore(now_.model);
      adam_.restore(now_.optimiser);
      resumed_ = true;
      log("goes on after epoch " + std::to_string(now_.epoch) + ", step " +
          std::to_string(now_.step));
    } else if (!why.empty()) {
      log("checkpoint is not used: " + why);
    }
  }

  void save() {
    last_save_ = Clock::now();
    if (options_.state_dir.empty()) return;
    now_.model = task_.state.snapshot();
    now_.optimiser = adam_.state();
    std::filesystem::create_directories(options_.state_dir);
    write_checkpoint(checkpoint_path(options_.state_dir), fingerprint_, now_);
    if (options_.checkpoint_seconds == 0) return;
    save_pause_ = std::max(options_.checkpoint_seconds, kSaveShare * seconds_since(last_save_));
    last_save_ = Clock::now();
  }

  void stop_if_cancelled() {
    if (!hooks_.is_cancelled || !hooks_.is_cancelled()) return;
    save();
    throw Error(OMEN_CANCELLED, "training was cancelled in " + stage(),
                options_.state_dir.empty() ? "" : "run the same command again to go on from there");
  }

  void require_finite(double value, const char* what) const {
    if (std::isfinite(value)) return;
    throw Error(OMEN_INVALID_DATA,
                std::string(what) + " is " + std::to_string(value) + " in " + stage(),
                "lower the learning rate, clip gradients, or look for infinite inputs");
  }

  std::string stage() const {
    const std::int64_t epoch = std::min(now_.epoch + 1, options_.max_epochs);
    return "epoch " + std::to_string(epoch) + "/" + std::to_string(options_.max_epochs);
  }

  void report(std::int64_t steps) const {
    if (!hooks_.progress) return;
    const double done = static_cast<double>(now_.epoch) +
                        static_cast<double>(now_.step) / static_cast<double>(steps);
    hooks_.progress(done / static_cast<double>(options_.max_epochs), stage());
  }

  void metric(const char* name, double value) const {
    if (hooks_.metric) hooks_.metric(name, now_.epoch, value);
  }

  void log(const std::string& message) const {
    if (hooks_.log) hooks_.log(message);
  }

  void set_training(bool on) const {
    if (task_.set_training) task_.set_training(on);
  }

  TrainingTask& task_;
  const TrainingOptions& options_;
  const TrainingHooks& hooks_;
  Adam adam_;
  Checkpoint now_;
  std::string fingerprint_;
  Clock::time_point last_save_;
  double save_pause_ = 0;
  bool resumed_ = false;
};

void require_valid(const TrainingTask& task, const TrainingOptions& options) {
  const auto require = [](bool ok, const std::string& message) {
    if (!ok) throw Error(OMEN_INVALID_ARGUMENT, message);
  };
  if (task.items <= 0)
    throw Error(OMEN_INVALID_DATA, "there is nothing to train on", "check the filters of the task");
  require(static_cast<bool>(task.loss), "training needs a loss function");
  require(!task.state.parameters().empty(), "the model has no trainable tensor");
  require(options.max_epochs > 0, "max_epochs is " + std::to_string(options.max_epochs));
  require(options.batch_items > 0, "batch_items is " + std::to_string(options.batch_items));
  require(task.cost.empty() || static_cast<std::int64_t>(task.cost.size()) == task.items,
          std::to_string(task.cost.size()) + " costs for " + std::to_string(task.items) + " items");
}

}  // namespace

std::vector<std::vector<std::int64_t>> plan_batches(const std::vector<std::int64_t>& order,
                                                    const std::vector<std::int64_t>& cost,
                                                    std::int64_t batch_items,
                                                    std::int64_t batch_cost) {
  std::vector<std::vector<std::int64_t>> batches;
  std::int64_t spent = 0;
  for (const std::int64_t item : order) {
    const std::int64_t price = cost.empty() ? 0 : cost[static_cast<std::size_t>(item)];
    const bool full = batches.empty() ||
                      static_cast<std::int64_t>(batches.back().size()) >= batch_items ||
                      (batch_cost > 0 && spent + price > batch_cost);
    if (full) {
      batches.emplace_back();
      spent = 0;
    }
    batches.back().push_back(item);
    spent += price;
  }
  return batches;
}

Adam::Adam(std::vector<at::Tensor> parameters, const AdamOptions& options)
    : options_(options), parameters_(std::move(parameters)) {
  for (const at::Tensor& p : parameters_) {
    first_.push_back(at::zeros_like(p.detach()));
    second_.push_back(at::zeros_like(p.detach()));
    steps_.push_back(at::zeros({}, p.options().dtype(at::kFloat).requires_grad(false)));
  }
}

void Adam::step(double learning_rate) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> parameters, grads, first, second, steps;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    parameters.push_back(parameters_[i]);
    grads.push_back(parameters_[i].grad());
    first.push_back(first_[i]);
    second.push_back(second_[i]);
    steps.push_back(steps_[i]);
    steps_[i].add_(1);
  }
  if (parameters.empty()) return;
  using Update =
      void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList,
               at::TensorList, double, double, double, double, double, bool, bool,
               const std::optional<at::Tensor>&, const std::optional<at::Tensor>&);
  const Update update = options_.decoupled_decay ? static_cast<Update>(&at::_fused_adamw_)
                                                 : static_cast<Update>(&at::_fused_adam_);
  update(parameters, grads, first, second, {}, steps, learning_rate, options_.beta1, options_.beta2,
         options_.weight_decay, options_.epsilon, /*amsgrad=*/false,
         /*maximize=*/false, {}, {});
}

void Adam::zero_grad() {
  for (at::Tensor& p : parameters_) p.mutable_grad().reset();
}

double Adam::clip_gradients(double limit) {
  if (limit <= 0) return 0;
  double squares = 0;
  for (const at::Tensor& p : parameters_)
    if (p.grad().defined()) squares += std::pow(p.grad().norm().item<double>(), 2);
  const double norm = std::sqrt(squares);
  if (norm > limit)
    for (at::Tensor& p : parameters_)
      if (p.grad().defined()) p.mutable_grad().mul_(limit / norm);
  return norm;
}

std::vector<at::Tensor> Adam::state() const {
  std::vector<at::Tensor> out;
  for (const auto* list : {&first_, &second_, &steps_})
    for (const at::Tensor& t : *list) out.push_back(t.clone());
  return out;
}

void Adam::restore(const std::vector<at::Tensor>& state) {
  const std::size_t n = parameters_.size();
  if (state.size() != 3 * n)
    throw Error(OMEN_INVALID_DATA, "optimiser state has " + std::to_string(state.size()) +
                                       " tensors, expected " + std::to_string(3 * n));
  for (std::size_t i = 0; i < n; ++i) {
    first_[i].copy_(state[i]);
    second_[i].copy_(state[n + i]);
    steps_[i].copy_(state[2 * n + i]);
  }
}

TrainingResult train(TrainingTask& task, const TrainingOptions& options,
                     const TrainingHooks& hooks) {
  require_valid(task, options);
  const ThreadBudget budget(options.threads);
  return Trainer(task, options, hooks).run();
}

}  // namespace omen::torch_kit
