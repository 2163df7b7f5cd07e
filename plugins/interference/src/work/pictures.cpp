// SPDX-License-Identifier: Apache-2.0
// The cases on pictures: signs, pets and strokes.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <omen/torch/training.hpp>

#include "work/layers.hpp"
#include "work/networks.hpp"

namespace omen::interference {
namespace {

using torch_kit::Adam;

// Channels and strides of the extractor, at a quarter of its published width.
struct Block {
  std::int64_t out, stride;
};
constexpr std::int64_t kStem = 8;
constexpr Block kExtractor[] = {{16, 1},  {32, 2},  {32, 1},  {64, 2},  {64, 1},
                                {128, 2}, {128, 1}, {128, 1}, {128, 1}, {128, 1},
                                {128, 1}, {256, 2}, {256, 1}};

class Classification final : public Load {
 public:
  static constexpr std::int64_t kSigns = 43, kSide = 64, kPictures = 172;

  Classification(int batch, std::uint64_t seed)
      : batch_(batch), weights_(seed), stem_(weights_.frozen({kStem, 3, 3, 3}, 27)) {
    std::int64_t channels = kStem;
    for (const Block& block : kExtractor) {
      extractor_.emplace_back(weights_, channels, block.out, block.stride);
      channels = block.out;
    }
    dense_ = weights_.trained_constant({kSigns, channels}, 0);
    bias_ = weights_.trained_constant({kSigns}, 0);
    adam_ = std::make_unique<Adam>(weights_.take(), torch_kit::AdamOptions{});
    // A sign is a coarse pattern of its own under noise.
    labels_ = at::arange(kPictures).remainder(kSigns);
    const at::Tensor coarse = weights_.uniform({kSigns, 3, 8, 8});
    const at::Tensor fine = coarse.repeat_interleave(kSide / 8, 2).repeat_interleave(kSide / 8, 3);
    pictures_ =
        fine.index_select(0, labels_).add(weights_.normal({kPictures, 3, kSide, kSide}).mul(0.05));
    // Weights that were never trained need what a trained extractor brings along.
    const at::Tensor seen = features(pictures_.slice(0, 0, kSigns));
    mean_ = seen.mean({0});
    deviation_ = seen.std({0}, false);
    deviation_ = deviation_.add(deviation_.mean());
  }

  void step() override {
    const at::Tensor rows = weights_.integers(kPictures, {batch_});
    const at::Tensor x = features(pictures_.index_select(0, rows)).sub(mean_).div(deviation_);
    const at::Tensor loss =
        at::cross_entropy_loss(at::linear(x, dense_, bias_), labels_.index_select(0, rows));
    adam_->zero_grad();
    loss.backward();
    adam_->step(1e-3);
    loss_ = loss.item<double>();
  }
  double loss() const override { return loss_; }

 private:
  at::Tensor features(const at::Tensor& pictures) const {
    const at::NoGradGuard frozen;
    at::Tensor x = at::relu(at::conv2d(pictures, stem_, {}, {2, 2}, {1, 1}));
    for (const FrozenSeparable& block : extractor_) x = block(x);
    return x.mean({2, 3});
  }

  std::int64_t batch_;
  Weights weights_;
  at::Tensor stem_, dense_, bias_, pictures_, labels_, mean_, deviation_;
  std::vector<FrozenSeparable> extractor_;
  std::unique_ptr<Adam> adam_;
  double loss_ = 0;
};

// Doubles the side, halves the channels and takes over what the encoder had at that side.
class UpBlock {
 public:
  UpBlock(Weights& weights, std::int64_t in, std::int64_t out)
      : kernel_(weights.trained({in, out, 3, 3}, in * 9)), norm_(weights, out) {}
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& beside) const {
    const at::Tensor up = at::conv_transpose2d(x, kernel_, {}, {2, 2}, {1, 1}, {1, 1});
    return at::cat({at::relu(norm_(up)), beside}, 1);
  }

