// SPDX-License-Identifier: Apache-2.0
// The cases on sequences: a pole to balance, and texts to judge.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cmath>
#include <omen/learn/random.hpp>
#include <omen/torch/training.hpp>

#include "work/layers.hpp"
#include "work/networks.hpp"

namespace omen::interference {
namespace {

using torch_kit::Adam;

// A pole on a cart, pushed left or right (doi:10.1109/TSMC.1983.6313077).
class CartPole {
 public:
  using State = std::array<float, 4>;  // position, velocity, angle, its velocity
  static constexpr int kLongest = 200;

  explicit CartPole(std::uint64_t seed) : random_(seed, 4) { reset(); }
  const State& state() const { return state_; }
  void reset() {
    for (float& value : state_) value = static_cast<float>(0.1 * random_.uniform() - 0.05);
    steps_ = 0;
  }
  // True once the pole has fallen, the cart has left its track, or the time is over.
  bool push(bool right) {
    constexpr double kGravity = 9.8, kTotal = 1.1, kPoleMass = 0.1, kHalf = 0.5, kTime = 0.02;
    const double force = right ? 10 : -10;
    const double sine = std::sin(state_[2]), cosine = std::cos(state_[2]);
    const double drive = (force + kPoleMass * kHalf * state_[3] * state_[3] * sine) / kTotal;
    const double turn = (kGravity * sine - cosine * drive) /
                        (kHalf * (4.0 / 3 - kPoleMass * cosine * cosine / kTotal));
    const double pull = drive - kPoleMass * kHalf * turn * cosine / kTotal;
    const double slope[4] = {state_[1], pull, state_[3], turn};
    for (std::size_t i = 0; i < 4; ++i) state_[i] += static_cast<float>(kTime * slope[i]);
    return std::abs(state_[0]) > 2.4F || std::abs(state_[2]) > 0.2095F || ++steps_ >= kLongest;
  }

 private:
  learn::Random random_;
  State state_{};
  int steps_ = 0;
};

class QLearning final : public Load {
 public:
  static constexpr std::int64_t kMemory = 100'000;
  static constexpr int kUpdates = 8;  // a step of the load, because one update takes no time

  QLearning(int batch, std::uint64_t seed)
      : batch_(batch),
        weights_(seed),
        random_(seed, 5),
        game_(seed),
        layers_{{weights_.trained({100, 4}, 4), weights_.trained_constant({100}, 0)},
                {weights_.trained({50, 100}, 100), weights_.trained_constant({50}, 0)},
                {weights_.trained({2, 50}, 50), weights_.trained_constant({2}, 0)}},
        adam_(weights_.take(), {}),
        memory_(at::zeros({kMemory, 11})) {}

  void step() override {
    for (int i = 0; i < kUpdates; ++i) {
      play();
      update();
    }
  }
  double loss() const override { return loss_; }

 private:
  struct Layer {
    at::Tensor weight, bias;
  };
  at::Tensor values(at::Tensor x) const {
    x = at::relu(at::linear(x, layers_[0].weight, layers_[0].bias));
    x = at::relu(at::linear(x, layers_[1].weight, layers_[1].bias));
    return at::linear(x, layers_[2].weight, layers_[2].bias);
  }
  // One push, kept with what came of it: state, next state, action, reward, whether it went on.
  void play() {
    const CartPole::State before = game_.state();
    bool right = random_.uniform() < 0.5;
    if (random_.uniform() > 0.1) {
      const at::NoGradGuard asking;
      at::Tensor state = at::empty({4});
      std::copy(before.begin(), before.end(), state.mutable_data_ptr<float>());
      const at::Tensor said = values(state);
      right = said[1].item<float>() > said[0].item<float>();
    }
    const bool over = game_.push(right);
    float* row = memory_.mutable_data_ptr<float>() + seen_ % kMemory * 11;
    std::copy(before.begin(), before.end(), row);
    std::copy(game_.state().begin(), game_.state().end(), row + 4);
    row[8] = right ? 1 : 0;
    row[9] = 1;
    row[10] = over ? 0 : 1;
    ++seen_;
    if (over) game_.reset();
  }
  void update() {
    const std::int64_t known = std::min(seen_, kMemory);
    const at::Tensor rows = memory_.index_select(0, weights_.integers(known, {batch_}));
    at::Tensor wanted;
    {
      const at::NoGradGuard asking;
      const at::Tensor next = values(rows.slice(1, 4, 8)).amax(1);
      wanted = rows.select(1, 9).add(next.mul(rows.select(1, 10)).mul(0.99));
    }
    const at::Tensor action = rows.slice(1, 8, 9).to(at::kLong);
    const at::Tensor said = values(rows.slice(1, 0, 4)).gather(1, action).squeeze(1);
    const at::Tensor loss = at::mse_loss(said, wanted);
    adam_.zero_grad();
    loss.backward();
    adam_.step(1e-3);
    loss_ = loss.item<double>();
  }

