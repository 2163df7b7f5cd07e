// SPDX-License-Identifier: Apache-2.0
// Training of the data-flow network on a stream of examples, in memory that does not grow with it.
#include "network/dataflow_training.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "omen/error.hpp"
#include "omen/torch/training.hpp"

namespace omen::loadbalance {

namespace {

constexpr std::int64_t kEvaluationNodes = 20000;
constexpr std::int64_t kFirstSteps = 4;  // of the first batches
constexpr std::int64_t kSlack = 2;       // steps more than examples need
constexpr double kHoldFrom = 0.75;       // share of the updates after which all steps are made
constexpr std::int64_t kWarmup = 50;     // updates
constexpr double kClip = 1;
constexpr std::int64_t kNearEnd = 3;  // steps
constexpr std::int64_t kChecks = 10;

// What one update works on.
struct Draw {
  std::vector<const DataflowItem*> items;
  std::vector<std::int64_t> after;  // numbers of steps after which the answer counts
};

std::int64_t below(std::mt19937_64& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

// Most steps at this point of the training: they grow to what the examples need, and in the last
// part to all, so that answers hold.
std::int64_t step_limit(const DataflowTraining& settings, std::int64_t needed, double progress) {
  const double enough = static_cast<double>(std::clamp(needed, kFirstSteps, settings.steps));
  if (progress < settings.curriculum) {
    const double grown = (enough - kFirstSteps) * progress / settings.curriculum;
    return std::min(settings.steps, kFirstSteps + static_cast<std::int64_t>(grown));
  }
  if (progress < kHoldFrom) return static_cast<std::int64_t>(enough);
  return settings.steps;
}

// Steps that nearly all examples need.
std::int64_t needed_steps(const std::vector<DataflowItem>& pool) {
  std::vector<std::int32_t> needed;
  for (const DataflowItem& item : pool)
    needed.push_back(item.known.empty() ? item.steps
                                        : *std::max_element(item.known.begin(), item.known.end()));
  const auto at =
      needed.begin() + static_cast<std::ptrdiff_t>(0.98 * static_cast<double>(needed.size()));
  std::nth_element(needed.begin(), at, needed.end());
  return *at + kSlack;
}

Draw draw(const std::vector<DataflowItem>& pool, const DataflowTraining& settings,
          std::int64_t limit, std::mt19937_64& random) {
  Draw drawn;
  for (std::int64_t nodes = 0; nodes < settings.batch_nodes;) {
    const auto size = static_cast<std::int64_t>(pool.size());
    drawn.items.push_back(&pool[static_cast<std::size_t>(below(random, size))]);
    nodes += std::max<std::int64_t>(drawn.items.back()->graph->active, 1);
  }
  const std::int64_t last = limit - below(random, limit / 3 + 1);
  drawn.after = {(last + 1) / 2, last};
  return drawn;
}

double learning_rate(const DataflowTraining& settings, std::int64_t update) {
  const double warm = std::min(1.0, static_cast<double>(update + 1) / kWarmup);
  const double progress = static_cast<double>(update) / static_cast<double>(settings.updates);
  return settings.learning_rate * warm * (0.51 + 0.49 * std::cos(std::numbers::pi * progress));
}

// Answers count where they can be known; after nearly all steps everywhere, guesses being better
// than nothing.
at::Tensor label_loss(const DataflowBatch& batch, const at::Tensor& logits, std::int64_t after,
                      std::int64_t most) {
  at::Tensor each = at::cross_entropy_loss(logits, batch.label, {}, at::Reduction::None);
  if (after < most - kNearEnd) each = each * (batch.known < after);
  return each.mean();
}

// A wave is taught step by step; along shorter ways it may be early, and counts where it has come
// or never comes.
at::Tensor wave_loss(const DataflowBatch& batch, const at::Tensor& logits, std::int64_t after,
                     bool may_be_early) {
  const at::Tensor come = (batch.waves >= 0) * (batch.waves <= after);
  at::Tensor counts = batch.waves != kNoWave;
  if (may_be_early) counts = counts * (batch.waves <= after);
  const at::Tensor each = at::binary_cross_entropy_with_logits(logits, come.to(at::kFloat), {}, {},
                                                               at::Reduction::None);
  return (each * counts).mean();
}

at::Tensor loss_of(const DataflowNetwork& network, const Draw& drawn,
                   const DataflowTraining& settings) {
  const DataflowBatch batch = dataflow_batch(drawn.items, network.shape().relations);
  const std::vector<DataflowNetwork::Answer> answers = network.answers(batch, drawn.after);
  at::Tensor loss;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const at::Tensor part =
        label_loss(batch, answers[i].label, drawn.after[i], settings.steps) +
        wave_loss(batch, answers[i].waves, drawn.after[i], settings.shorter_ways);
    loss = i ? loss + part : part;
  }
  return loss / static_cast<double>(answers.size());
}

}  // namespace

ExamplePool::ExamplePool(Open open, Read read, std::int64_t most_nodes, std::uint64_t seed)
    : open_(std::move(open)), read_(std::move(read)), random_(seed) {
  stream_ = std::make_unique<ExampleStream>(open_());
  std::int64_t nodes = 0;
  while (nodes < most_nodes) {
    const auto examples = stream_->next();
    if (!examples) {
      complete_ = true;
      stream_.reset();
      return;
    }
    for (const Example& example : *examples) {
      items_.push_back(read_(example));
      nodes += static_cast<std::int64_t>(example.graph->nodes.size());
    }
  }
}

void ExamplePool::renew() {
  if (complete_) return;
  auto examples = stream_->next();
  if (!examples) {
    stream_ = std::make_unique<ExampleStream>(open_());
    examples = stream_->next();
  }
  if (!examples) return;
  for (const Example& example : *examples) items_[random_() % items_.size()] = read_(example);
}

double Confusion::precision() const {
  const std::int64_t claimed = true_positive + false_positive;
  return claimed ? static_cast<double>(true_positive) / static_cast<double>(claimed) : 0;
}

double Confusion::recall() const {
  const std::int64_t there = true_positive + false_negative;
  return there ? static_cast<double>(true_positive) / static_cast<double>(there) : 0;
}

double Confusion::f1() const {
  const std::int64_t all = 2 * true_positive + false_positive + false_negative;
  return all ? 2 * static_cast<double>(true_positive) / static_cast<double>(all) : 0;
}

Confusion evaluate(const DataflowNetwork& network, const std::vector<const DataflowItem*>& items,
                   std::int64_t steps, const Run& run) {
  const at::NoGradGuard no_gradients;
  Confusion sum;
  for (std::size_t first = 0; first < items.size();) {
    std::vector<const DataflowItem*> some;
    for (std::int64_t nodes = 0; first < items.size() && nodes < kEvaluationNodes; ++first) {
      some.push_back(items[first]);
      nodes += items[first]->graph->active;
    }
    const DataflowBatch batch = dataflow_batch(some, network.shape().relations);
    const at::Tensor answer = network.answers(batch, {steps}).front().label.argmax(1);
    const auto* claimed = answer.const_data_ptr<std::int64_t>();
    const auto* truth = batch.label.const_data_ptr<std::int64_t>();
    for (std::int64_t row = 0; row < answer.size(0); ++row) {
      sum.true_positive += claimed[row] && truth[row];
      sum.false_positive += claimed[row] && !truth[row];
      sum.false_negative += !claimed[row] && truth[row];
    }
    if (run.cancelled()) throw Error(OMEN_CANCELLED, "evaluation was cancelled");
  }
  return sum;
}

double train_dataflow(DataflowNetwork& network, ExamplePool& pool,
                      const std::vector<DataflowItem>& held_out, const DataflowTraining& settings,
                      const Run& run) {
  std::mt19937_64 random(run.seed());
  torch_kit::Adam adam(network.state().parameters(), {});
  std::vector<const DataflowItem*> checks;
  for (const DataflowItem& item : held_out) checks.push_back(&item);
  std::vector<at::Tensor> best;
  double best_f1 = -1, loss_value = 0;
  const std::int64_t needed = needed_steps(pool.items());
  const std::int64_t interval = std::max<std::int64_t>(settings.updates / kChecks, 1);
  for (std::int64_t update = 0; update < settings.updates; ++update) {
    const double progress = static_cast<double>(update) / static_cast<double>(settings.updates);
    run.step(progress, "training");
    const std::int64_t limit = step_limit(settings, needed, progress);
    const Draw drawn = draw(pool.items(), settings, limit, random);
    const at::Tensor loss = loss_of(network, drawn, settings);
    loss_value = loss.item<double>();
    if (!std::isfinite(loss_value))
      throw Error(OMEN_INVALID_DATA,
                  "the loss is not finite after " + std::to_string(update) + " updates",
                  "Lower learning_rate.");
    adam.zero_grad();
    loss.backward();
    adam.clip_gradients(kClip);
    adam.step(learning_rate(settings, update));
    pool.renew();
    if (update % kWarmup == 0) run.metric("train_loss", update, loss_value);
    if ((update + 1) % interval || checks.empty()) continue;
    const Confusion found = evaluate(network, checks, settings.steps, run);
    const double f1 = found.f1();
    run.metric("valid_f1", update + 1, f1);
    run.metric("valid_precision", update + 1, found.precision());
    run.metric("valid_recall", update + 1, found.recall());
    if (f1 < best_f1) continue;
    best_f1 = f1;
    best = network.state().snapshot();
  }
  if (best.empty()) return loss_value;
  network.state().restore(best);
  return best_f1;
}

}  // namespace omen::loadbalance
