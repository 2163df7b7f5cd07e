// SPDX-License-Identifier: Apache-2.0
// Stacks of layers, dense blocks and residual networks.
#include "zoo_networks.hpp"

namespace omen::opgraph {

Image vgg(ImageNetwork& net, Image x, const std::vector<int>& convs) {
  const std::int64_t widths[] = {64, 128, 256, 512, 512};
  for (std::size_t stage = 0; stage < convs.size(); ++stage) {
    for (int i = 0; i < convs[stage]; ++i) x = net.conv_bias_relu(x, {widths[stage], 3, 3});
    x = net.pool(x, Pool::largest, 2, 2, Padding::valid);
  }
  x = net.dropout(net.relu(net.linear(x, 4096)));
  return net.dropout(net.relu(net.linear(x, 4096)));
}

Image alexnet(ImageNetwork& net, Image x) {
  if (x.height < 100) {
    // The form for small images.
    x = net.conv_bias_relu(x, {64, 5, 5});
    x = net.pool(x, Pool::largest, 3, 2, Padding::same);
    x = net.conv_bias_relu(x, {64, 5, 5});
    x = net.pool(x, Pool::largest, 3, 2, Padding::same);
    x = net.relu(net.linear(x, 384));
    return net.relu(net.linear(x, 192));
  }
  x = net.conv_bias_relu(x, {64, 11, 11, 4, Padding::valid});
  x = net.pool(x, Pool::largest, 3, 2, Padding::valid);
  x = net.conv_bias_relu(x, {192, 5, 5});
  x = net.pool(x, Pool::largest, 3, 2, Padding::valid);
  for (const std::int64_t width : {384, 256, 256}) x = net.conv_bias_relu(x, {width, 3, 3});
  x = net.pool(x, Pool::largest, 3, 2, Padding::valid);
  x = net.dropout(net.relu(net.linear(x, 4096)));
  return net.dropout(net.relu(net.linear(x, 4096)));
}

Image lenet(ImageNetwork& net, Image x) {
  x = net.pool(net.conv_bias_relu(x, {32, 5, 5}), Pool::largest, 2, 2, Padding::valid);
  x = net.pool(net.conv_bias_relu(x, {64, 5, 5}), Pool::largest, 2, 2, Padding::valid);
  return net.relu(net.linear(x, 512));
}

Image trivial(ImageNetwork& net, Image x) {
  return net.relu(net.linear(net.relu(net.linear(x, 1)), 4096));
}

Image googlenet(ImageNetwork& net, Image x) {
  struct Module {
    std::int64_t one, three_in, three, five_in, five, pooled;
    bool pool_after;
  };
  constexpr Module kModules[] = {
      {64, 96, 128, 16, 32, 32, false},    {128, 128, 192, 32, 96, 64, true},
      {192, 96, 208, 16, 48, 64, false},   {160, 112, 224, 24, 64, 64, false},
      {128, 128, 256, 24, 64, 64, false},  {112, 144, 288, 32, 64, 64, false},
      {256, 160, 320, 32, 128, 128, true}, {256, 160, 320, 32, 128, 128, false},
      {384, 192, 384, 48, 128, 128, false}};
  x = net.conv_bias_relu(x, {64, 7, 7, 2});
  x = net.pool(x, Pool::largest, 3, 2, Padding::same);
  x = net.conv_bias_relu(net.conv_bias_relu(x, {64, 1, 1}), {192, 3, 3});
  x = net.pool(x, Pool::largest, 3, 2, Padding::same);
  for (const Module& m : kModules) {
    const Image one = net.conv_bias_relu(x, {m.one, 1, 1});
    const Image three =
        net.conv_bias_relu(net.conv_bias_relu(x, {m.three_in, 1, 1}), {m.three, 3, 3});
    const Image five = net.conv_bias_relu(net.conv_bias_relu(x, {m.five_in, 1, 1}), {m.five, 5, 5});
    const Image pooled =
        net.conv_bias_relu(net.pool(x, Pool::largest, 3, 1, Padding::same), {m.pooled, 1, 1});
    x = net.concat({one, three, five, pooled});
    if (m.pool_after) x = net.pool(x, Pool::largest, 3, 2, Padding::same);
  }
  return net.pool(x, Pool::average, x.height, 1, Padding::valid);
}

Image densenet(ImageNetwork& net, Image x, int layers_each, int growth) {
  constexpr int kBlocks = 3;
  x = net.conv(x, {16, 3, 3});
  for (int block = 0; block < kBlocks; ++block) {
    for (int i = 0; i < layers_each; ++i) {
      const Image fresh = net.conv(net.relu(net.batch_norm(x)), {growth, 3, 3});
      x = net.concat({x, fresh});
    }
    if (block + 1 == kBlocks) break;
    x = net.conv(net.relu(net.batch_norm(x)), {x.channels, 1, 1});
    x = net.pool(x, Pool::average, 2, 2, Padding::valid);
  }
  return net.global_pool(net.relu(net.batch_norm(x)));
}

namespace {

// Where the size changes, the way around is an average with zeros for the new channels.
Image way_around(ImageNetwork& net, Image x, std::int64_t channels, std::int64_t stride) {
  if (stride > 1) x = net.pool(x, Pool::average, stride, stride, Padding::valid);
  return channels != x.channels ? net.pad_channels(x, channels) : x;
}

Image bottleneck(ImageNetwork& net, Image x, std::int64_t width, std::int64_t stride) {
  const std::int64_t outputs = 4 * width;
  const Image around =
      x.channels != outputs || stride > 1 ? net.conv_norm(x, {outputs, 1, 1, stride}) : x;
  Image inner = net.conv_norm_relu(x, {width, 1, 1, stride});
  inner = net.conv_norm_relu(inner, {width, 3, 3});
  inner = net.conv_norm(inner, {outputs, 1, 1});
  return net.relu(net.add(inner, around));
}

}  // namespace

Image resnet_small(ImageNetwork& net, Image x, int blocks_each, bool before) {
  x = before ? net.conv(x, {16, 3, 3}) : net.conv_norm_relu(x, {16, 3, 3});
  for (const std::int64_t width : {16, 32, 64}) {
    for (int i = 0; i < blocks_each; ++i) {
      const std::int64_t stride = i == 0 && width > 16 ? 2 : 1;
      const Image around = way_around(net, x, width, stride);
      if (before) {
        Image inner = net.conv(net.relu(net.batch_norm(x)), {width, 3, 3, stride});
        x = net.add(net.conv(net.relu(net.batch_norm(inner)), {width, 3, 3}), around);
      } else {
        const Image inner = net.conv_norm_relu(x, {width, 3, 3, stride});
        x = net.relu(net.add(net.conv_norm(inner, {width, 3, 3}), around));
      }
    }
  }
  if (before) x = net.relu(net.batch_norm(x));
  return net.global_pool(x);
}

Image resnet_large(ImageNetwork& net, Image x, const std::vector<int>& blocks) {
  x = net.pool(net.conv_norm_relu(x, {64, 7, 7, 2}), Pool::largest, 3, 2, Padding::same);
  std::int64_t width = 64;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, width *= 2)
    for (int i = 0; i < blocks[stage]; ++i)
      x = bottleneck(net, x, width, i == 0 && stage > 0 ? 2 : 1);
  return net.global_pool(x);
}

}  // namespace omen::opgraph