  std::int64_t batch_;
  Weights weights_;
  learn::Random random_;
  CartPole game_;
  Layer layers_[3];
  Adam adam_;
  at::Tensor memory_;
  std::int64_t seen_ = 0;
  double loss_ = 0;
};

// A layer of a transformer that normalises after each half.
class Attention {
 public:
  static constexpr std::int64_t kWidth = 128, kHeads = 2;

  explicit Attention(Weights& weights)
      : in_(weights.trained({3 * kWidth, kWidth}, 2 * kWidth)),
        out_(weights.trained({kWidth, kWidth}, 2 * kWidth)),
        wide_(weights.trained({4 * kWidth, kWidth}, 2 * kWidth)),
        narrow_(weights.trained({kWidth, 4 * kWidth}, 8 * kWidth)),
        scale_{weights.trained_constant({kWidth}, 1), weights.trained_constant({kWidth}, 1)},
        shift_{weights.trained_constant({kWidth}, 0), weights.trained_constant({kWidth}, 0)} {}

  at::Tensor operator()(const at::Tensor& x) const {
    const std::int64_t batch = x.size(0), length = x.size(1);
    const at::Tensor parts = at::linear(x, in_)
                                 .view({batch, length, 3, kHeads, kWidth / kHeads})
                                 .permute({2, 0, 3, 1, 4});
    const at::Tensor heads = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
    const at::Tensor seen =
        at::linear(heads.transpose(1, 2).reshape({batch, length, kWidth}), out_);
    const at::Tensor half = normed(x.add(at::dropout(seen, 0.1, true)), 0);
    const at::Tensor thought = at::linear(at::gelu(at::linear(half, wide_)), narrow_);
    return normed(half.add(at::dropout(thought, 0.1, true)), 1);
  }

 private:
  at::Tensor normed(const at::Tensor& x, int which) const {
    return at::layer_norm(x, {kWidth}, scale_[which], shift_[which]);
  }
  at::Tensor in_, out_, wide_, narrow_, scale_[2], shift_[2];
};

class FineTuning final : public Load {
 public:
  static constexpr std::int64_t kWords = 2000, kLength = 64, kTexts = 256;
  static constexpr double kRate = 3e-5, kSteps = 1000, kWarmup = 100;

  FineTuning(int batch, std::uint64_t seed)
      : batch_(batch),
        weights_(seed),
        words_(weights_.trained({kWords, Attention::kWidth}, Attention::kWidth)),
        places_(weights_.trained({kLength, Attention::kWidth}, Attention::kWidth)),
        layers_{Attention(weights_), Attention(weights_)},
        verdict_(weights_.trained({1, Attention::kWidth}, Attention::kWidth)),
        adam_(weights_.take(), decay()) {
    // A text is good where it has more words of the upper half than of the lower.
    texts_ = weights_.integers(kWords, {kTexts, kLength});
    labels_ = texts_.to(at::kFloat).mean(1).gt(kWords / 2.0).to(at::kFloat);
  }

  void step() override {
    const at::Tensor rows = weights_.integers(kTexts, {batch_});
    at::Tensor x = at::embedding(words_, texts_.index_select(0, rows)).add(places_);
    for (const Attention& layer : layers_) x = layer(x);
    const at::Tensor pooled = at::dropout(x.select(1, 0), 0.1, true);
    const at::Tensor loss = at::binary_cross_entropy_with_logits(
        at::linear(pooled, verdict_).squeeze(1), labels_.index_select(0, rows));
    adam_.zero_grad();
    loss.backward();
    adam_.step(rate());
    loss_ = loss.item<double>();
  }
  double loss() const override { return loss_; }

 private:
  static torch_kit::AdamOptions decay() {
    torch_kit::AdamOptions options;
    options.weight_decay = 0.01;
    options.decoupled_decay = true;
    return options;
  }
  // Grows over the first tenth and falls to nothing, again and again.
  double rate() {
    const double at = std::fmod(steps_++, kSteps);
    return kRate * (at < kWarmup ? (at + 1) / kWarmup : (kSteps - at) / (kSteps - kWarmup));
  }

  std::int64_t batch_;
  Weights weights_;
  at::Tensor words_, places_;
  Attention layers_[2];
  at::Tensor verdict_, texts_, labels_;
  Adam adam_;
  double steps_ = 0, loss_ = 0;
};

}  // namespace

std::unique_ptr<Load> make_cartpole(int batch, std::uint64_t seed) {
  return std::make_unique<QLearning>(batch, seed);
}
std::unique_ptr<Load> make_bert(int batch, std::uint64_t seed) {
  return std::make_unique<FineTuning>(batch, seed);
}

}  // namespace omen::interference
