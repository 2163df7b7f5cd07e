// SPDX-License-Identifier: Apache-2.0
// Small networks of well-known families, at sizes that train on a CPU.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <functional>
#include <omen/error.hpp>
#include <omen/join.hpp>

#include "data/counter_random.hpp"
#include "train/model_list.hpp"
#include "train/network.hpp"

namespace omen::ensemble {
namespace {

using Layer = std::function<at::Tensor(const at::Tensor&, bool training)>;

// Adds layers one after the other and keeps what the next one reads.
class LayerStack final : public Network {
 public:
  LayerStack(const NetworkShape& shape, std::uint64_t seed)
      : random_({seed, 0x6e6574}), channels_(shape.channels), side_(shape.side) {}

  at::Tensor forward(const at::Tensor& images, bool training) override {
    at::Tensor x = images;
    for (const Layer& layer : layers_) x = layer(x, training);
    return x;
  }

  void conv(std::int64_t out, std::int64_t size, std::int64_t stride = 1, std::int64_t groups = 1,
            bool bias = true) {
    layers_.push_back(conv_layer(channels_, out, size, stride, groups, bias));
    channels_ = out;
    side_ = (side_ + stride - 1) / stride;
  }
  void relu() {
    layers_.emplace_back([](const at::Tensor& x, bool) { return at::relu(x); });
  }
  void pool(std::int64_t size = 2, std::int64_t stride = 2) {
    // A picture that is too small already stays as it is.
    if (side_ < size) return;
    layers_.emplace_back([=](const at::Tensor& x, bool) {
      return at::max_pool2d(x, {size, size}, {stride, stride});
    });
    side_ = (side_ - size) / stride + 1;
  }
  void norm() { layers_.push_back(norm_layer(channels_)); }
  // Local response normalisation over nine channels.
  void response_norm() {
    layers_.emplace_back([](const at::Tensor& x, bool) {
      const at::Tensor squares = at::constant_pad_nd(x.mul(x).unsqueeze(1), {0, 0, 0, 0, 4, 4}, 0);
      const at::Tensor mean = at::avg_pool3d(squares, {9, 1, 1}, {1, 1, 1}).squeeze(1);
      return x.div(mean.mul(0.001).add(1.0).pow(0.75));
    });
  }
  void flatten() {
    layers_.emplace_back([](const at::Tensor& x, bool) { return x.flatten(1); });
    channels_ *= side_ * side_;
    side_ = 1;
  }
  void average() {
    layers_.emplace_back([](const at::Tensor& x, bool) {
      return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    });
    side_ = 1;
  }
  void full(std::int64_t out) {
    const std::string name = next_name("fc");
    const at::Tensor weight = weights(name + ".weight", {out, channels_}, channels_);
    const at::Tensor bias = at::zeros({out});
    state_.add_parameter(name + ".bias", bias);
    layers_.emplace_back([=](const at::Tensor& x, bool) { return at::linear(x, weight, bias); });
    channels_ = out;
  }
  void dropout() {
    layers_.emplace_back(
        [](const at::Tensor& x, bool training) { return at::dropout(x, 0.5, training); });
  }
  // Two convolutions with a way around them.
  void residual(std::int64_t out, std::int64_t stride) {
    const Layer first = conv_layer(channels_, out, 3, stride, 1, false), norm1 = norm_layer(out);
    const Layer second = conv_layer(out, out, 3, 1, 1, false), norm2 = norm_layer(out);
    const bool same = stride == 1 && channels_ == out;
    const Layer around = same ? Layer() : conv_layer(channels_, out, 1, stride, 1, false);
    layers_.emplace_back([=](const at::Tensor& x, bool training) {
      const at::Tensor half = at::relu(norm1(first(x, training), training));
      const at::Tensor whole = norm2(second(half, training), training);
      return at::relu(whole.add(around ? around(x, training) : x));
    });
    channels_ = out;
    side_ = (side_ + stride - 1) / stride;
  }
  // A convolution of each channel, then one across them.
  void separable(std::int64_t out, std::int64_t stride) {
    conv(channels_, 3, stride, channels_, false);
    norm(), relu();
    conv(out, 1, 1, 1, false);
    norm(), relu();
  }

