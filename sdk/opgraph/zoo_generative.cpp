// SPDX-License-Identifier: Apache-2.0
// Networks that make images: a step trains both sides.
#include "zoo_networks.hpp"

namespace omen::opgraph {
namespace {

constexpr std::int64_t kNoise = 100, kSide = 28;

Image noise(ImageNetwork& net, std::int64_t numbers = kNoise) {
  return net.reshape(net.input(numbers, 1), numbers, 1, 1);
}

Image dense_generator(ImageNetwork& net, Image x) {
  for (const std::int64_t width : {256, 512, 1024})
    x = net.batch_norm(net.relu(net.linear(x, width)));
  return net.reshape(net.activation(net.linear(x, kSide * kSide)), 1, kSide, kSide);
}
Image dense_judge(ImageNetwork& net, Image x) {
  for (const std::int64_t width : {512, 256}) x = net.relu(net.linear(x, width));
  return net.activation(net.linear(x, 1));
}

Image conv_generator(ImageNetwork& net, Image x) {
  x = net.reshape(net.relu(net.linear(x, 128 * 7 * 7)), 128, 7, 7);
  for (const std::int64_t width : {128, 64})
    x = net.relu(net.batch_norm(net.bias(net.conv(net.upsample(x), {width, 3, 3}))));
  return net.activation(net.bias(net.conv(x, {1, 3, 3})));
}
Image conv_judge(ImageNetwork& net, Image x) {
  x = net.dropout(net.conv_bias_relu(x, {32, 3, 3, 2}));
  for (const std::int64_t width : {64, 128, 256}) {
    const std::int64_t stride = width == 256 ? 1 : 2;
    x = net.dropout(net.relu(net.batch_norm(net.bias(net.conv(x, {width, 3, 3, stride})))));
  }
  return net.activation(net.linear(x, 1));
}

using Part = Image (*)(ImageNetwork&, Image);

// The judge sees real images and made ones; then the generator learns through it.
void rivals(ImageNetwork& net, Image seed, Part generator, Part judge) {
  const Image made = generator(net, seed);
  if (!net.training()) return;
  const Image real = judge(net, net.input(1, kSide));
  net.share_parameters(true);
  const Image caught = judge(net, net.detached(made));
  const Image believed = judge(net, made);
  net.share_parameters(false);
  net.loss({real, caught, believed});
}

}  // namespace

void gan(ImageNetwork& net) {
  rivals(net, noise(net), dense_generator, dense_judge);
}

void conditional_gan(ImageNetwork& net) {
  rivals(net, noise(net, kNoise + net.run().classes), dense_generator, dense_judge);
}

void dcgan(ImageNetwork& net) {
  rivals(net, noise(net), conv_generator, conv_judge);
}

void cvae(ImageNetwork& net) {
  Image x = net.input(1, kSide);
  x = net.conv_bias_relu(net.conv_bias_relu(x, {32, 3, 3, 2}), {64, 3, 3, 2});
  const Image code = net.linear(x, 2 * 2);
  x = net.activation(net.reshape(code, 4, 1, 1));
  x = net.reshape(net.relu(net.linear(x, 7 * 7 * 32)), 32, 7, 7);
  for (const std::int64_t width : {64, 32})
    x = net.relu(net.bias(net.conv_transposed(x, width, 3, 2)));
  x = net.bias(net.conv_transposed(x, 1, 3, 1));
  if (net.training()) net.loss({x, code});
}

}  // namespace omen::opgraph