 private:
  at::Tensor kernel_;
  BatchNorm norm_;
};

class Segmentation final : public Load {
 public:
  static constexpr std::int64_t kSide = 64, kPictures = 64, kClasses = 3;

  Segmentation(int batch, std::uint64_t seed) : batch_(batch), weights_(seed) {
    constexpr std::int64_t kEncoder[] = {3, 16, 24, 32, 48, 64};
    constexpr std::int64_t kDecoder[] = {48, 32, 24, 16};
    for (int i = 0; i < 5; ++i) encoder_.emplace_back(weights_, kEncoder[i], kEncoder[i + 1], 2);
    std::int64_t channels = kEncoder[5];
    for (int i = 0; i < 4; ++i) {
      decoder_.emplace_back(weights_, channels, kDecoder[i]);
      channels = kDecoder[i] + kEncoder[4 - i];
    }
    last_ = weights_.trained({channels, kClasses, 3, 3}, channels * 9);
    adam_ = std::make_unique<Adam>(weights_.take(), torch_kit::AdamOptions{});
    draw_pets();
  }

  void step() override {
    const at::Tensor rows = weights_.integers(kPictures, {batch_});
    at::Tensor picture = pictures_.index_select(0, rows), mask = masks_.index_select(0, rows);
    if (weights_.uniform({1}).item<double>() < 0.5) {
      picture = picture.flip({3});
      mask = mask.flip({2});
    }
    std::vector<at::Tensor> taps{picture};
    {
      const at::NoGradGuard frozen;
      for (const FrozenSeparable& block : encoder_) taps.push_back(block(taps.back()));
    }
    at::Tensor x = taps.back();
    for (std::size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i](x, taps[4 - i]);
    x = at::conv_transpose2d(x, last_, {}, {2, 2}, {1, 1}, {1, 1});
    const at::Tensor loss = at::cross_entropy_loss(x, mask);
    adam_->zero_grad();
    loss.backward();
    adam_->step(1e-3);
    loss_ = loss.item<double>();
  }
  double loss() const override { return loss_; }

 private:
  // A pet is a bright disc; its rim is a class of its own.
  void draw_pets() {
    const at::Tensor at_x = at::arange(kSide).view({1, 1, kSide}).div(kSide);
    const at::Tensor at_y = at::arange(kSide).view({1, kSide, 1}).div(kSide);
    const at::Tensor centre = weights_.uniform({2, kPictures, 1, 1}).mul(0.5).add(0.25);
    const at::Tensor away = at_x.sub(centre[0]).square().add(at_y.sub(centre[1]).square()).sqrt();
    const at::Tensor size = weights_.uniform({kPictures, 1, 1}).mul(0.15).add(0.1);
    const at::Tensor inside = away.lt(size), near = away.lt(size.add(0.04));
    masks_ = near.to(at::kLong).add(inside.to(at::kLong));
    const at::Tensor tone = weights_.uniform({kPictures, 3, 1, 1});
    pictures_ = tone.mul(inside.to(at::kFloat).unsqueeze(1).add(0.2))
                    .add(weights_.normal({kPictures, 3, kSide, kSide}).mul(0.05));
  }

  std::int64_t batch_;
  Weights weights_;
  std::vector<FrozenSeparable> encoder_;
  std::vector<UpBlock> decoder_;
  at::Tensor last_, pictures_, masks_;
  std::unique_ptr<Adam> adam_;
  double loss_ = 0;
};

// A quarter of the published width; sizes and layers are those of the study.
class Gan final : public Load {
 public:
  static constexpr std::int64_t kNoise = 100, kSide = 28, kPictures = 128;