 private:
  std::string next_name(const char* kind) {
    return std::string(kind) + std::to_string(++numbered_);
  }
  // Uniform with the variance that keeps the scale through a rectifier.
  at::Tensor weights(const std::string& name, std::vector<std::int64_t> shape,
                     std::int64_t inputs) {
    at::Tensor made = at::empty(shape);
    const double bound = std::sqrt(6.0 / static_cast<double>(inputs));
    float* at = made.data_ptr<float>();
    for (std::int64_t i = 0; i < made.numel(); ++i)
      at[i] = static_cast<float>(random_.uniform(-bound, bound));
    state_.add_parameter(name, made);
    return made;
  }
  Layer conv_layer(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride,
                   std::int64_t groups, bool has_bias) {
    const std::string name = next_name("conv");
    const std::int64_t part = in / groups;
    const at::Tensor weight =
        weights(name + ".weight", {out, part, size, size}, part * size * size);
    at::Tensor bias;
    if (has_bias) {
      bias = at::zeros({out});
      state_.add_parameter(name + ".bias", bias);
    }
    const std::int64_t edge = size / 2;
    return [=](const at::Tensor& x, bool) {
      return at::conv2d(x, weight, bias, {stride, stride}, {edge, edge}, {1, 1}, groups);
    };
  }
  Layer norm_layer(std::int64_t channels) {
    const std::string name = next_name("norm");
    const at::Tensor weight = at::ones({channels}), bias = at::zeros({channels});
    const at::Tensor mean = at::zeros({channels}), variance = at::ones({channels});
    state_.add_parameter(name + ".weight", weight);
    state_.add_parameter(name + ".bias", bias);
    state_.add_buffer(name + ".running_mean", mean);
    state_.add_buffer(name + ".running_var", variance);
    return [=](const at::Tensor& x, bool training) {
      return at::batch_norm(x, weight, bias, mean, variance, training, 0.1, 1e-5, false);
    };
  }

  CounterRandom random_;
  std::int64_t channels_, side_;
  int numbered_ = 0;
  std::vector<Layer> layers_;
};

void build_tiny(LayerStack& net) {
  net.conv(16, 5, 2), net.relu(), net.pool();
  net.conv(32, 3), net.relu(), net.pool();
  net.flatten(), net.full(64), net.relu();
}
void build_lenet(LayerStack& net) {
  net.conv(32, 5), net.relu(), net.pool();
  net.conv(64, 5), net.relu(), net.pool();
  net.flatten(), net.full(1024), net.relu(), net.dropout();
}
void build_cifarnet(LayerStack& net) {
  net.conv(64, 5), net.relu(), net.pool(), net.response_norm();
  net.conv(64, 5), net.relu(), net.response_norm(), net.pool();
  net.flatten(), net.full(384), net.relu(), net.dropout(), net.full(192), net.relu();
}
void build_alexnet(LayerStack& net) {
  net.conv(32, 5, 2), net.relu(), net.pool(3, 2);
  net.conv(96, 3), net.relu(), net.pool(3, 2);
  net.conv(128, 3), net.relu(), net.conv(128, 3), net.relu(), net.conv(96, 3), net.relu();
  net.pool(3, 2), net.flatten();
  for (int i = 0; i < 2; ++i) net.full(512), net.relu(), net.dropout();
}
void build_vgg(LayerStack& net) {
  for (int i = 0; i < 2; ++i) net.conv(32, 3), net.relu();
  net.pool();
  for (int i = 0; i < 2; ++i) net.conv(64, 3), net.relu();
  net.pool(), net.conv(128, 3), net.relu(), net.pool();
  net.flatten(), net.full(256), net.relu();
}
void build_resnet(LayerStack& net, int blocks) {
  net.conv(16, 3, 1, 1, false), net.norm(), net.relu();
  for (const std::int64_t width : {16, 32, 64})
    for (int i = 0; i < blocks; ++i) net.residual(width, i == 0 && width > 16 ? 2 : 1);
  net.average();
}
// MobileNet V1 at a quarter of its width; the first step keeps the size of small images.
void build_mobilenet(LayerStack& net) {
  net.conv(8, 3, 1, 1, false), net.norm(), net.relu();
  for (const auto& [width, stride] : {std::pair<int, int>{16, 1},
                                      {32, 2},
                                      {32, 1},
                                      {64, 2},
                                      {64, 1},
                                      {128, 2},
                                      {128, 1},
                                      {256, 2},
                                      {256, 1}})
    net.separable(width, stride);
  net.average();
}

struct NetworkEntry {
  const char* name;
  void (*build)(LayerStack&);
};
constexpr NetworkEntry kNetworkTable[] = {
    {"tiny", build_tiny},
    {"lenet", build_lenet},
    {"cifarnet", build_cifarnet},
    {"alexnet", build_alexnet},
    {"vgg", build_vgg},
    {"resnet8", [](LayerStack& net) { build_resnet(net, 1); }},
    {"resnet14", [](LayerStack& net) { build_resnet(net, 2); }},
    {"mobilenet", build_mobilenet},
};

}  // namespace

std::vector<std::string> built_in_networks() {
  std::vector<std::string> names;
  for (const NetworkEntry& entry : kNetworkTable) names.emplace_back(entry.name);
  return names;
}
bool is_built_in(std::string_view source) {
  for (const NetworkEntry& entry : kNetworkTable)
    if (source == entry.name) return true;
  return false;
}

std::unique_ptr<Network> make_built_in(const std::string& name, const NetworkShape& shape,
                                       std::uint64_t seed) {
  for (const NetworkEntry& entry : kNetworkTable) {
    if (name != entry.name) continue;
    const at::NoGradGuard constant;
    auto net = std::make_unique<LayerStack>(shape, seed);
    entry.build(*net);
    net->full(shape.classes);
    return net;
  }
  throw Error(OMEN_NOT_FOUND, "network '" + name + "' is not built in",
              "Use one of " + join(built_in_networks(), ", ") + ".");
}

}  // namespace omen::ensemble
