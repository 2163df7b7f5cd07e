// SPDX-License-Identifier: Apache-2.0
// Inception v3 (doi:10.1109/CVPR.2016.308) and v4 (arXiv:1602.07261).
#include "zoo_networks.hpp"

namespace omen::opgraph {
namespace {

using ConvShape = ImageNetwork::ConvShape;

Image chain(ImageNetwork& net, Image x, std::initializer_list<ConvShape> shapes) {
  for (const ConvShape& shape : shapes) x = net.conv_norm_relu(x, shape);
  return x;
}
Image averaged(ImageNetwork& net, Image x, std::int64_t outputs) {
  return net.conv_norm_relu(net.pool(x, Pool::average, 3, 1, Padding::same), {outputs, 1, 1});
}
Image halved(ImageNetwork& net, Image x) {
  return net.pool(x, Pool::largest, 3, 2, Padding::valid);
}
constexpr Padding kValid = Padding::valid;

Image v3_a(ImageNetwork& net, Image x, std::int64_t pooled) {
  return net.concat({chain(net, x, {{64, 1, 1}}), chain(net, x, {{48, 1, 1}, {64, 5, 5}}),
                     chain(net, x, {{64, 1, 1}, {96, 3, 3}, {96, 3, 3}}),
                     averaged(net, x, pooled)});
}
Image v3_b(ImageNetwork& net, Image x) {
  return net.concat({chain(net, x, {{384, 3, 3, 2, kValid}}),
                     chain(net, x, {{64, 1, 1}, {96, 3, 3}, {96, 3, 3, 2, kValid}}),
                     halved(net, x)});
}
Image v3_c(ImageNetwork& net, Image x, std::int64_t n) {
  return net.concat({chain(net, x, {{192, 1, 1}}),
                     chain(net, x, {{n, 1, 1}, {n, 1, 7}, {192, 7, 1}}),
                     chain(net, x, {{n, 1, 1}, {n, 7, 1}, {n, 1, 7}, {n, 7, 1}, {192, 1, 7}}),
                     averaged(net, x, 192)});
}
Image v3_d(ImageNetwork& net, Image x) {
  return net.concat({chain(net, x, {{192, 1, 1}, {320, 3, 3, 2, kValid}}),
                     chain(net, x, {{192, 1, 1}, {192, 1, 7}, {192, 7, 1}, {192, 3, 3, 2, kValid}}),
                     halved(net, x)});
}
Image v3_e(ImageNetwork& net, Image x, Pool kind) {
  const Image second = chain(net, x, {{384, 1, 1}});
  const Image third = chain(net, x, {{448, 1, 1}, {384, 3, 3}});
  const Image pooled = net.conv_norm_relu(net.pool(x, kind, 3, 1, Padding::same), {192, 1, 1});
  return net.concat({chain(net, x, {{320, 1, 1}}), chain(net, second, {{384, 1, 3}}),
                     chain(net, second, {{384, 3, 1}}), chain(net, third, {{384, 1, 3}}),
                     chain(net, third, {{384, 3, 1}}), pooled});
}

Image v4_a(ImageNetwork& net, Image x) {
  return net.concat({averaged(net, x, 96), chain(net, x, {{96, 1, 1}}),
                     chain(net, x, {{64, 1, 1}, {96, 3, 3}}),
                     chain(net, x, {{64, 1, 1}, {96, 3, 3}, {96, 3, 3}})});
}
Image v4_b(ImageNetwork& net, Image x) {
  return net.concat(
      {averaged(net, x, 128), chain(net, x, {{384, 1, 1}}),
       chain(net, x, {{192, 1, 1}, {224, 1, 7}, {256, 7, 1}}),
       chain(net, x, {{192, 1, 1}, {192, 1, 7}, {224, 7, 1}, {224, 1, 7}, {256, 7, 1}})});
}
Image v4_c(ImageNetwork& net, Image x) {
  const Image third = chain(net, x, {{384, 1, 1}});
  const Image fourth = chain(net, x, {{384, 1, 1}, {448, 1, 3}, {512, 3, 1}});
  return net.concat({averaged(net, x, 256), chain(net, x, {{256, 1, 1}}),
                     chain(net, third, {{256, 1, 3}}), chain(net, third, {{256, 3, 1}}),
                     chain(net, fourth, {{256, 3, 1}}), chain(net, fourth, {{256, 1, 3}})});
}

}  // namespace

Image inception3(ImageNetwork& net, Image x) {
  x = chain(net, x, {{32, 3, 3, 2, kValid}, {32, 3, 3, 1, kValid}, {64, 3, 3}});
  x = halved(net, x);
  x = chain(net, x, {{80, 1, 1, 1, kValid}, {192, 3, 3, 1, kValid}});
  x = halved(net, x);
  for (const std::int64_t pooled : {32, 64, 64}) x = v3_a(net, x, pooled);
  x = v3_b(net, x);
  for (const std::int64_t width : {128, 160, 160, 192}) x = v3_c(net, x, width);
  x = v3_d(net, x);
  x = v3_e(net, x, Pool::average);
  x = v3_e(net, x, Pool::largest);
  return net.pool(x, Pool::average, x.height, 1, kValid);
}

Image inception4(ImageNetwork& net, Image x) {
  x = chain(net, x, {{32, 3, 3, 2, kValid}, {32, 3, 3, 1, kValid}, {64, 3, 3}});
  x = net.concat({halved(net, x), chain(net, x, {{96, 3, 3, 2, kValid}})});
  x = net.concat({chain(net, x, {{64, 1, 1}, {96, 3, 3, 1, kValid}}),
                  chain(net, x, {{64, 1, 1}, {64, 7, 1}, {64, 1, 7}, {96, 3, 3, 1, kValid}})});
  x = net.concat({chain(net, x, {{192, 3, 3, 2, kValid}}), halved(net, x)});
  for (int i = 0; i < 4; ++i) x = v4_a(net, x);
  x = net.concat({halved(net, x), chain(net, x, {{384, 3, 3, 2, kValid}}),
                  chain(net, x, {{192, 1, 1}, {224, 3, 3}, {256, 3, 3, 2, kValid}})});
  for (int i = 0; i < 7; ++i) x = v4_b(net, x);
  x = net.concat({halved(net, x), chain(net, x, {{192, 1, 1}, {192, 3, 3, 2, kValid}}),
                  chain(net, x, {{256, 1, 1}, {256, 1, 7}, {320, 7, 1}, {320, 3, 3, 2, kValid}})});
  for (int i = 0; i < 3; ++i) x = v4_c(net, x);
  return net.dropout(net.pool(x, Pool::average, x.height, 1, kValid));
}

}  // namespace omen::opgraph