  Gan(int batch, std::uint64_t seed)
      : batch_(batch),
        weights_(seed),
        dense_(weights_.trained({64 * 49, kNoise}, kNoise)),
        norms_{{weights_, 64}, {weights_, 32}, {weights_, 16}},
        up_{weights_.trained({64, 32, 5, 5}, 64 * 25), weights_.trained({32, 16, 5, 5}, 32 * 25),
            weights_.trained({16, 1, 5, 5}, 16 * 25)} {
    generator_ = std::make_unique<Adam>(weights_.take(), torch_kit::AdamOptions{});
    down_[0] = weights_.trained({16, 1, 5, 5}, 25);
    down_[1] = weights_.trained({32, 16, 5, 5}, 16 * 25);
    judge_ = weights_.trained({1, 32 * 49}, 32 * 49);
    discriminator_ = std::make_unique<Adam>(weights_.take(), torch_kit::AdamOptions{});
    draw_strokes();
  }

  void step() override {
    const at::Tensor real = pictures_.index_select(0, weights_.integers(kPictures, {batch_}));
    const at::Tensor made = generate();
    const at::Tensor judged = judged_as(real, 1).add(judged_as(made.detach(), 0));
    discriminator_->zero_grad();
    judged.backward();
    discriminator_->step(1e-4);
    const at::Tensor fooled = judged_as(made, 1);
    generator_->zero_grad();
    fooled.backward();
    generator_->step(1e-4);
    loss_ = judged.item<double>();
  }
  double loss() const override { return loss_; }

 private:
  at::Tensor generate() {
    at::Tensor x = at::linear(weights_.normal({batch_, kNoise}), dense_).view({batch_, 64, 7, 7});
    x = at::leaky_relu(norms_[0](x), 0.3);
    x = at::leaky_relu(norms_[1](at::conv_transpose2d(x, up_[0], {}, {1, 1}, {2, 2})), 0.3);
    x = at::leaky_relu(norms_[2](at::conv_transpose2d(x, up_[1], {}, {2, 2}, {2, 2}, {1, 1})), 0.3);
    return at::tanh(at::conv_transpose2d(x, up_[2], {}, {2, 2}, {2, 2}, {1, 1}));
  }
  at::Tensor judged_as(const at::Tensor& pictures, double truth) const {
    at::Tensor x = at::leaky_relu(at::conv2d(pictures, down_[0], {}, {2, 2}, {2, 2}), 0.3);
    x = at::leaky_relu(at::conv2d(at::dropout(x, 0.3, true), down_[1], {}, {2, 2}, {2, 2}), 0.3);
    const at::Tensor said = at::linear(at::dropout(x, 0.3, true).flatten(1), judge_);
    return at::binary_cross_entropy_with_logits(said, at::full_like(said, truth));
  }
  // A bright bar across each picture, from -1 to 1.
  void draw_strokes() {
    const at::Tensor angle = weights_.uniform({kPictures, 1, 1, 1}).mul(3.14159);
    const at::Tensor x = at::arange(kSide).view({1, 1, 1, kSide}).sub(kSide / 2);
    const at::Tensor y = at::arange(kSide).view({1, 1, kSide, 1}).sub(kSide / 2);
    const at::Tensor off = x.mul(angle.sin()).sub(y.mul(angle.cos()));
    pictures_ = off.square().div(-4).exp().mul(2).sub(1);
  }

  std::int64_t batch_;
  Weights weights_;
  at::Tensor dense_;
  BatchNorm norms_[3];
  at::Tensor up_[3], down_[2], judge_, pictures_;
  std::unique_ptr<Adam> generator_, discriminator_;
  double loss_ = 0;
};

}  // namespace

std::unique_ptr<Load> make_classification(int batch, std::uint64_t seed) {
  return std::make_unique<Classification>(batch, seed);
}
std::unique_ptr<Load> make_segmentation(int batch, std::uint64_t seed) {
  return std::make_unique<Segmentation>(batch, seed);
}
std::unique_ptr<Load> make_gan(int batch, std::uint64_t seed) {
  return std::make_unique<Gan>(batch, seed);
}

}  // namespace omen::interference
